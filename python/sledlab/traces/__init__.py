"""Traces and work records: reading, writing, cutting, characterising, and fleets of volumes."""
