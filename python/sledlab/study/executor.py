"""Where points are measured: in this process, or side by side in others, by an executor of loky."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.lazy import loky
from sledlab.runs.interrupt import Interrupt
from sledlab.study.measure import measure
from sledlab.study.plan import named

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
    """Holds Ctrl-C back while processes start, which would die of it before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starts with the first process otherwise, and lets signals in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """A pool of so many processes, ended on the way out whatever they are at."""
    # What can be imported here can be imported there: plug-ins, and sledlab itself.
    paths = [path or os.getcwd() for path in sys.path]
    pool = loky.ProcessPoolExecutor(jobs, initializer=_begin, initargs=(paths, os.getpid()))
    done = False
    try:
        yield pool
        done = True
    finally:
        pool.shutdown(wait=True, kill_workers=not done)


def _begin(paths: list[str], parent: int) -> None:
    """Makes a process ready: whoever started it is told about Ctrl-C, and what plug-ins print goes astray."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = paths
    sys.stdout = sys.stderr
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    """Ends this process when whoever started it is gone, even killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


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
