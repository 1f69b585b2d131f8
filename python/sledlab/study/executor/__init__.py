"""Executors, which measure points: in this process, in others of this machine, or on many machines."""
