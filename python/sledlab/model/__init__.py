"""What can be chosen: the catalogue of every kind, settings, and what plug-ins must do."""
