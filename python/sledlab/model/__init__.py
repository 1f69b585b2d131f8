"""Models of an experiment: the catalog of every kind, their settings, and the protocols of plug-ins."""
