"""Who wins where: curves by scheduler, the load they are ranked at, and the order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEVEL = 0.02
"""Means closer than this share of each other count as the same."""

HIGHLIGHTED = 6
"""Most schedulers that a figure tells apart by colour."""

Row = dict[str, Any]


def label(word: str) -> str:
    """A scheduler as people write it: in capitals, a class by its own name.

    Example:
        >>> [label(word) for word in ("c-scan", "zsptf:grid=40x4", "my.policies:Elevator")]
        ['C-SCAN', 'ZSPTF grid=40x4', 'Elevator']
    """
    name, _, rest = word.partition(":")
    if not rest:
        return name.upper()
    return f"{name.upper()} {rest.replace(':', ' ')}" if "=" in rest else rest


@dataclass(frozen=True, eq=False)
class Curve:
    """One scheduler over the loads.

    Attributes:
        scheduler: Its name.
        rows: Rows of `Comparison.curves`, by speed-up.
    """

    scheduler: str
    rows: Sequence[Row]

    @property
    def label(self) -> str:
        """The scheduler as people write it."""
        return label(self.scheduler)

    def at(self, speedup: float) -> Row:
        """The row of a load."""
        return next(row for row in self.rows if row["speedup"] == speedup)

    @property
    def kept_up(self) -> float | None:
        """The highest speed-up before the first overload; none if even the lowest is too much."""
        steady = None
        for row in self.rows:
            if row["saturated"]:
                break
            steady = row["speedup"]
        return steady


@dataclass(frozen=True, eq=False)
class Group:
    """The race for one value of what varies.

    Attributes:
        varied: The key that varies and its value; none where nothing does.
        curves: The schedulers in the order given.
    """

    varied: tuple[str, Any] | None
    curves: Sequence[Curve]

    @cached_property
    def speedups(self) -> list[float]:
        """All loads, rising."""
        return sorted({row["speedup"] for curve in self.curves for row in curve.rows})

    def rate(self, speedup: float) -> float:
        """Requests offered per second at a load."""
        return float(self.curves[0].at(speedup)["arrival_rate"])

    @cached_property
    def heavy(self) -> float:
        """The load that schedulers are ranked at: the highest at which more than half keep up."""
        return max(
            (speedup for speedup in self.speedups if 2 * len(self.steady(speedup)) > len(self.curves)),
            default=self.speedups[0],
        )

    def steady(self, speedup: float) -> list[Curve]:
        """Schedulers that keep up with a load."""
        return [curve for curve in self.curves if not curve.at(speedup)["saturated"]]

    def best(self, speedup: float, measure: str = "mean_ms") -> list[Curve]:
        """The schedulers with the lowest value at a load, best first, and those within 2 % of it.

        Overloaded ones do not count, unless all are.
        """
        running = self.steady(speedup) or list(self.curves)
        ordered = sorted(running, key=lambda curve: float(curve.at(speedup)[measure]))
        limit = ordered[0].at(speedup)[measure] * (1 + LEVEL)
        return [curve for curve in ordered if curve.at(speedup)[measure] <= limit]

    @cached_property
    def ranked(self) -> list[Curve]:
        """By mean response at the load of the ranking; then the overloaded, by how far they kept up."""

        def place(curve: Curve) -> tuple[bool, float, float]:
            row = curve.at(self.heavy)
            if row["saturated"]:
                return True, -(curve.kept_up or 0.0), -row["throughput_iops"]
            return False, 0.0, row["mean_ms"]

        return sorted(self.curves, key=place)

    @cached_property
    def yardstick(self) -> Curve:
        """What the others are measured by: FCFS, or else the one ranked last among those that keep up."""
        fcfs = next((curve for curve in self.curves if curve.scheduler == "fcfs"), None)
        steady = [curve for curve in self.ranked if not curve.at(self.heavy)["saturated"]]
        return fcfs or (steady or self.ranked)[-1]

    @cached_property
    def highlighted(self) -> list[Curve]:
        """The few that a figure tells apart: the leaders, the fairest, the yardstick; all if few."""
        if len(self.curves) <= HIGHLIGHTED:
            return list(self.curves)
        fairest = self.best(self.heavy, "scv")[0]
        others = [curve for curve in self.ranked if curve not in (fairest, self.yardstick)]
        chosen = [*others[: HIGHLIGHTED - len({fairest.scheduler, self.yardstick.scheduler})]]
        return [curve for curve in self.ranked if curve in (*chosen, fairest, self.yardstick)]


def grouped(rows: Sequence[Row], vary: str | None, schedulers: Sequence[str]) -> list[Group]:
    """The race once for every value of what varies."""
    values: list[Any] = list(dict.fromkeys(row[vary] if vary else None for row in rows))
    ordered = sorted(values) if vary else values
    return [
        Group(
            (vary, value) if vary else None,
            _curves([r for r in rows if not vary or r[vary] == value], schedulers),
        )
        for value in ordered
    ]


def _curves(rows: Sequence[Row], schedulers: Sequence[str]) -> list[Curve]:
    return [
        Curve(
            name,
            sorted((row for row in rows if row["scheduler"] == name), key=lambda row: float(row["speedup"])),
        )
        for name in schedulers
    ]


def pick(groups: Sequence[Group], value: Any) -> Group:
    """The group of a value; the first where none is asked for.

    Raises:
        Error: There is no such value.
    """
    if value is None:
        return groups[0]
    for group in groups:
        if group.varied and group.varied[1] == value:
            return group
    known = ", ".join(str(group.varied[1]) for group in groups if group.varied)
    raise Error(f"nothing was compared at `{value}`", remedy=f"known: {known or 'nothing varied'}")


def share(part: float, whole: float) -> float:
    """`part` of `whole`; 1 where there is no whole."""
    return part / whole if whole else 1.0


def wins(group: Group) -> list[Mapping[str, Any]]:
    """For every load: the lowest mean, the lowest 99th percentile, the fairest, and who is overloaded."""
    return [
        {
            "speedup": speedup,
            "rate": group.rate(speedup),
            "mean_ms": group.best(speedup),
            "p99_ms": group.best(speedup, "p99_ms"),
            "scv": group.best(speedup, "scv"),
            "overloaded": [curve for curve in group.curves if curve.at(speedup)["saturated"]],
        }
        for speedup in group.speedups
    ]
