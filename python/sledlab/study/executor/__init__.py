"""Where points are measured: in this process, in others of this machine, or on many machines."""
