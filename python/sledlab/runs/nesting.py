"""Runs within runs: a plug-in may start a simulation, but not with itself again and again.

Runs that a plug-in starts in its own thread are counted by the simulator. This module counts those that it
starts in other threads, and in processes, which inherit their depth in an environment variable.
"""

from __future__ import annotations

import os
import tomllib
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from sledlab._native import is_plugin
from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledlab._native import Experiment

VARIABLE = "SLEDLAB_DEPTH"
"""The environment variable with the depth of a process: how many processes, each started within a run of the
one before, are above it."""

DEEPEST = 4
"""A process at this depth runs no plug-ins."""

MOST_AT_ONCE = 256
"""Most runs with plug-ins in one process at once.

A thread does not know in which run it was started, so runs side by side cannot be told from nested ones. The
limit is more than anybody's threads, and small enough that endless nesting ends soon and takes 200 MB.
"""


class _Here:
    """This process: its depth, and the number of its runs with plug-ins."""

    def __init__(self) -> None:
        said = os.environ.get(VARIABLE, "")
        self.lock = Lock()
        self.depth = int(said) if said.isdecimal() else 0
        self.running = 0

    def begin(self) -> None:
        """Counts one more run.

        Raises:
            Error: The process is too deep, or has too many runs at once.
        """
        with self.lock:
            if self.depth >= DEEPEST:
                raise _too_deep(f"processes run plug-ins within each other, {DEEPEST} deep")
            if self.running >= MOST_AT_ONCE:
                raise _too_deep(f"{MOST_AT_ONCE} runs with plug-ins are under way in this process")
            self.running += 1
            os.environ[VARIABLE] = str(self.depth + 1)

    def end(self) -> None:
        """Counts one run less."""
        with self.lock:
            self.running -= 1
            if self.running:
                return
            if self.depth:
                os.environ[VARIABLE] = str(self.depth)
            else:
                os.environ.pop(VARIABLE, None)


_here = _Here()


def _forked() -> None:
    """Resets the counts after a fork: the parent's runs do not run in this process."""
    global _here  # noqa: PLW0603 - the state of this process
    _here = _Here()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def nested(experiment: Experiment) -> Iterator[None]:
    """Counts a run while it lasts, if it has plug-ins.

    Raises:
        Error: The run is nested too deep.
    """
    if not (experiment.allowed_plugins() and _has_plug_ins(tomllib.loads(experiment.said()))):
        yield
        return
    here = _here
    here.begin()
    try:
        yield
    finally:
        here.end()


def _has_plug_ins(said: Any) -> bool:
    """Whether a value, or a table of values, of an experiment names a plug-in.

    Examples:
        >>> [_has_plug_ins({"scheduler": {"kind": kind}}) for kind in ("mine:Lcfs", "fcfs")]
        [True, False]
    """
    if isinstance(said, dict):
        return any(map(_has_plug_ins, said.values()))
    return isinstance(said, str) and is_plugin(said)


def _too_deep(message: str) -> Error:
    error = Error(message, remedy="does one of them simulate with itself again? End that somewhere")
    # The runs around this one pass an error with this cause on unchanged, instead of wrapping it each time.
    error.__cause__ = RecursionError(message)
    return error
