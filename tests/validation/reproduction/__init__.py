"""What papers claim about scheduling, held against runs: `python -m tests.validation.reproduction`."""
