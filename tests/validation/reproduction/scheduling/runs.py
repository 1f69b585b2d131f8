"""The experiments on scheduling, run and read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..experiments import Row, compare, read_rows

NAMES = (
    "paper-000-figure-6",
    "paper-000-figure-7",
    "paper-000-zone-sizes",
    "paper-000-sequentiality",
    "paper-000-figure-8",
    "paper-000-figure-9",
    "paper-000-random",
    "paper-000-saturation",
    "paper-002-figure-2",
    "paper-002-run-length",
    "paper-002-saturation",
    "paper-002-zone-sizes",
    "paper-002-requirements",
    "paper-002-spanning-tree",
)
"""What the claims are judged by. Figures 3 to 7 of paper 002 show the points of figure 2 again."""

READ_BOTH_WAYS = (
    "paper-000-figure-6",
    "paper-000-figure-7",
    "paper-000-zone-sizes",
    "paper-000-sequentiality",
    "paper-000-figure-8",
    "paper-000-figure-9",
    "paper-000-random",
    "paper-000-saturation",
)
"""Run a second time with columns that are read upwards and downwards, as DiskSim does.

Paper 000 gives every column one direction, but its simulations ran in DiskSim.
"""

BOTH_WAYS = "-both-ways"
"""What the directory of such a run ends in."""

YARDSTICK = "sptf"
"""Its mean response says how heavy a load is."""

LIGHT, MODERATE, HEAVY = "light", "moderate", "heavy"
LEVELS_MS = {MODERATE: (2.0, 5.0, 10.0), HEAVY: (20.0, 50.0, 100.0)}
"""Mean responses at which throughput is compared."""


def run(directory: Path, names: Iterable[str] = NAMES, extra: Sequence[str] = ()) -> None:
    """Runs experiments that `directory` does not hold yet, each in a directory of its own."""
    for name in names:
        compare(name, directory / name, extra)
        if name in READ_BOTH_WAYS:
            free = ["--set", "device.direction=free"]
            compare(name, directory / f"{name}{BOTH_WAYS}", [*free, *extra])


@dataclass(frozen=True)
class Runs:
    """All experiments of a directory, in one of the two readings of paper 000."""

    directory: Path
    both_ways: bool = False

    def race(self, name: str, varied: Any = None) -> Race:
        """The results of an experiment, for one value of what varies in it."""
        suffix = BOTH_WAYS if self.both_ways and name in READ_BOTH_WAYS else ""
        return _race(self.directory / f"{name}{suffix}", varied)

    def parts(self, name: str, varied: Any, scheduler: str, measure: str) -> float:
        """The mean over all points of a measure that load curves do not have."""
        rows = _rows(self.directory / name / "points.csv", varied)
        values = [float(row[measure]) for row in rows if row["scheduler"] == scheduler]
        return sum(values) / len(values)


@cache
def _race(directory: Path, varied: Any) -> Race:
    found = [
        _rows(directory / name, varied) for name in ("curves.csv", "throughput.csv", "decision_cost.csv")
    ]
    curves, crossings, costs = found
    return Race(
        {(row["scheduler"], row["speedup"]): row for row in curves},
        {(row["scheduler"], row["level_ms"]): row for row in crossings},
        {(row["scheduler"], row["speedup"]): row for row in costs},
    )


def tables(directory: Path) -> list[Row]:
    """All load curves of an experiment."""
    return _rows(directory / "curves.csv", None)


def _rows(file: Path, varied: Any) -> list[Row]:
    """The rows of a table; the name of what varies has a dot in it, as no other column does."""
    found = read_rows(file)
    key = next((name for name in found[0] if "." in name), None)
    return [row for row in found if varied is None or (key and row[key] == varied)]


@dataclass(frozen=True)
class Race:
    """One load curve for every scheduler: the tables of a comparison by scheduler and speed-up or level."""

    curves: dict[tuple[str, float], Row]
    crossings: dict[tuple[str, float], Row] = field(default_factory=dict)
    costs: dict[tuple[str, float], Row] = field(default_factory=dict)

    @property
    def speedups(self) -> list[float]:
        """All loads, rising."""
        return sorted({speedup for _, speedup in self.curves})

    def at(self, scheduler: str, speedup: float, measure: str = "mean_ms") -> float:
        """A measure at a load."""
        return float(self.curves[scheduler, speedup][measure])

    def weight(self, speedup: float) -> str:
        """Light, moderate or heavy: a mean below 2 ms, up to 10 ms, above that under SPTF."""
        mean_ms = self.at(YARDSTICK, speedup)
        return LIGHT if mean_ms < 2 else MODERATE if mean_ms < 10 else HEAVY

    def loads(self, weights: Sequence[str], *schedulers: str) -> list[float]:
        """Loads of these weights that all of the schedulers keep up with."""
        return [
            speedup
            for speedup in self.speedups
            if self.weight(speedup) in weights
            and not any(self.curves[scheduler, speedup]["saturated"] for scheduler in schedulers)
        ]

    def changes(self, a: str, b: str, weights: Sequence[str], measure: str = "mean_ms") -> dict[float, float]:
        """By how much a measure of `a` is above that of `b`, as a share of it, at every such load."""
        return {
            speedup: self.at(a, speedup, measure) / self.at(b, speedup, measure) - 1
            for speedup in self.loads(weights, a, b)
        }

    def gains(self, a: str, b: str, weights: Sequence[str]) -> dict[float, float]:
        """By how much the throughput of `a` is above that of `b` at equal mean response, by its level in ms.

        Levels that one of them does not reach, or only in overload, are left out.
        """
        found = {}
        for level in (level for weight in weights for level in LEVELS_MS[weight]):
            rows = [self.crossings.get((scheduler, level)) for scheduler in (a, b)]
            if all(row is not None and row["reached"] == "yes" for row in rows):
                first, second = (float(row["arrival_rate"]) for row in rows if row is not None)
                found[level] = first / second - 1
        return found
