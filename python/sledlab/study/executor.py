"""Where points are measured: in this process, or side by side in others, by an executor of loky."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.lazy import loky
from sledlab.runs.interrupt import STOPS, Interrupt
from sledlab.study.measure import measure
from sledlab.study.plan import named
from sledlab.study.worker import begin

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from sledlab.study.measure import FoundOf
    from sledlab.study.plan import Plan, Point


def processors() -> int:
    """How many runs this process may have at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def measured(
    plan: Plan, points: Sequence[Point], pool: Executor | None
) -> Generator[tuple[Point, FoundOf[Any]], None, None]:
    """Measures points, the first ones first, and gives them as they are done.

    The first that fails ends it all.

    Args:
        plan: What they belong to.
        points: Those to measure.
        pool: Where; one after the other in this very process where there is none.

    Raises:
        Error: A point failed, named in the message.
        InternalError: One failed because of us.
        KeyboardInterrupt: It was interrupted.
    """
    run = plan.measure or measure
    if pool is None:
        for point in points:
            with _failing(plan, point):
                found = run(plan.texts[point], plan.trace_of(point), plan.watch, plan.plugins)
            yield point, found
        return
    finished: SimpleQueue[Future[FoundOf[Any]]] = SimpleQueue()
    with Interrupt() as interrupt:
        with _later():
            running = {
                pool.submit(run, plan.texts[point], plan.trace_of(point), plan.watch, plan.plugins): point
                for point in points
            }
        for future in running:
            future.add_done_callback(finished.put)
        for _ in running:
            done = _next(finished, interrupt)
            with _failing(plan, running[done]):
                found = done.result()
            yield running[done], found


def _next(finished: SimpleQueue[Future[FoundOf[Any]]], interrupt: Interrupt) -> Future[FoundOf[Any]]:
    """The next that is done. Ctrl-C ends the wait here and nowhere else, where locks could stay behind."""
    while True:
        interrupt.check()
        with suppress(Empty):
            return finished.get(timeout=0.1)


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
def processes(jobs: int) -> Iterator[Executor]:
    """A pool of so many processes, ended on the way out whatever they are at."""
    paths = [path or os.getcwd() for path in sys.path]
    if os.name == "posix":
        loky.backend.process.LokyProcess.kill = _kill
    with _later(), _quiet():
        pool = loky.ProcessPoolExecutor(jobs, initializer=begin, initargs=(paths, os.getpid()))
    done = False
    with warnings.catch_warnings():
        # To find what they have started in turn it needs a program, `pgrep`. Without, it kills them alone.
        warnings.filterwarnings("ignore", "Failed to kill subprocesses")
        try:
            yield pool
            done = True
        finally:
            pool.shutdown(wait=True, kill_workers=not done)


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


@contextmanager
def _failing(plan: Plan, point: Point) -> Iterator[None]:
    """Gives errors the name of the point."""
    try:
        yield
    except Error as error:
        raise named(error, plan.names[point]) from error
    except InternalError as error:
        raise InternalError(f"{plan.names[point]}: {error}") from error
    except loky.process_executor.BrokenProcessPool as error:
        raise InternalError(f"a worker process ended unexpectedly: {error}") from error
