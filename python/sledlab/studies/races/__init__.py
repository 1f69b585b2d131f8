"""Races of competitors over a range of loads, which `compare` and `side_by_side` share."""
