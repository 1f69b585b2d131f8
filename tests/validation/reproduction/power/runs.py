"""The experiments on power, run and read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ... import reference
from ..experiments import Row, compare, read_rows

NAMES = (
    "paper-000-figure-10",
    "paper-000-idle-share",
    "paper-000-figure-12",
    "paper-000-metadata",
    "paper-000-delayed-spinup",
    "paper-003-figure-9",
    "paper-003-smarter-merging",
    "paper-003-subsector",
    "paper-003-small-requests",
    "paper-003-policies",
    "paper-003-mobile-disk",
)
"""What the claims are judged by, on generated requests."""

ON_SEAGATE: dict[str, tuple[str, ...]] = {
    "paper-000-figure-10": ("--speedups", "1", "--seeds", "1"),
    "paper-000-figure-11": (),
    "paper-003-figure-7": (),
    "paper-003-policies": ("--speedups", "1,5,10,20", "--seeds", "1"),
}
"""What is run on the Seagate trace, and with which options."""

SEAGATE = "-seagate"
"""What the directory of such a run ends in."""

DISK, ON_SNAKE = "paper-003-mobile-disk", ("--workload", "snake", "--speedups", "0.2,0.5,1,2")
"""Run a second time on another workload."""

SNAKE = "-snake"
"""What the directory of that ends in."""


def run(
    directory: Path,
    names: Iterable[str] = NAMES,
    on_seagate: Iterable[str] = tuple(ON_SEAGATE),
    extra: Sequence[str] = (),
) -> None:
    """Runs experiments that `directory` does not hold yet, each in a directory of its own."""
    for name in names:
        compare(name, directory / name, extra)
        if name == DISK:
            compare(name, directory / f"{name}{SNAKE}", [*extra, *ON_SNAKE])
    trace = ["--trace", str(reference.trace("seagate_gap"))]
    for name in on_seagate:
        compare(name, directory / f"{name}{SEAGATE}", [*trace, *extra, *ON_SEAGATE[name]])


@dataclass(frozen=True)
class Runs:
    """All experiments of a directory."""

    directory: Path

    def points(self, name: str, scheduler: str = "fcfs") -> Points:
        """The results of an experiment under one of its schedulers."""
        return _points(self.directory / name, scheduler)

    def disk_on_snake(self) -> Points:
        """The disk's on the stand-in for Snake."""
        return _points(self.directory / f"{DISK}{SNAKE}", "fcfs")

    def on_seagate(self, name: str) -> Points:
        """Those on the Seagate trace."""
        return _points(self.directory / f"{name}{SEAGATE}", "fcfs")


@dataclass(frozen=True)
class Points:
    """Every point of an experiment under one scheduler: rows by what varies and by speed-up, one a seed."""

    rows: dict[tuple[str, float], list[Row]]

    @property
    def varied(self) -> list[str]:
        """Values of what varies, in the order of the experiment."""
        return list(dict.fromkeys(value for value, _ in self.rows))

    @property
    def speedups(self) -> list[float]:
        """All speeds, rising."""
        return sorted({speedup for _, speedup in self.rows})

    def each(self, value: object, speedup: float, measure: str) -> list[float]:
        """A measure by seed."""
        return [_measure(row, measure) for row in self.rows[_word(value), speedup]]

    def at(self, value: object, speedup: float, measure: str) -> float:
        """The mean of a measure over the seeds."""
        found = self.each(value, speedup, measure)
        return sum(found) / len(found)

    def share(self, value: object, speedup: float, *parts: str) -> float:
        """Parts of the energy, as a share of all."""
        return sum(self.at(value, speedup, part) for part in parts) / self.at(value, speedup, "energy_j")

    def change(self, value: object, base: object, speedup: float, measure: str) -> float:
        """By how much a measure is above that of `base`, as a share of it: the mean over the seeds."""
        pairs = zip(self.each(value, speedup, measure), self.each(base, speedup, measure), strict=True)
        found = [mine / other - 1 for mine, other in pairs]
        return sum(found) / len(found)

    def stable(self, *values: object) -> list[float]:
        """Speeds at which the device keeps up in all of these cases."""
        return [
            speedup
            for speedup in self.speedups
            if not any(row["saturated"] for value in values for row in self.rows[_word(value), speedup])
        ]


def _word(value: object) -> str:
    """What varies as it is told apart: numbers by their value, truth as in a table."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _measure(row: Row, measure: str) -> float:
    if measure == "servicing_j":
        return float(row["seek_j"]) + float(row["access_j"])
    return float(row[measure])


@cache
def _points(directory: Path, scheduler: str) -> Points:
    found = read_rows(directory / "points.csv")
    key = list(found[0])[2]
    rows: dict[tuple[str, float], list[Row]] = {}
    for row in found:
        if row["scheduler"] == scheduler:
            rows.setdefault((_word(row[key]), row["speedup"]), []).append(row)
    return Points(rows)
