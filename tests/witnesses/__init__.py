"""Reference data that comes with sledlab, and the tests against it."""
