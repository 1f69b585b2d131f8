"""What papers claim, held against runs: `python -m tests.validation.reproduction`."""
