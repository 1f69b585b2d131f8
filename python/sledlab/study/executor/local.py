"""Points in other processes of this machine, by an executor of loky."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from sledlab.errors import InternalError
from sledlab.lazy import loky
from sledlab.runs.interrupt import STOPS
from sledlab.study.executor.pool import LEAST_WINDOW
from sledlab.study.executor.task import work
from sledlab.study.worker import PR_SET_PDEATHSIG, begin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future
    from queue import SimpleQueue

    from sledlab.study.executor.task import Answer, Task


def processors() -> int:
    """How many runs this process may have at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Local:
    """Processes of this machine."""

    def __init__(self, executor: Executor, jobs: int) -> None:
        """An executor of so many processes."""
        self._executor = executor
        self.at_once = jobs
        self.window = max(LEAST_WINDOW, 8 * jobs)

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Future[Answer]]:
        """See `Pool.submit`."""
        try:
            with _later():
                futures = [self._executor.submit(work, task) for task in tasks]
        except loky.process_executor.BrokenProcessPool as error:
            raise _ended(error) from error
        for future in futures:
            future.add_done_callback(done.put)
        return futures

    def look(self, done: SimpleQueue[Any]) -> None:
        """Nothing: loky tells."""

    def answers(self, futures: Sequence[Future[Answer]]) -> list[Answer | InternalError]:
        """See `Pool.answers`."""
        try:
            return [future.result() for future in futures]
        except loky.process_executor.BrokenProcessPool as error:
            raise _ended(error) from error

    def cancel(self, futures: Sequence[Future[Answer]]) -> None:
        """Nothing: processes are ended whatever they are at."""


def _ended(error: Exception) -> InternalError:
    return InternalError(f"a worker process ended unexpectedly: {error}")


@contextmanager
def _later() -> Iterator[None]:
    """Holds signals back while processes start, which would die of them before they can ignore them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        # Otherwise it starts with the first process, and lets signals in again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(jobs: int) -> Iterator[Local]:
    """A pool of so many processes, ended on the way out whatever they are at."""
    paths = [path or os.getcwd() for path in sys.path]
    if os.name == "posix":
        loky.backend.process.LokyProcess.kill = _kill
    if sys.platform == "linux" and not _before:
        starting = import_module("loky.backend.fork_exec")
        _before.append(starting.fork_exec)
        starting.fork_exec = _start  # type: ignore[attr-defined]
    with _later(), _quiet():
        pool = loky.ProcessPoolExecutor(jobs, initializer=begin, initargs=(paths, os.getpid()))
    done = False
    with warnings.catch_warnings():
        # To find what they have started in turn it needs a program, `pgrep`. Without, it kills them alone.
        warnings.filterwarnings("ignore", "Failed to kill subprocesses")
        try:
            yield Local(pool, jobs)
            done = True
        finally:
            pool.shutdown(wait=True, kill_workers=not done)


TIED = f"""
import ctypes, os, runpy, signal, sys
parent, module = int(sys.argv.pop(1)), sys.argv.pop(1)
try:
    ctypes.CDLL(None).prctl({PR_SET_PDEATHSIG}, signal.SIGKILL, 0, 0, 0)
except (OSError, AttributeError):
    pass
if os.getppid() != parent:
    os._exit(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""What a process begins with before it waits for loky to tell it what it is: the dead tell nothing."""

_before: list[Any] = []
"""What loky starts processes with."""


def _start(command: list[str], *rest: Any, **more: Any) -> Any:
    """Starts a process of loky's, `python -m MODULE ...`, that ends with this one from its beginning."""
    program, flag, module, *words = command
    if flag == "-m":
        command = [program, "-c", TIED, str(os.getpid()), module, *words]
    return _before[0](command, *rest, **more)


def _kill(process: Any) -> None:
    """Kills a process: loky's way does not work, and it hangs when it comes to that."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


@contextmanager
def _quiet() -> Iterator[None]:
    """Has nothing said of locks that remain when this process is killed: they are removed all the same."""
    option = "ignore:resource_tracker"
    sys.warnoptions.append(option)  # of the process that tracks them, started with the first
    try:
        yield
    finally:
        sys.warnoptions.remove(option)
