"""Tests against the reference data that come with the project."""
