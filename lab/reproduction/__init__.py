"""What papers claim, held against runs: `python -m lab.reproduction` writes docs/reproduction."""
