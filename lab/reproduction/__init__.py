"""Claims of papers compared with runs: `python -m lab.reproduction` writes docs/reproduction."""
