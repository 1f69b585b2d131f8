"""Comparing sledlab with other data: validation against measurements, and the claims of papers."""
