"""Evidence: the measurements behind the pages and benchmark files, and the build that each was made with."""
