"""Validation: published numbers, and reference runs where they are found."""
