"""Pools: what all kinds of workers that measure runs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from queue import SimpleQueue

    from sledlab.errors import InternalError
    from sledlab.study.executor.task import Answer, Task

MIN_WINDOW = 256
"""Least `window` of a pool: so many runs at least may be submitted and not done."""


class Pool(Protocol):
    """A pool of workers."""

    @property
    def at_once(self) -> int:
        """Number of runs measured at the same time, as far as is known by now."""

    @property
    def window(self) -> int:
        """Most runs that are submitted and not done."""

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Any]:
        """Submits tasks; returns a future for each, which is put into `done` when it is done.

        Raises:
            Error: The pool accepts no tasks.
        """

    def look(self, done: SimpleQueue[Any]) -> None:
        """Puts futures that are done into `done`, where the executor does not notify; called now and then."""

    def answers(self, futures: Sequence[Any]) -> list[Answer | InternalError]:
        """The answers of workers; for a run that its worker died of, an `InternalError`.

        Raises:
            Error: The workers cannot be used.
            InternalError: The workers died.
        """

    def cancel(self, futures: Sequence[Any]) -> None:
        """Cancels tasks that no worker has begun."""


def not_loaded(error: Exception, workers: str = "a worker") -> Error:
    """The error about workers that have no sledlab, or a version that cannot read the tasks."""
    return Error(
        f"{workers} cannot load this build of sledlab: {error}", remedy="install the same wheel there"
    )
