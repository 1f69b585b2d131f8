"""How results look: words, plots, the terminal and pages."""
