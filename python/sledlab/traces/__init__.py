"""Traces and work records: reading, writing, cutting, characterizing, and fleets of volumes."""
