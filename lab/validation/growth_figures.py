"""Figures of the growth of cost: points, and fitted power laws, between logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from sledlab.reproduction.save import to_file
from sledlab.show.palette import BLUE, GREEN, VERMILION
from sledlab.show.plots import finish_figure, plain_ticks, style

from .growth import SERIES, GrowthCurve, GrowthSeries, load
from .power_law import Point, PowerLaw, exponent_text

COLORS = (BLUE, VERMILION, GREEN)
MARKERS = ("o", "s", "^")
SIZE = (6.4, 3.6)
"""Width and height of a figure of one panel, in inches."""

COLUMNS, PANEL = 5, (1.9, 1.6)
"""Number of columns of a figure with a panel for each curve, and size of a panel in inches."""

DECISION, EXHAUSTIVE = "decision", "decision by exhaustive search"
DECADES = 2
"""Distance of the ticks of sizes in a panel, in powers of ten."""

MAX_DECADES = 2
"""Largest range of sizes, in powers of ten, of which all have ticks."""
MARGIN = 1.6
"""Ratio of the ends of an axis to those of the values."""


def pictures() -> dict[str, str]:
    """Return the figures of measured series as SVG, by their path in the documentation."""
    growth = load()
    return {
        series.image: _svg(draw(series, curves), series.heading)
        for series in SERIES.values()
        if (curves := growth.curves(series.name))
    }


def draw(series: GrowthSeries, curves: Sequence[GrowthCurve]) -> Figure:
    """Draw a series: all curves in one panel, or a panel for each where there are many."""
    with style():
        figure = _draw_panels(series, curves) if len(curves) > len(COLORS) else _draw_one(series, curves)
        return finish_figure(figure, "make bench")


def _svg(figure: Figure, title: str) -> str:
    with TemporaryDirectory() as place:
        file = Path(place) / "figure.svg"
        to_file(figure, file, title)
        return file.read_text(encoding="utf-8")


def _draw_one(series: GrowthSeries, curves: Sequence[GrowthCurve]) -> Figure:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    handles = []
    for curve, color, marker in zip(curves, COLORS, MARKERS, strict=False):
        law = curve.law
        _draw_curve(axes, curve.points, law, color, marker)
        exponent = f", exponent {exponent_text(law)}" if law else ""
        handles.append(
            Line2D([], [], color=color, marker=marker, markersize=5, label=f"{curve.name}{exponent}")
        )
    _scale(axes, [point for curve in curves for point in (*curve.points, *_ends(curve.points, curve.law))])
    _mark_sizes(axes, [point for curve in curves for point in curve.points], 1)
    axes.set(xlabel=f"{series.size}, log scale", ylabel=f"{series.cost}\nlog scale")
    figure.legend(handles=handles, loc="outside upper left", frameon=False, ncols=2, fontsize=9)
    return figure


def _draw_panels(series: GrowthSeries, curves: Sequence[GrowthCurve]) -> Figure:
    rows = -(-len(curves) // COLUMNS)
    figure = Figure(figsize=(COLUMNS * PANEL[0], rows * PANEL[1] + 0.8), layout="constrained")
    grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
    points = [point for curve in curves for point in (*curve.points, *curve.search)]
    for place, axes in enumerate(grid.flat):
        if place >= len(curves):
            axes.set_axis_off()
            continue
        curve = curves[place]
        _draw_curve(axes, curve.search, curve.search_law, VERMILION, "s")
        _draw_curve(axes, curve.points, curve.law, BLUE, "o")
        _scale(axes, points)
        axes.set_title(curve.name, fontsize=9)
        _write_exponents(axes, ((curve.law, BLUE), (curve.search_law, VERMILION)))
        _mark_sizes(axes, points, DECADES)
        # The last panel of a column has the labels of the axis, although the last row may be shorter.
        axes.tick_params(labelbottom=place + COLUMNS >= len(curves))
    figure.supxlabel(f"{series.size}, log scale", fontsize=9)
    figure.supylabel(f"{series.cost}, log scale", fontsize=9)
    figure.legend(
        handles=[
            Line2D([], [], color=color, marker=marker, markersize=5, label=name)
            for name, color, marker in ((DECISION, BLUE, "o"), (EXHAUSTIVE, VERMILION, "s"))
        ],
        loc="outside upper left",
        frameon=False,
        ncols=2,
        fontsize=9,
    )
    return figure


def _mark_sizes(axes: Axes, points: Sequence[Point], decades: int) -> None:
    """Set ticks at powers of ten, `decades` powers apart, or at all sizes if these span few decades."""
    sizes = sorted({size for size, _ in points})
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])
    powers = range(math.ceil(first), math.floor(last) + 1, decades)
    axes.set_xticks([10.0**power for power in powers] if last - first > MAX_DECADES else sizes)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _write_exponents(axes: Axes, laws: Sequence[tuple[PowerLaw | None, str]]) -> None:
    """Write the exponents above the right end of a panel, each in the color of its curve."""
    drawn = [(law, color) for law, color in laws if law]
    for place, (law, color) in enumerate(reversed(drawn)):
        axes.annotate(
            exponent_text(law),
            (1, 1),
            xycoords="axes fraction",
            xytext=(-30 * place, 6),
            textcoords="offset points",
            ha="right",
            color=color,
            fontsize=9,
        )


def _draw_curve(axes: Axes, points: Sequence[Point], law: PowerLaw | None, color: str, marker: str) -> None:
    if law is None:
        return
    sizes, costs = zip(*points, strict=True)
    axes.plot(sizes, costs, color=color, marker=marker, markersize=4.5, linestyle="none")
    axes.plot(*zip(*_ends(points, law), strict=True), color=color, linewidth=1.2)


def _ends(points: Sequence[Point], law: PowerLaw | None) -> list[Point]:
    """Return both ends of the line of a power law."""
    sizes = [size for size, _ in points]
    return [(size, law.cost(size)) for size in (min(sizes), max(sizes))] if law else []


def _scale(axes: Axes, points: Sequence[Point]) -> None:
    """Set logarithmic axes of which both have ticks at the same kind of values."""
    for axis, values in zip(("x", "y"), zip(*points, strict=True), strict=True):
        limits = (min(values) / MARGIN, max(values) * MARGIN)
        axes.set(**{f"{axis}scale": "log", f"{axis}lim": limits})
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.grid(visible=True)
