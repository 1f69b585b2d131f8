"""Runs a job on ranks of MPI, a node each; `python -m sledlab.job.mpi TASK` is what `mpiexec` starts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.running import Ran, Running
from sledlab.job.superstep import combined, frozen, of_rows, ready
from sledlab.job.node import rows_in
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.job.node import Node
    from sledlab.job.running import Function, Tell
    from sledlab.job.superstep import Call, Superstep
