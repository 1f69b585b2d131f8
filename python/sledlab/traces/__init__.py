"""Traces: reading, tables, steps over them, and what they are like."""
