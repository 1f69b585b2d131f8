"""Comparisons of sledlab with other data: `python -m lab.validation` writes docs/validation.md."""
