"""The experiments on scheduling, in two readings of paper 000."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..runs import HEAVY, LIGHT, MODERATE, ComparisonPoint, MeanPoint, Planned, Runs, read
from ..words import cells

PARITY = (
    "paper-000-figure-6",
    "paper-000-figure-7",
    "paper-000-zone-sizes",
    "paper-000-sequentiality",
    "paper-000-figure-8",
    "paper-000-figure-9",
    "paper-000-random",
    "paper-000-saturation",
    "paper-000-zone-layout",
)
"""Experiments that run a second time with columns read upwards and downwards, as DiskSim does.

Paper 000 gives every column one direction, but its simulations ran in DiskSim.
"""

ROBUSTNESS = "paper-000-robustness"
"""The experiment on other devices, where the directions of columns are among the values that vary."""

OTHERS = (
    ROBUSTNESS,
    "paper-002-figure-2",
    "paper-002-run-length",
    "paper-002-saturation",
    "paper-002-zone-sizes",
    "paper-002-requirements",
    "paper-002-spanning-tree",
)
"""Experiments that run once. Figures 3 to 7 of paper 002 show the points of figure 2 again."""

BOTH_WAYS = "-both-ways"
"""Ending of the directories of the second run."""

PLAN = (
    *map(Planned, (*PARITY, *OTHERS)),
    *(Planned(name, ("--set", "device.direction=free"), BOTH_WAYS) for name in PARITY),
)

BUSY = (MODERATE, HEAVY)
ALL = (LIGHT, MODERATE, HEAVY)

STAND_INS = ("cello", "hplajw")

RUN_SHARES = (0.3, 0.65, 0.8)
"""Shares of sequential requests of `paper-000-sequentiality`."""


@dataclass(frozen=True)
class Reading(Runs):
    """The experiments on scheduling in one of the readings."""

    @property
    def both_ways(self) -> bool:
        """Whether columns are read upwards and downwards."""
        return BOTH_WAYS in self.readings

    def parts(self, name: str, varied: Any, scheduler: str, measure: str) -> float:
        """The mean over all points, with columns by parity, of a measure that load curves lack."""
        points = read(self.directory / name / "points.csv", ComparisonPoint)
        rows = [point for value, point in points if (value, point.scheduler) == (varied, scheduler)]
        return sum(float(getattr(point, measure)) for point in rows) / len(rows)

    def lengths(self) -> list[list[str]]:
        """Points, seeds, requests and queues of each experiment, by its load curves."""
        rows = []
        for name in (*PARITY, *OTHERS):
            curves = [row for _, row in read(self.directory / name / "curves.csv", MeanPoint)]
            seeds, queue = max(row.seeds for row in curves), max(row.queue_mean for row in curves)
            least = min(row.requests / row.seeds for row in curves)
            title = f"`{name}`{', both readings' if name in PARITY else ''}"
            rows.append(cells("{} | {} | {} | {:,.0f} | {:,.0f}", title, len(curves), seeds, least, queue))
        return rows
