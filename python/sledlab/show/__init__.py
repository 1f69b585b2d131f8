"""Presentation of results: summary text, plots, terminal output and pages."""
