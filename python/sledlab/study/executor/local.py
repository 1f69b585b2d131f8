"""Runs in other processes of this machine, in an executor of loky."""

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
from sledlab.stop_signals import STOP_SIGNALS
from sledlab.study.executor.pool import MIN_WINDOW
from sledlab.study.executor.task import work
from sledlab.study.worker import PR_SET_PDEATHSIG, begin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future
    from queue import SimpleQueue

    from sledlab.study.executor.task import Answer, Task


class Local:
    """Processes of this machine, as a pool."""

    def __init__(self, executor: Executor, workers: int) -> None:
        """A pool over a loky executor of `workers` processes."""
        self._executor = executor
        self.concurrency = workers
        self.window = max(MIN_WINDOW, 8 * workers)

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[Future[Answer]]:
        """See `Pool.submit`."""
        try:
            with _blocked_signals():
                futures = [self._executor.submit(work, task) for task in tasks]
        except loky.process_executor.BrokenProcessPool as error:
            raise _worker_error(error) from error
        for future in futures:
            future.add_done_callback(done.put)
        return futures

    def poll(self, done: SimpleQueue[Any]) -> None:
        """Do nothing: loky notifies of every run that is done."""

    def answers(self, futures: Sequence[Future[Answer]]) -> list[Answer | InternalError]:
        """See `Pool.answers`."""
        try:
            return [future.result() for future in futures]
        except loky.process_executor.BrokenProcessPool as error:
            raise _worker_error(error) from error

    def cancel(self, futures: Sequence[Future[Answer]]) -> None:
        """Do nothing: the processes are terminated at exit, even during a run."""


def _worker_error(error: Exception) -> InternalError:
    return InternalError(f"a worker process ended unexpectedly: {error}")


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block signals while processes start: they would die of a signal before they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        # Otherwise the tracker starts with the first process, and unblocks the signals.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


@contextmanager
def processes(workers: int) -> Iterator[Local]:
    """Return a pool of `workers` processes, which are terminated at exit, even during a run."""
    paths = [path or os.getcwd() for path in sys.path]
    if os.name == "posix":
        loky.backend.process.LokyProcess.kill = _kill
    if sys.platform == "linux" and not _original_start:
        fork_exec_module = import_module("loky.backend.fork_exec")
        _original_start.append(fork_exec_module.fork_exec)
        fork_exec_module.fork_exec = _start  # type: ignore[attr-defined]
    with _blocked_signals(), _ignore_lock_warnings():
        pool = loky.ProcessPoolExecutor(workers, initializer=begin, initargs=(paths, os.getpid()))
    is_done = False
    with warnings.catch_warnings():
        # loky finds the children of its processes with `pgrep`. Without it, loky kills its processes alone.
        warnings.filterwarnings("ignore", "Failed to kill subprocesses")
        try:
            yield Local(pool, workers)
            is_done = True
        finally:
            pool.shutdown(wait=True, kill_workers=not is_done)


DIE_WITH_PARENT = f"""
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
"""Code that a process runs before it waits for loky's data: from then on it ends with this one."""

_original_start: list[Any] = []
"""The function of loky that starts processes, before it is replaced by `_start`."""


def _start(command: list[str], *arguments: Any, **options: Any) -> Any:
    """Start a process of loky's, `python -m MODULE ...`, tied to this process from its beginning."""
    program, flag, module, *module_arguments = command
    if flag == "-m":
        command = [program, "-c", DIE_WITH_PARENT, str(os.getpid()), module, *module_arguments]
    return _original_start[0](command, *arguments, **options)


def _kill(process: Any) -> None:
    """Kill a process, in place of loky's own function, which fails and hangs here."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


@contextmanager
def _ignore_lock_warnings() -> Iterator[None]:
    """Silence warnings about locks left by this process when it is killed: they are removed all the same."""
    option = "ignore:resource_tracker"
    sys.warnoptions.append(option)  # of the resource tracker, started with the first process
    try:
        yield
    finally:
        sys.warnoptions.remove(option)
