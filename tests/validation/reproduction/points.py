"""What a comparison left behind, by what varied in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .experiments import Row, read_rows


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
def read_points(directory: Path, scheduler: str = "fcfs") -> Points:
    """The points of an experiment under one of its schedulers."""
    found = read_rows(directory / "points.csv")
    key = list(found[0])[2]
    rows: dict[tuple[str, float], list[Row]] = {}
    for row in found:
        if row["scheduler"] == scheduler:
            rows.setdefault((_word(row[key]), row["speedup"]), []).append(row)
    return Points(rows)
