"""What holds sledlab to the world: validation, and the claims of papers."""
