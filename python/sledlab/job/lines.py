"""Lines of a job's own source, for messages: none of the files that run it, or of libraries it calls."""

from __future__ import annotations

import linecache
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Place

if TYPE_CHECKING:
    from types import FrameType

_RUNNERS = "files lines lockstep mpi node phases running_job store superstep"
_RUNNER_FILES = {str(Path(__file__).with_name(f"{name}.py")) for name in _RUNNERS.split()}
"""Files of `sledlab.job` that run jobs; a line in any other file may be a job's."""


def failing_line(error: BaseException) -> Place | None:
    """The deepest line of the job's own file in an error's traceback."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename not in _RUNNER_FILES
    ]
    if not frames:
        return None
    job_file = frames[0].filename
    deepest = [frame for frame in frames if frame.filename == job_file][-1]
    return Place(job_file, deepest.lineno or 0, 0, (deepest.line or "").strip())


def current_line(frame: FrameType | None) -> Place | None:
    """The line that a job has stopped at."""
    if frame is None:
        return None
    file = frame.f_code.co_filename
    return Place(file, frame.f_lineno, 0, linecache.getline(file, frame.f_lineno).strip())


def caller() -> str:
    """File and line of the job that called a method of its node."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in _RUNNER_FILES:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
