"""Confidence intervals: how often they contain the true mean of M/D/1 and M/M/1 queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sledlab as sl
from sledlab.study.statistics import MIN_INDEPENDENT, half_width

from .section import ValidationSection

LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
LENGTHS = (300, 1000, 3000, 10_000, 30_000, 100_000)
RUNS = 200
SEEDS = 5
"""Runs of a group whose means give an interval over seeds."""

SERVICE_US = 500.0
"""Mean service time of all requests on the memory."""

MEAN_BLOCKS = 490
"""Mean size: an access takes 10 us, and a block 1 us."""


@dataclass(frozen=True)
class Coverage:
    """Intervals of runs of one load and length, of M/D/1 and M/M/1 queues together.

    Attributes:
        load: Load of the queue.
        length: Requests of a run.
        runs: Number of runs.
        intervals: Number of runs that have an interval.
        containing: Number of these whose interval contains the true mean.
        groups: Number of groups of runs with different seeds.
        group_intervals: Number of groups whose runs are long enough for an interval over seeds.
        groups_containing: Number of these whose interval contains the true mean.
    """

    load: float
    length: int
    runs: int
    intervals: int
    containing: int
    groups: int
    group_intervals: int
    groups_containing: int


def true_mean_ms(load: float, size_variance: float) -> float:
    """Return the mean response time of a queue with Poisson arrivals (Pollaczek and Khinchine)."""
    waiting_us = load * (SERVICE_US + size_variance / SERVICE_US) / (2 * (1 - load))
    return (SERVICE_US + waiting_us) / 1000


def _run(load: float, length: int, seed: int, *, has_equal_sizes: bool) -> sl.Result:
    rng = np.random.default_rng([seed, length, int(load * 100), has_equal_sizes])
    gaps_us = rng.exponential(SERVICE_US / load, length)
    blocks = np.full(length, MEAN_BLOCKS) if has_equal_sizes else rng.geometric(1 / MEAN_BLOCKS, length)
    trace = sl.trace(
        {
            "time_us": np.cumsum(gaps_us),
            "op": np.full(length, "R"),
            "offset_bytes": np.zeros(length, np.int64),
            "length_bytes": 512 * blocks,
        }
    )
    return sl.simulate(trace, sl.device("ram", access_us=10.0, bus_mb_s=512.0))


def _coverage(load: float, length: int, runs: int) -> Coverage:
    counts = np.zeros(5, int)
    for has_equal_sizes in (True, False):
        size_variance = 0.0 if has_equal_sizes else MEAN_BLOCKS * (MEAN_BLOCKS - 1)
        true_ms = true_mean_ms(load, size_variance)
        response_times = [
            _run(load, length, seed, has_equal_sizes=has_equal_sizes).response_time for seed in range(runs)
        ]
        means_and_half_widths = [(each.mean, each.ci95_half_width) for each in response_times]
        counts[:2] += _count_containing(means_and_half_widths, true_ms)
        groups = [response_times[start : start + SEEDS] for start in range(0, runs - SEEDS + 1, SEEDS)]
        group_intervals = [
            (
                float(np.mean([each.mean for each in group])),
                half_width([each.mean for each in group])
                if all(length >= MIN_INDEPENDENT * (each.correlated_requests or 1) for each in group)
                else None,
            )
            for group in groups
        ]
        counts[2] += len(groups)
        counts[3:] += _count_containing(group_intervals, true_ms)
    return Coverage(load, length, 2 * runs, *map(int, counts))


def _count_containing(intervals: Sequence[tuple[float, float | None]], true_ms: float) -> tuple[int, int]:
    """Return the number of intervals, and how many contain the true mean."""
    existing = [(mean, half_width_ms) for mean, half_width_ms in intervals if half_width_ms is not None]
    return len(existing), sum(abs(mean - true_ms) <= half_width_ms for mean, half_width_ms in existing)


def _measure() -> tuple[Coverage, ...]:
    return tuple(_coverage(load, length, RUNS) for load in LOADS for length in LENGTHS)


def _short_measurement() -> tuple[Coverage, ...]:
    return tuple(_coverage(load, length, SEEDS) for load in (0.5, 0.9) for length in (1000, 10_000))


def _table(rows: Sequence[Coverage]) -> Iterator[str]:
    yield "| load | " + " | ".join(f"{length:,}" for length in LENGTHS) + " |"
    yield "| ---: |" + " ---: |" * len(LENGTHS)
    for load in LOADS:
        cells = [_cell(row) for row in rows if row.load == load]
        yield f"| {load:g} | " + " | ".join(cells) + " |"


def _cell(row: Coverage) -> str:
    """Return the share of intervals that contain the mean, and how many runs have one if not all do."""
    within_runs = _shares(row.containing, row.intervals, row.runs)
    over_seeds = _shares(row.groups_containing, row.group_intervals, row.groups)
    return f"{within_runs}; {over_seeds}"


def _shares(containing: int, intervals: int, runs: int) -> str:
    if not intervals:
        return "none"
    share_text = "" if intervals == runs else f" of {intervals / runs:.0%}"
    return f"{containing / intervals:.0%}{share_text}".replace("%", " %")


def _template_values(rows: Sequence[Coverage]) -> dict[str, object]:
    frequent_rows = [row for row in rows if row.intervals >= 0.5 * row.runs]
    min_containing_share = min(row.containing / row.intervals for row in frequent_rows)
    max_wrong_share = max((row.intervals - row.containing) / row.runs for row in rows)
    return {
        "table": "\n".join(_table(rows)),
        "runs": RUNS,
        "seeds": SEEDS,
        "lowest": f"{100 * min_containing_share:.0f} %",
        "wrong": f"{100 * max_wrong_share:.1f} %",
    }


SECTION = ValidationSection("intervals", tuple[Coverage, ...], _measure, _template_values, _short_measurement)
