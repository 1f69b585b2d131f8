"""What all places have in common where points are measured: a pool of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from queue import SimpleQueue

    from sledlab.errors import InternalError
    from sledlab.study.executor.task import Answer, Task

LEAST_WINDOW = 256
"""Points that are handed out at the same time, at least: a pool is told of more as it gets through these."""


class Pool(Protocol):
    """Workers."""

    @property
    def at_once(self) -> int:
        """How many points are measured at the same time, as far as is known by now."""

    @property
    def window(self) -> int:
        """How many are handed out at the same time."""

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Any]:
        """Hands tasks out and gives a future for each, which is put into `done` when that is so.

        Raises:
            Error: It takes none.
        """

    def look(self, done: SimpleQueue[Any]) -> None:
        """Puts into `done` what cannot do so by itself; called now and then."""

    def answers(self, futures: Sequence[Any]) -> list[Answer | InternalError]:
        """What workers said; a point that they died of failed because of us.

        Raises:
            Error: The workers cannot be used.
            InternalError: They ended.
        """

    def cancel(self, futures: Sequence[Any]) -> None:
        """Takes back what no worker has begun."""


def not_loaded(error: Exception, workers: str = "a worker") -> Error:
    """The error about workers that have no sledlab, or one that is too different to be told anything."""
    return Error(
        f"{workers} cannot load this build of sledlab: {error}", remedy="install the same wheel there"
    )
