"""Runs within runs: a plug-in may simulate, but not with itself again and again.

What it starts in its own thread the simulator counts itself. Here is what it starts in others, and in
processes, which inherit, in an environment variable, how deep they are.
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
"""How many processes, each started within a run of the one before, are above this one."""

DEEPEST = 4
"""A process so deep runs no plug-ins."""

MOST_AT_ONCE = 256
"""Runs with plug-ins in one process at once.

A thread does not know in whose run it was started, so that nothing tells those side by side from those within
others: more than anybody has threads, few enough to end soon and to take 200 MB.
"""


class _Here:
    """This process: how deep it is, and its runs with plug-ins."""

    def __init__(self) -> None:
        said = os.environ.get(VARIABLE, "")
        self.lock = Lock()
        self.depth = int(said) if said.isdecimal() else 0
        self.running = 0

    def begin(self) -> None:
        """Counts one more run.

        Raises:
            Error: It is one too many.
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
    """Another process: what ran in the one it comes from does not run here."""
    global _here  # noqa: PLW0603 - it is what this process knows of itself
    _here = _Here()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def nested(experiment: Experiment) -> Iterator[None]:
    """Counts a run, as long as it lasts, if it has plug-ins.

    Raises:
        Error: It is too deep within others.
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
    """Whether what is said names a class.

    Examples:
        >>> [_has_plug_ins({"scheduler": {"kind": kind}}) for kind in ("mine:Lcfs", "fcfs")]
        [True, False]
    """
    if isinstance(said, dict):
        return any(map(_has_plug_ins, said.values()))
    return isinstance(said, str) and is_plugin(said)


def _too_deep(message: str) -> Error:
    error = Error(message, remedy="does one of them simulate with itself again? End that somewhere")
    # Runs around this one tell an error of such a cause as it is, once.
    error.__cause__ = RecursionError(message)
    return error
