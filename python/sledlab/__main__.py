"""`python -m sledlab`: the command line."""

from sledlab.cli import main

main()
