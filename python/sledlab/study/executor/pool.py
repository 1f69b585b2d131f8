"""Pools: the common interface of all kinds of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from queue import SimpleQueue

    from sledlab.errors import InternalError
    from sledlab.study.executor.task import Answer, Task

MIN_WINDOW = 256
"""Minimum `window` of a pool: number of runs that may be submitted and not completed."""


class Pool(Protocol):
    """A pool of workers."""

    @property
    def concurrency(self) -> int:
        """Number of runs that execute at the same time, as currently known."""

    @property
    def window(self) -> int:
        """Maximum number of runs that are submitted and not completed."""

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Any]:
        """Submit tasks; return a future for each, which is put into `done` when it is done.

        Raises:
            Error: The pool accepts no tasks.
        """

    def poll(self, done: SimpleQueue[Any]) -> None:
        """Put futures that are done into `done`, where the executor does not notify; called at intervals."""

    def answers(self, futures: Sequence[Any]) -> list[Answer | InternalError]:
        """Return the answers of workers; for a run that its worker died of, an `InternalError`.

        Raises:
            Error: The workers cannot be used.
            InternalError: The workers died.
        """

    def cancel(self, futures: Sequence[Any]) -> None:
        """Cancel tasks that no worker has begun."""


def load_error(error: Exception, workers: str = "a worker") -> Error:
    """Return the error about workers that have no sledlab, or a version that cannot read the tasks."""
    return Error(
        f"{workers} cannot load this build of sledlab: {error}", remedy="install the same wheel there"
    )
