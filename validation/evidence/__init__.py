"""Evidence: the measurements behind the pages, and the build that each was made with."""
