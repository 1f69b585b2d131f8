"""One run: composed, executed, and what it found out."""
