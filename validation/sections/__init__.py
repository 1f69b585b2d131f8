"""Comparisons of sledlab with other data: `python -m validation.sections` writes docs/validation.md."""
