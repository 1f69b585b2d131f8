"""Execution of runs in a pool of workers or in this process, until all complete or Ctrl-C."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.stop_signals import Interrupt
from sledlab.study.executor.task import Answer, make_task, work

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from sledlab.study.executor.pool import Pool
    from sledlab.study.measure import MeasuredRun
    from sledlab.study.plan import Plan, RunSpec

MAX_SHORT_RUNS_S = 0.5
"""Processor time in seconds of short runs in this process, before it starts others for those that remain."""

POLL_INTERVAL_S = 0.1
"""Seconds between two checks for Ctrl-C."""


@dataclass(frozen=True)
class CompletedRun:
    """A run that was measured, or failed.

    Attributes:
        spec: The run.
        result: The result, or the error.
        host: The machine that executed it; empty if no worker replied.
        worker: The process that executed it; empty if no worker replied.
    """

    spec: RunSpec
    result: MeasuredRun[Any] | Error | InternalError
    host: str = ""
    worker: str = ""


def execute_runs(
    plan: Plan, specs: Sequence[RunSpec], pool: Pool | None, show_pending: Callable[[Sequence[RunSpec]], None]
) -> Generator[CompletedRun, None, None]:
    """Execute runs in order, and yield each when it completes or fails.

    Args:
        plan: The plan of the runs.
        specs: The runs to execute.
        pool: The workers; without a pool this process measures one run after the other.
        show_pending: Called at intervals with the runs that were submitted and are not done, in order.

    Raises:
        Error: The workers cannot be used.
        InternalError: The workers died.
        KeyboardInterrupt: Ctrl-C.
    """
    if pool is None:
        for spec in specs:
            show_pending([spec])
            yield _completed_run(spec, work(make_task(plan, spec)))
        return
    finished: SimpleQueue[Any] = SimpleQueue()
    waiting = iter(specs)
    running: dict[int, tuple[Any, RunSpec]] = {}
    try:
        with Interrupt() as interrupt:
            while True:
                if len(running) <= pool.window // 2:
                    batch = list(islice(waiting, pool.window - len(running)))
                    futures = pool.submit([make_task(plan, spec) for spec in batch], finished)
                    running |= {id(each): (each, spec) for each, spec in zip(futures, batch, strict=True)}
                if not running:
                    return
                pending = [spec for _, spec in running.values()]
                completed = _next(finished, pool, interrupt, partial(show_pending, pending))
                for future, answer in zip(completed, pool.answers(completed), strict=True):
                    _, spec = running.pop(id(future))
                    yield _completed_run(spec, answer)
    finally:
        pool.cancel([future for future, _ in running.values()])


def execute_short_runs(
    plan: Plan, specs: Sequence[RunSpec], show_pending: Callable[[Sequence[RunSpec]], None]
) -> Generator[CompletedRun, None, None]:
    """Execute runs in this process until all complete or take `MAX_SHORT_RUNS_S`; see `execute_runs`."""
    started_s = time.process_time()
    for run in execute_runs(plan, specs, None, show_pending):
        yield run
        if time.process_time() - started_s > MAX_SHORT_RUNS_S:
            return


def _next(
    finished: SimpleQueue[Any], pool: Pool, interrupt: Interrupt, on_wait: Callable[[], None]
) -> list[Any]:
    """Return all completed futures; wait for at least one, and call `on_wait` while waiting.

    Ctrl-C takes effect only during this wait: elsewhere, locks could stay acquired.
    """
    while True:
        interrupt.check()
        on_wait()
        pool.poll(finished)
        with suppress(Empty):
            completed = [finished.get(timeout=POLL_INTERVAL_S)]
            while not finished.empty():
                completed.append(finished.get())
            return completed


def _completed_run(spec: RunSpec, answer: Answer | InternalError) -> CompletedRun:
    """Return the result of a run from the reply of a worker.

    Raises:
        Error: The worker cannot execute any run.
    """
    if isinstance(answer, InternalError):
        return CompletedRun(spec, answer)
    if answer.refusal is not None:
        raise answer.refusal
    outcome = answer.error if answer.error is not None else answer.measured_run
    assert outcome is not None
    return CompletedRun(spec, outcome, answer.host, answer.worker)
