"""Open arrivals on three drives, compared with the recorded runs of the reference simulator.

The queue is in the host, and the drive has one request at a time. The recorded response times also give the
service time of each request: the drive starts it when the previous one is complete, or when it arrives.
Service times are not amplified by the queue, as response times are.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sledlab as sl
from sledlab.model.catalog import ModelChoice
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells, span

from ..reference import REFERENCE, Collection
from .section import ValidationSection

OPEN = REFERENCE.open
MISSING_MESSAGE = f"no reference runs in {OPEN} (set SLEDLAB_REFERENCE)"

DRIVES = {
    "atlas10k": ("atlas-10k", 99.0),
    "hp_c2490a": ("hp-c2490a", 148.41),
    "cheetah9LP": ("cheetah-9lp", 105.0),
}
"""Presets, and the bus time of a sector in the recorded runs in us, for reads and writes."""

LOADS = ("light", "heavy", "overload", "mixed", "seq")

SCHEDULERS = {
    "fcfs": "fcfs",
    "elevator_lbn": "scan",
    "clook_lbn": "c-scan",
    "sstf_lbn": "sstf:distance=blocks",
    "sptf_angle_fixed": "sptf",
    "sptf_opt": "sptf",
    "asptf_opt": "asptf:weight=6",
}
"""Schedulers of the recorded runs, and the closest schedulers of sledlab."""

STALE = ("sptf_opt", "asptf_opt")
"""Runs that choose by the angle of the last event on the medium, without command overheads."""

STREAMS = (("atlas10k", "seq"), ("cheetah9LP", "seq"))
"""Streams on drives that fill their buffers: a revolution more or less delays all later requests."""

SHIFTS_MS = tuple(1.1 * step for step in range(1, 9))
"""Delays of all arrivals in ms, which show the effect of the platter angle alone."""

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OpenRun:
    """A recorded run."""

    drive: str
    load: str
    column: str

    @property
    def name(self) -> str:
        """Drive, load and scheduler of the run."""
        return f"{self.drive}-{self.load}-{self.column}"

    @property
    def scheduler(self) -> str:
        """The closest scheduler of sledlab."""
        return SCHEDULERS[self.column]

    @property
    def trace(self) -> Path:
        """The path of the trace."""
        return arrivals(self)

    @property
    def is_stale(self) -> bool:
        """Whether the scheduler used the angle of the last event, not the present one."""
        return self.column in STALE

    @property
    def has_same_rules(self) -> bool:
        """Whether both simulators follow the same rules."""
        sptf = self.column in (*STALE, "sptf_angle_fixed")
        return not sptf and (self.drive, self.load) not in STREAMS


@dataclass(frozen=True)
class OpenComparison(OpenRun):
    """Results of a replay and of the recorded run; times in ms, deviations relative."""

    requests: int
    recorded_ms: float
    ours_ms: float
    service_off: float
    same_service: float
    """Share of requests with the same service time up to 0.2 ms, a thirtieth of a rotation or less.
    The platters of the reference simulator drift by half of that."""
    off_but_for_turns: float
    """Deviation of the mean response under FCFS, with recorded service times where ours differ."""
    phases_off: dict[str, float]
    """Deviation of the mean service time in each phase of the load."""

    @property
    def deviation(self) -> float:
        """Deviation of the mean response time."""
        return self.ours_ms / self.recorded_ms - 1

    @property
    def reason(self) -> str:
        """The reason for a deviation above 1 %, as in the table."""
        if abs(self.deviation) < 0.01:
            return ""
        if self.is_stale:
            return "stale angle"
        if self.column == "sptf_angle_fixed":
            return "knowledge"
        return "turns" if self.column == "fcfs" else "chance"


def is_present() -> bool:
    """Return whether the reference data exists."""
    return OPEN.is_dir()


@cache
def recorded_columns(drive: str, load: str, collection: Collection = REFERENCE) -> dict[str, list[str]]:
    """Return the columns of the recorded runs of a drive under a load."""
    with gzip.open(collection.open / f"{drive}.{load}.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: list(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


def runs(collection: Collection = REFERENCE) -> list[OpenRun]:
    """Return all runs of a collection with the queue in the host."""
    cases = (OpenRun(*case) for case in product(DRIVES, LOADS, SCHEDULERS))
    existing_runs = (run for run in cases if arrivals(run, collection).is_file())
    return [
        run
        for run in existing_runs
        if f"{run.column}_response_us" in recorded_columns(run.drive, run.load, collection)
    ]


def arrivals(run: OpenRun, collection: Collection = REFERENCE) -> Path:
    """Return the path of the trace of a run."""
    return collection.open / f"{run.drive}.{run.load}.trace.gz"


@cache
def device(drive: str, queue_depth: int = 1, *, stale_angle: bool = False) -> ModelChoice:
    """Return the drive as in the runs: always spinning, with their bus times, without reads on arrival.

    Appended writes are served as the reference simulator serves them.
    """
    preset, sector_us = DRIVES[drive]
    return sl.device(
        preset,
        bus_sector_us=sector_us,
        bus_write_sector_us=sector_us,
        zero_latency_reads=False,
        appended_writes="separate",
        keeps_sector_under_head=False,
        writes_empty_segments=True,
        idle_timeout_ms=1e9,
        queue_depth=queue_depth,
        stale_angle=stale_angle,
    )


def service_times(arrivals: Times, responses: Times) -> Times:
    """Return the service time of each request."""
    completions = arrivals + responses
    order = np.argsort(completions, kind="stable")
    previous_completions = np.concatenate([[0.0], completions[order][:-1]])
    service_ms = np.empty_like(completions)
    service_ms[order] = completions[order] - np.maximum(previous_completions, arrivals[order])
    return service_ms


@cache
def comparison(run: OpenRun, collection: Collection = REFERENCE) -> OpenComparison:
    """Replay a run and compare the results."""
    arrivals_ms, recorded_responses_ms, phases = recorded_run(run, collection)
    responses_ms = _responses(run, sl.read_trace(arrivals(run, collection), start="zero"))
    service_ms, recorded_service_ms = (
        service_times(arrivals_ms, responses_ms),
        service_times(arrivals_ms, recorded_responses_ms),
    )
    differences_ms = service_ms - recorded_service_ms
    is_same = np.abs(differences_ms) < 0.2
    return OpenComparison(
        drive=run.drive,
        load=run.load,
        column=run.column,
        requests=len(responses_ms),
        recorded_ms=float(recorded_responses_ms.mean()),
        ours_ms=float(responses_ms.mean()),
        service_off=float(service_ms.mean() / recorded_service_ms.mean() - 1),
        same_service=float(is_same.mean()),
        off_but_for_turns=float(
            fcfs_responses(arrivals_ms, np.where(is_same, service_ms, recorded_service_ms)).mean()
            / recorded_responses_ms.mean()
            - 1
        ),
        phases_off=_phase_deviations(phases, service_ms, recorded_service_ms),
    )


def recorded_run(
    run: OpenRun, collection: Collection = REFERENCE
) -> tuple[Times, Times, npt.NDArray[np.str_]]:
    """Return the arrivals and the recorded responses of a run in ms, and the phase of each request."""
    columns = recorded_columns(run.drive, run.load, collection)
    arrivals_ms = np.array(columns["arrival_ms"], dtype=float)
    recorded_responses_ms = np.array(columns[f"{run.column}_response_us"], dtype=float) / 1e3
    return arrivals_ms, recorded_responses_ms, np.array(columns["phase"])


def _responses(run: OpenRun, trace: sl.Trace) -> Times:
    result = sl.simulate(trace, device(run.drive), scheduler=run.scheduler, requests=True)
    return result.requests.sort("id")["response_ns"].to_numpy().astype(float) / 1e6


def _phase_deviations(phases: npt.NDArray[np.str_], ours_ms: Times, recorded_ms: Times) -> dict[str, float]:
    return {
        str(phase): float(ours_ms[phases == phase].mean() / recorded_ms[phases == phase].mean() - 1)
        for phase in np.unique(phases)
    }


def fcfs_responses(arrivals_ms: Times, service_ms: Times) -> Times:
    """Return the response times of a queue in order of arrival."""
    completions_ms = np.empty_like(arrivals_ms)
    free_ms = 0.0
    for i, (arrival_ms, request_service_ms) in enumerate(zip(arrivals_ms, service_ms, strict=True)):
        free_ms = completions_ms[i] = max(free_ms, arrival_ms) + request_service_ms
    return completions_ms - arrivals_ms


def shifted_traces(run: OpenRun) -> Iterator[sl.Trace]:
    """Yield the trace of a run with all arrivals delayed by each of `SHIFTS_MS`."""
    with gzip.open(run.trace, "rt") as file:
        lines = [line.split(" ", 1) for line in file]
    with tempfile.TemporaryDirectory(prefix="sledlab-validation-") as folder:
        for shift_ms in SHIFTS_MS:
            shifted_file = Path(folder) / "shifted.trace"
            shifted_file.write_text(
                "".join(
                    f"{float(arrival_ms) + shift_ms:.6f} {other_fields}" for arrival_ms, other_fields in lines
                )
            )
            yield sl.read_trace(shifted_file, start="zero")


def shifted_means(run: OpenRun, device: ModelChoice) -> list[float]:
    """Return the mean response times of the shifted traces of a run."""
    return [
        sl.simulate(trace, device, scheduler=run.scheduler).response_time.mean
        for trace in shifted_traces(run)
    ]


def shifted_phase_deviations(run: OpenRun) -> dict[str, Times]:
    """Return the deviations of the mean service time in each phase, with the shifted traces."""
    arrivals_ms, recorded_responses_ms, phases = recorded_run(run)
    recorded_service_ms = service_times(arrivals_ms, recorded_responses_ms)
    deviations = [
        _phase_deviations(phases, service_times(arrivals_ms, _responses(run, trace)), recorded_service_ms)
        for trace in shifted_traces(run)
    ]
    return {phase: np.array([each[phase] for each in deviations]) for phase in deviations[0]}


@cache
def shifted_deviations(run: OpenRun) -> tuple[float, ...]:
    """Return the deviations of these mean response times from the recorded one."""
    recorded_ms = comparison(run).recorded_ms
    return tuple(mean / recorded_ms - 1 for mean in shifted_means(run, device(run.drive)))


@dataclass(frozen=True)
class OpenRow:
    """A run, and its deviations with delayed arrivals, where queues are long."""

    comparison: OpenComparison
    shifted_deviations: tuple[float, ...]


def measure() -> tuple[OpenRow, ...]:
    """Compare all runs with the queue in the host."""
    return tuple(
        OpenRow(
            comparison(run),
            shifted_deviations(run) if run.load in ("heavy", "overload") and not run.is_stale else (),
        )
        for run in runs()
    )


def rows(open_rows: tuple[OpenRow, ...]) -> list[list[str]]:
    """Return a row for each run."""
    row_format = (
        "{0.load} | `{0.column}` | `{0.scheduler}` | {0.reason} | {0.recorded_ms:,.3f} | {0.ours_ms:,.3f}"
    )
    return [
        [
            DRIVES[row.comparison.drive][0],
            *cells(f"{row_format} | {{0.deviation:+%2}}", row.comparison),
            span(row.shifted_deviations) if row.shifted_deviations else "",
            *cells("{0.service_off:+%2} | {0.same_service:%1}", row.comparison),
        ]
        for row in open_rows
    ]


def _template_values(open_rows: tuple[OpenRow, ...]) -> dict[str, object]:
    header = "drive | load | recorded run | sledlab | reason | recorded, ms | sledlab, ms | deviation, % | "
    return {
        "runs": table(
            f"{header}shifted | service deviation, % | same service, %", rows(open_rows), word_columns=5
        )
    }


def _short_measurement() -> list[OpenComparison]:
    """Return the comparison of the first run of each drive."""
    return [comparison(run) for run in {run.drive: run for run in reversed(runs())}.values()]


SECTION = ValidationSection("disk_open", tuple[OpenRow, ...], measure, _template_values, _short_measurement)
