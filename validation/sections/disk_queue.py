"""Command queueing in a drive, compared with the recorded runs of the reference simulator.

Up to sixteen requests are in the drive, which chooses among them; the others wait in the host, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import sledlab as sl
from sledlab.model.catalog import ModelChoice
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells, span

from . import disk_open
from .disk_open import DRIVES, LOADS, OpenRun, recorded_columns
from .section import ValidationSection

DEPTH = 16

SCHEDULERS = {
    "dev_fcfs": "fcfs",
    "dev_clook_lbn": "c-scan",
    "dev_sstf_lbn": "sstf:distance=blocks",
    "dev_sptf_opt": "sptf",
}
"""Schedulers of the recorded runs, and the closest schedulers of sledlab."""


@dataclass(frozen=True)
class QueueRun(OpenRun):
    """A recorded run with its queue in the drive."""

    @property
    def scheduler(self) -> str:
        """The closest scheduler of sledlab."""
        return SCHEDULERS[self.column]

    @property
    def device(self) -> ModelChoice:
        """The drive as in the run."""
        return disk_open.device(self.drive, queue_depth=DEPTH, stale_angle=True)


@dataclass(frozen=True)
class QueueComparison(QueueRun):
    """Results of a replay and of the recorded run; times in ms, deviations relative."""

    requests: int
    recorded_ms: float
    ours_ms: float
    same_response: float
    """Share of requests with the recorded response time, up to 0.1 ms."""
    moment_off: float
    """Deviation of the mean response time if SPTF uses the present angle; for other schedulers `off`."""
    same_course: float
    """Share of requests whose response time deviates as much as that of the previous one, up to 0.1 ms."""

    @property
    def deviation(self) -> float:
        """Deviation of the mean response time."""
        return self.ours_ms / self.recorded_ms - 1

    @property
    def reason(self) -> str:
        """The reason for a deviation above 1 %, as in the table."""
        return "" if abs(self.deviation) < 0.01 else "chance"


def runs() -> list[QueueRun]:
    """Return all runs with the queue in the drive."""
    if not disk_open.is_present():
        return []
    cases = ((drive, load, column) for drive in DRIVES for load in LOADS for column in SCHEDULERS)
    return [QueueRun(*case) for case in cases if f"{case[2]}_response_us" in recorded_columns(*case[:2])]


@cache
def comparison(run: QueueRun) -> QueueComparison:
    """Replay a run and compare the results."""
    recorded_ms = (
        np.array(recorded_columns(run.drive, run.load)[f"{run.column}_response_us"], dtype=float) / 1e3
    )
    trace = sl.read_trace(run.trace, start="zero")
    result = sl.simulate(trace, run.device, scheduler=run.scheduler, requests=True)
    ours_ms = result.requests.sort("id")["response_ns"].to_numpy().astype(float) / 1e6
    differences_ms = ours_ms - recorded_ms
    drive_with_present_angle = disk_open.device(run.drive, queue_depth=DEPTH)
    present_angle_result = (
        sl.simulate(trace, drive_with_present_angle, scheduler=run.scheduler)
        if "sptf" in run.column
        else result
    )
    return QueueComparison(
        drive=run.drive,
        load=run.load,
        column=run.column,
        requests=len(ours_ms),
        recorded_ms=float(recorded_ms.mean()),
        ours_ms=float(ours_ms.mean()),
        same_response=float(np.mean(np.abs(differences_ms) < 0.1)),
        moment_off=present_angle_result.response_time.mean / float(recorded_ms.mean()) - 1,
        same_course=float(np.mean(np.abs(np.diff(differences_ms, prepend=0.0)) < 0.1)),
    )


@cache
def shifted_deviations(run: QueueRun) -> tuple[float, ...]:
    """Return the deviations of the mean response time with all arrivals delayed by each of `SHIFTS_MS`."""
    means = disk_open.shifted_means(run, run.device)
    return tuple(mean / comparison(run).recorded_ms - 1 for mean in means)


@dataclass(frozen=True)
class QueueRow:
    """A run, and its deviations with delayed arrivals, where queues are long."""

    comparison: QueueComparison
    shifted_deviations: tuple[float, ...]


def measure() -> tuple[QueueRow, ...]:
    """Compare all runs with the queue in the drive."""
    return tuple(
        QueueRow(
            comparison(run), shifted_deviations(run) if run.load in ("heavy", "overload", "mixed") else ()
        )
        for run in runs()
    )


def rows(queue_rows: tuple[QueueRow, ...]) -> list[list[str]]:
    """Return a row for each run."""
    row_format = (
        "{0.load} | `{0.column}` | `{0.scheduler}` | {0.reason} | {0.recorded_ms:,.3f} | {0.ours_ms:,.3f}"
    )
    return [
        [
            DRIVES[row.comparison.drive][0],
            *cells(f"{row_format} | {{0.deviation:+%2}}", row.comparison),
            span(row.shifted_deviations) if row.shifted_deviations else "",
            *cells("{0.same_response:%1} | {0.same_course:%1} | {0.moment_off:+%2}", row.comparison),
        ]
        for row in queue_rows
    ]


def _template_values(queue_rows: tuple[QueueRow, ...]) -> dict[str, object]:
    header = "drive | load | recorded run | sledlab | reason | recorded, ms | sledlab, ms | deviation, % | "
    return {
        "count": len(queue_rows),
        "runs": table(
            f"{header}shifted | same response, % | same offset, % | present angle, %",
            rows(queue_rows),
            word_columns=5,
        ),
    }


def _short_measurement() -> list[QueueComparison]:
    """Return the comparison of the first run of each drive."""
    return [comparison(run) for run in {run.drive: run for run in reversed(runs())}.values()]


SECTION = ValidationSection("disk_queue", tuple[QueueRow, ...], measure, _template_values, _short_measurement)
