"""What papers 000 and 002 claim about scheduling."""
