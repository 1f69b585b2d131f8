"""What sledlab is compared with, and what came out: `python -m lab.validation` writes docs/validation.md."""
