"""One run: composing its experiment, executing it, and its result."""
