"""Errors in a job: which job, node, phase and line."""

from __future__ import annotations

import linecache
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error, Place

if TYPE_CHECKING:
    from types import FrameType

    from sledlab.job.node import Node

_HERE = Path(__file__).parent
_OURS = {
    str(_HERE / name)
    for name in ("files.py", "guard.py", "lockstep.py", "mpi.py", "node.py", "running.py", "superstep.py")
}
"""What runs jobs; all other files may be a job's."""


def told(job: str, node: Node, error: Exception, at: FrameType | None = None) -> Error:
    """The error that says in which job, node, phase and line something went wrong.

    Args:
        job: Name of the job.
        node: The node.
        error: What went wrong.
        at: Where the job stands, if it is not the job that failed but what it yielded.
    """
    if isinstance(error, Error):
        what, remedy = error.message, error.remedy
    else:
        what, remedy = f"{type(error).__name__}: {error}", None
    phase = f" in phase `{node.begun}`" if node.begun else ""
    message = f"job `{job}` failed on node {node.number}{phase}: {what}"
    return Error(message, place=_place(error) or _standing(at), remedy=remedy)


def _place(error: BaseException) -> Place | None:
    """The deepest line of the job itself: not of what runs it, nor of a library that it calls."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename not in _OURS]
    if not frames:
        return None
    job = frames[0].filename
    last = [each for each in frames if each.filename == job][-1]
    return Place(job, last.lineno or 0, 0, (last.line or "").strip())


def _standing(frame: FrameType | None) -> Place | None:
    """The line that a job stands at."""
    if frame is None:
        return None
    file = frame.f_code.co_filename
    return Place(file, frame.f_lineno, 0, linecache.getline(file, frame.f_lineno).strip())


def caller() -> str:
    """File and line of the job that called a method of its node."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in _OURS:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
