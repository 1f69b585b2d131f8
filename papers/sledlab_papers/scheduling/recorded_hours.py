"""Recorded hours of a workstation: no trace of a paper, but requests whose places are real."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TypeVar

from ..markdown import table
from ..paths import AJW_WEEK
from ..runs import LazyMapping, LoadCurves, PlannedExperiment, Runs

T = TypeVar("T")

EXPERIMENT = "hong2006-ajw"
"""The experiment on the busiest hour."""

FACTORS = (1, 2, 5, 10, 20, 30, 40, 50, 60, 80)
"""Loads, relative to the 20.9 requests per second of hplajw in Hong 2006."""

BUSIEST_HOUR = ""
OTHER_HOURS = {
    "-2": (320685.325597, 25.107),  # 2,994 requests
    "-3": (304787.880375, 27.123),  # 2,431 requests
    "-4": (222953.827725, 29.617),  # 2,256 requests
}
"""Starts of the next hours in s, and speed-ups to 20.9 requests per second, by ending of directories."""

READINGS = ("free", "free, 512-byte sectors", "parity", "parity, 512-byte sectors")
"""Readings in the experiment, by their names there."""

LEVELS_MS = (5.0, 10.0, 20.0, 50.0, 100.0)
"""Levels of mean response time in the tables."""

GAINS = (
    ("ZSPTF over C-SCAN (H-46)", "zsptf", "c-scan"),
    ("ZSPTF over SSTF (H-46)", "zsptf", "sstf"),
    ("SPTF over ZSPTF (H-54)", "sptf", "zsptf"),
    ("ASPTF over ZSPTF (H-54)", "asptf", "zsptf"),
    ("GSPTF over ZSPTF (H-54)", "gsptf", "zsptf"),
    ("ZSPTF, 20 over 80 zones (H-43)", "zsptf:grid=10x1", "zsptf"),
    ("ZSPTF, 320 over 80 zones (H-42)", "zsptf:grid=40x4", "zsptf"),
    ("pyramiding over ZSPTF (H-51)", "zsptf-pyramid", "zsptf"),
    ("ZSPTF over ZFCFS (H-36)", "zsptf", "zfcfs"),
    ("ZSPTF over ZTSPTF (H-37)", "zsptf", "ztsptf"),
)
"""Gains in throughput: title, scheduler, and the scheduler that it is compared with."""


SCV_CHANGES = (
    ("20 over 80 zones (H-44)", "zsptf:grid=10x1", "zsptf"),
    ("ZSPTF over ASPTF (H-56)", "zsptf", "asptf"),
    ("GSPTF over ZSPTF (H-58)", "gsptf", "zsptf"),
)
"""Differences in SCV: title, scheduler, and the scheduler that it is compared with."""

HOURS = {"busiest hour": (BUSIEST_HOUR,), "mean of four hours": (BUSIEST_HOUR, *OTHER_HOURS)}
"""Endings of directories by the hours that a table is about."""


def _hour_options(from_s: float, speedup: float) -> tuple[str, ...]:
    speedups = ",".join(f"{speedup * factor:g}" for factor in FACTORS)
    window = ("--set", f"trace.from_s={from_s}", "--set", f"trace.until_s={from_s + 3600}")
    return (*window, "--speedup", speedups)


TRACE = ("--trace", str(AJW_WEEK))

PLAN = (
    PlannedExperiment(
        EXPERIMENT,
        (*TRACE, *_hour_options(328241.485562, 8.634)),
        BUSIEST_HOUR,
        f"`{EXPERIMENT}`, busiest hour of `ajw`",
    ),
    *(
        PlannedExperiment(
            EXPERIMENT, (*TRACE, *_hour_options(*hour)), ending, f"`{EXPERIMENT}`, hour {ending[1:]} of `ajw`"
        )
        for ending, hour in OTHER_HOURS.items()
    ),
)
"""The experiment on each of the four hours."""


def with_default_grid(curves: LoadCurves) -> LoadCurves:
    """Load curves in which `zsptf` has its grid as a second name, as in experiments that compare grids."""

    def add(rows: Mapping[tuple[str, float], T]) -> dict[tuple[str, float], T]:
        return {
            **rows,
            **{("zsptf:grid=20x2", key): row for (name, key), row in rows.items() if name == "zsptf"},
        }

    return LoadCurves(add(curves.curves), LazyMapping(lambda: add(curves.crossings)))


def _gain(curves: LoadCurves, scheduler: str, other: str, level_ms: float) -> float | None:
    """The relative gain in throughput at a mean response; `None` if a scheduler does not reach it."""
    rows = [curves.crossings.get((name, level_ms)) for name in (scheduler, other)]
    rates = [row.arrival_rate_iops for row in rows if row and row.arrival_rate_iops]
    return rates[0] / rates[1] - 1 if len(rates) == 2 else None


def _cell(gains: list[float | None]) -> str:
    """The mean gain in percent, if the schedulers reach the level in all hours."""
    known_gains = [gain for gain in gains if gain is not None]
    return f"{100 * fmean(known_gains):+.1f}" if len(known_gains) == len(gains) else "–"


def gains_table(runs: Runs, reading: str, endings: tuple[str, ...]) -> str:
    """Gains in throughput, in percent, by level of mean response: means over hours."""
    curves = [runs.load_curves(f"{EXPERIMENT}{ending}", reading) for ending in endings]
    rows = [
        [title, *(_cell([_gain(each, scheduler, other, level) for each in curves]) for level in LEVELS_MS)]
        for title, scheduler, other in GAINS
    ]
    return table(["gain in throughput, %", *(f"{level:g} ms" for level in LEVELS_MS)], rows)


def scv_table(runs: Runs) -> str:
    """Differences in the squared coefficient of variation, in percent, by load: means over hours."""
    rows = []
    for reading in READINGS:
        for hours, endings in HOURS.items():
            curves = [runs.load_curves(f"{EXPERIMENT}{ending}", reading) for ending in endings]
            for title, scheduler, other in SCV_CHANGES:
                changes = [
                    fmean(each.change(scheduler, other, each.speedups[i], "scv") for each in curves)
                    for i in range(len(FACTORS))
                ]
                rows.append([title, reading, hours, *(f"{100 * change:+.0f}" for change in changes)])
    return table(["difference in SCV, %", "direction", "hours", *map(str, FACTORS)], rows, word_columns=3)


def tables(runs: Runs) -> str:
    """The gains of the busiest hour, and of the mean of four hours, in every reading; and the SCV."""
    gains = "\n".join(
        f"Direction {reading}, {title}:\n\n{gains_table(runs, reading, endings)}"
        for reading in READINGS
        for title, endings in HOURS.items()
    )
    return f"{gains}\nSquared coefficient of variation, by load:\n\n{scv_table(runs)}"
