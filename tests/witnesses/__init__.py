"""The part of the reference data that comes with sledlab, and what it is held to by it."""
