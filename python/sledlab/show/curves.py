"""Lines of competitors over the load, to be drawn, and whether several lines look like one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLES = {
    "mean_ms": "mean response time (ms)",
    "scv": "SCV of response times",
    "p50_ms": "median response time (ms)",
    "p90_ms": "90th percentile (ms)",
    "p95_ms": "95th percentile (ms)",
    "p99_ms": "99th percentile (ms)",
    "p999_ms": "99.9th percentile (ms)",
    "max_ms": "slowest request (ms)",
    "queue_mean": "mean requests waiting",
    "total_energy_per_request_mj": "energy per request (mJ)",
    "positioning_ms": "mean positioning time (ms)",
    "throughput_iops": "requests completed per second",
    "utilization": "share of time busy",
}
"""Labels of axes, by the column of the measure."""

ROBUST_MEASURES = ("total_energy_per_request_mj", "positioning_ms", "throughput_iops", "utilization")
"""Measures that overload does not make meaningless."""

MAX_DIFFERENCE = 0.01
"""Lines whose values differ by at most this share look like one."""


@dataclass(frozen=True)
class LoadDot:
    """A point of a line: load in requests per second, value, half its 95 % interval, seeds, and overload."""

    rate: float
    value: float
    half: float | None
    seeds: int
    is_overloaded: bool


@dataclass(frozen=True, eq=False)
class Line:
    """A competitor over the loads, the lightest first."""

    label: str
    dots: Sequence[LoadDot]

    @property
    def sustained_loads(self) -> int:
        """Number of loads below the first one that overloads the competitor."""
        return next((index for index, dot in enumerate(self.dots) if dot.is_overloaded), len(self.dots))


@dataclass(frozen=True)
class Curves:
    """A measure of several competitors over the load.

    Attributes:
        measure: The column of the measure drawn.
        lines: The lines of all competitors.
        ranked: The lines of all competitors, best first.
        highlighted: The few lines that have colors of their own; others are gray.
        loads: Loads in requests per second, by speed-up, rising.
    """

    measure: str
    lines: Sequence[Line]
    ranked: Sequence[Line]
    highlighted: Sequence[Line]
    loads: Mapping[float, float]

    @property
    def is_robust(self) -> bool:
        """Whether the measure has a meaning under overload, as energy per request has."""
        return self.measure in ROBUST_MEASURES

    @property
    def name(self) -> str:
        """The label of the measure's axis."""
        return TITLES.get(self.measure, self.measure)

    @property
    def has_steady_dots(self) -> bool:
        """Whether any point has a value to draw, so that there is a plot below the overloaded points."""
        return self.is_robust or any(not dot.is_overloaded for line in self.lines for dot in line.dots)

    @property
    def is_coincident(self) -> bool:
        """Whether all lines look like one: within 1 % of each other, and overloaded at the same loads."""
        if len(self.lines) < 2:
            return False
        for dots in zip(*(line.dots for line in self.lines), strict=True):
            hidden_states = {dot.is_overloaded and not self.is_robust for dot in dots}
            values = [dot.value for dot in dots]
            if len(hidden_states) > 1 or (
                hidden_states == {False} and max(values) > (1 + MAX_DIFFERENCE) * min(values)
            ):
                return False
        return self.has_steady_dots

    @property
    def as_single_line(self) -> Curves:
        """These curves with one line, the best one, in the place of all."""
        count = len(self.lines)
        line = Line(f"{'both' if count == 2 else f'all {count}'} within 1 %", self.ranked[0].dots)
        return replace(self, lines=[line], ranked=[line], highlighted=[line])

    def is_hidden(self, dot: LoadDot) -> bool:
        """Return whether the value of a point is omitted: it depends on the length of an overloaded run."""
        return self.has_steady_dots and not self.is_robust and dot.is_overloaded

    def is_in_strip(self, line: Line) -> bool:
        """Return whether some points of a line belong into the strip of overloaded points."""
        return not self.is_robust and self.has_steady_dots and any(dot.is_overloaded for dot in line.dots)
