"""Golden outputs: what commands of sledlab print and leave, recorded and compared."""
