"""Golden outputs: texts and files that commands of sledlab print and write, recorded and compared."""
