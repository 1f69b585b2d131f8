"""Displaying results: in words, in plots, on the terminal and as pages."""
