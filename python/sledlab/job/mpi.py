"""Runs a job on ranks of MPI, a node each; `python -m sledlab.job.mpi TASK` is what `mpiexec` starts."""

from __future__ import annotations


