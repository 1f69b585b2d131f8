"""Growth of cost: how times grow with the size of the work, by figures of what `make bench` has measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..results import PROJECT, from_plain
from .power_law import Point, PowerLaw, exponent_text, fit
from .section import ValidationSection
from .speed import DECISIONS, Decision, decisions

RESULTS = PROJECT / "benches" / "growth.json"
IMAGES = "images/growth"
"""Folder of the figures in the documentation."""

LAST = 3
"""Number of largest sizes to which an exponent is also fitted: small work has constant costs."""

STEEPEST = 3
"""Number of largest exponents that the text names."""


@dataclass(frozen=True)
class GrowthRow:
    """A measured point of a curve.

    Attributes:
        series: The series, as in `SERIES`.
        curve: What was measured, such as a scheduler.
        size: Size of the work.
        value: Median of the measured costs.
        unit: Unit of the cost.
        runs: Number of measurements.
    """

    series: str
    curve: str
    size: float
    value: float
    unit: str
    runs: int


@dataclass(frozen=True)
class GrowthCurve:
    """Costs by size, and the power law fitted to them."""

    name: str
    points: tuple[Point, ...]
    search: tuple[Point, ...] = ()
    """Costs by exhaustive search instead."""

    @property
    def law(self) -> PowerLaw | None:
        """The power law of the costs; `None` for fewer than two sizes."""
        return fit(self.points)

    @property
    def search_law(self) -> PowerLaw | None:
        """The power law of the costs by exhaustive search."""
        return fit(self.search)


@dataclass(frozen=True)
class GrowthSeries:
    """A series.

    Attributes:
        name: Its name.
        heading: The heading of its figure.
        size: Label of the axis of sizes.
        cost: Label of the axis of costs, with their unit.
        has_identifiers: Whether the names of its curves are names of models.
    """

    name: str
    heading: str
    size: str
    cost: str
    has_identifiers: bool = False

    @property
    def image(self) -> str:
        """The path of the figure in the documentation."""
        return f"{IMAGES}/{self.name}.svg"


SERIES: Mapping[str, GrowthSeries] = {
    each.name: each
    for each in (
        GrowthSeries("requests", "Requests of a run", "requests", "processor time (s)", has_identifiers=True),
        GrowthSeries(
            "decisions", "Queue length", "requests queued", "time per decision (us)", has_identifiers=True
        ),
        GrowthSeries("hybrids", "Size of a hybrid or cache", "size (MB)", "processor time per request (us)"),
        GrowthSeries("studies", "Runs of a study", "runs", "time (s)"),
    )
}
"""All series, in the order of the page."""


@dataclass(frozen=True)
class Growth:
    """All measured points, and the machines on which they were measured."""

    rows: tuple[GrowthRow, ...] = ()
    machine: str = ""
    load_average: Mapping[str, float] | None = None
    decisions: tuple[Decision, ...] = ()
    decisions_machine: str = ""

    def curves(self, series: str) -> list[GrowthCurve]:
        """Return the curves of a series; none if the series is not measured yet."""
        return decision_curves(self.decisions) if series == "decisions" else row_curves(self.rows, series)


def row_curves(rows: Iterable[GrowthRow], series: str) -> list[GrowthCurve]:
    """Return the curves of a series, with points by rising size."""
    points: dict[str, list[Point]] = {}
    for row in rows:
        if row.series == series:
            points.setdefault(row.curve, []).append((row.size, row.value))
    return [GrowthCurve(name, tuple(sorted(mine))) for name, mine in points.items()]


def decision_curves(measured: Iterable[Decision]) -> list[GrowthCurve]:
    """Return the cost of decisions in us by queue length, for each scheduler that accepts several lengths."""
    by_name: dict[str, list[Decision]] = {}
    for each in measured:
        by_name.setdefault(each.scheduler, []).append(each)
    curves = [
        GrowthCurve(
            name,
            tuple((each.queue, each.ns / 1e3) for each in mine if each.ns is not None),
            tuple((each.queue, each.search_ns / 1e3) for each in mine if each.search_ns is not None),
        )
        for name, mine in by_name.items()
    ]
    return [curve for curve in curves if curve.law is not None]


def load(results: Path = RESULTS, decided: Path = DECISIONS) -> Growth:
    """Return the contents of the benchmark files; what a file lacks is not measured yet."""
    growth: dict[str, Any] = _read(results)
    return Growth(
        from_plain(tuple[GrowthRow, ...], growth.get("rows", [])),
        growth.get("machine", ""),
        growth.get("load_average"),
        decisions(decided) if decided.is_file() else (),
        _read(decided).get("machine", ""),
    )


def _read(file: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return result


def _template_values(growth: Growth) -> dict[str, object]:
    average = growth.load_average
    return {
        **{name: _series_values(series, growth) for name, series in SERIES.items()},
        "machine": _processor(growth.machine),
        "decisions_machine": _processor(growth.decisions_machine),
        "load": f"{average['before']:.2f} before and {average['after']:.2f} after"
        if average
        else "not recorded",
    }


def _series_values(series: GrowthSeries, growth: Growth) -> dict[str, object] | None:
    """Return the values of the text of a series; `None` if the series is not measured yet."""
    curves = [curve for curve in growth.curves(series.name) if curve.law]
    if not curves:
        return None
    if series.has_identifiers:
        curves = [replace(curve, name=f"`{curve.name}`") for curve in curves]
    return {
        "image": f"![{series.cost.partition(' (')[0]} by {series.size}]({series.image})",
        "exponents": _exponents({curve.name: curve.law for curve in curves}),
        "steepest": _exponents(_steepest(curves)),
        "others": _range(curve.law for curve in curves if curve.name not in _steepest(curves)),
        "outlier": _outlier({curve.name: (curve.points, curve.law) for curve in curves}),
        "search_outlier": _outlier({curve.name: (curve.search, curve.search_law) for curve in curves}),
        "largest": f"{max(curve.points[-1][0] for curve in curves):,.0f}",
        "searches_above": _above_line([(curve.search, law) for curve in curves if (law := curve.search_law)]),
        "searches": _range(curve.search_law for curve in curves),
        "largest_sizes": _exponents({curve.name: fit(curve.points[-LAST:]) for curve in curves}),
        "first_of_largest": f"{min(curve.points[-LAST:][0][0] for curve in curves):,.0f}",
        "farthest": ", ".join(
            f"{curve.name} {_deviation(law, law.farthest(curve.points))}"
            for curve in curves
            if (law := curve.law)
        ),
        "last": LAST,
        "runs": _runs([row for row in growth.rows if row.series == series.name]),
    }


def _processor(machine: str) -> str:
    return machine.removesuffix(", one thread used")


def _exponents(laws: Mapping[str, PowerLaw | None]) -> str:
    return ", ".join(f"{name} {exponent_text(law)}" for name, law in laws.items() if law)


def _steepest(curves: Sequence[GrowthCurve]) -> dict[str, PowerLaw | None]:
    """Return the power laws with the largest exponents, by name."""
    laws = {curve.name: law for curve in curves if (law := curve.law)}
    names = sorted(laws, key=lambda name: -laws[name].exponent)
    return {name: laws[name] for name in names[:STEEPEST]}


def _range(laws: Iterable[PowerLaw | None]) -> str:
    ordered = sorted((law for law in laws if law), key=lambda law: law.exponent)
    return f"{exponent_text(ordered[0])} to {exponent_text(ordered[-1])}" if ordered else "none"


def _outlier(fitted: Mapping[str, tuple[Sequence[Point], PowerLaw | None]]) -> str:
    """Return the point that is farthest from its line among all curves."""
    farthest = {name: (law, law.farthest(points)) for name, (points, law) in fitted.items() if law}
    if not farthest:
        return "none"
    name = max(farthest, key=lambda name: farthest[name][0].distance(farthest[name][1]))
    return f"{name} {_deviation(*farthest[name])}"


def _above_line(fitted: Sequence[tuple[Sequence[Point], PowerLaw]]) -> str:
    """Return how many curves are above their lines at their largest size."""
    above = [points for points, law in fitted if law.deviation(points[-1]) > 0]
    return f"{len(above)} of {len(fitted)}"


def _deviation(law: PowerLaw, point: Point) -> str:
    """Return the deviation of a point from its line, and the size at which it is."""
    return f"{law.deviation(point) * 100:+.0f} % at {point[0]:,.0f}"


def _runs(rows: Sequence[GrowthRow]) -> str:
    """Return how often points were measured."""
    most = max((row.runs for row in rows), default=0)
    fewer = sorted({row.size for row in rows if row.runs < most})
    text = f"median of {most} measurements"
    if not fewer:
        return text
    return f"{text}, one at {fewer[0]:,.0f}" if len(fewer) == 1 else f"{text}, one from {fewer[0]:,.0f} on"


SECTION = ValidationSection("growth", Growth, load, _template_values, benchmarks=(RESULTS, DECISIONS))
