"""Executors, which measure runs: in this process, in others of this machine, or on many machines."""
