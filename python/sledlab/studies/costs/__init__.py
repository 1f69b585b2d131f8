"""Prices and costs, which `smart`, `size` and `fleet` share."""
