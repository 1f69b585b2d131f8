"""Runs in an executor of the user's: of `concurrent.futures`, mpi4py, submitit and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.study.executor.pool import MIN_WINDOW, load_error
from sledlab.study.executor.task import Answer, Task, portable_task, work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from queue import SimpleQueue


class UserPool:
    """A pool over an executor that belongs to the user, who also ends it.

    It needs only `submit`, and futures with `result`, `done` and `cancel`; those of submitit have no more.
    """

    def __init__(self, executor: Any) -> None:
        """A pool over `executor`.

        Raises:
            Error: The object is no executor.
        """
        if not callable(getattr(executor, "submit", None)):
            raise Error(
                f"`{type(executor).__name__}` is not an executor: it has no `submit`",
                remedy="use an executor such as concurrent.futures.ThreadPoolExecutor()",
            )
        self._executor: Executor = executor
        self._polled_futures: list[Any] = []

    @property
    def concurrency(self) -> int:
        """Number of workers, where the executor has that number."""
        return int(getattr(self._executor, "_max_workers", None) or 1)

    @property
    def window(self) -> int:
        """Most runs that are submitted and not done."""
        return max(MIN_WINDOW, 4 * self.concurrency)

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Any]:
        """See `Pool.submit`."""
        try:
            futures = [self._executor.submit(work, portable_task(task)) for task in tasks]
        except RuntimeError as error:
            raise Error(f"the executor accepts no runs: {error}", remedy="use an open executor") from error
        for future in futures:
            if hasattr(future, "add_done_callback"):
                future.add_done_callback(done.put)
            else:
                self._polled_futures.append(future)
        return futures

    def poll(self, done: SimpleQueue[Any]) -> None:
        """Put futures that are done into `done`, where the executor does not notify of that."""
        for future in [each for each in self._polled_futures if each.done()]:
            self._polled_futures.remove(future)
            done.put(future)

    def answers(self, futures: Sequence[Any]) -> list[Answer | InternalError]:
        """See `Pool.answers`."""
        try:
            return [future.result() for future in futures]
        except ImportError as error:
            raise load_error(error) from error

    def cancel(self, futures: Sequence[Any]) -> None:
        """Cancel runs that have not begun; the executor stays open."""
        for future in futures:
            future.cancel()
