"""Claims on MEMS in front of disks: paper 001."""
