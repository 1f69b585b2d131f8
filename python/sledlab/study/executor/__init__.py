"""Executors of runs: in this process, in other processes of this machine, or on many machines."""
