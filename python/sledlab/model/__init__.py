"""Models of an experiment: the catalogue of every kind, their settings, and the protocols of plug-ins."""
