"""Stores of disk and MEMS, which `hybrid` and `tune` share."""
