"""Figures of devices side by side: distributions of response times, and energy of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show import plots, wording
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import BLUE, INK, QUIET
from sledlab.studies.races import parts as race_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.races.rows import Mean
    from sledlab.studies.side_by_side.tables import SideBySide

PERCENTILES = (
    "Dot: mean. Thick: from the median to 99 %. Thin: to the slowest. Hollow: overloaded, so the times "
    "depend on the length of the run."
)
ENERGY = "All energy of the device over the run, divided by its requests; in mJ. Hollow: overloaded."


def draw(result: SideBySide, measure: str = "percentiles", *, varied: Any = None) -> Figure:
    """Response times or energy of all devices, or a column of the curves against the load."""
    if measure in KINDS:
        return KINDS[measure](result)
    return race_parts.draw(result, measure, varied=varied)


def _rows_axes(result: SideBySide, title: str) -> tuple[Figure, Axes, list[tuple[float, Mean]]]:
    """Axes with a row for each device and load under the name of each trace, and the places of the rows."""
    positions: list[tuple[float, Mean]] = []
    names, headings, place = [], [], 0.0
    for group in result.groups:
        if len(result.groups) > 1 and group.varied:
            headings.append((place, str(group.varied[0][1])))
            place += 0.8
        for speedup in group.speedups:
            for curve in group.curves:
                names.append(f"{curve.label} ×{speedup:g}" if len(group.speedups) > 1 else curve.label)
                positions.append((place, curve.find_row(speedup)))
                place += 1
        place += 0.3
    figure = plots.empty_figure(0.9 + 0.27 * place, rows=int(place))
    axes = figure.subplots()
    axes.set_yticks([heading_place for heading_place, _ in positions], names, color=INK)
    axes.set_ylim(place - 0.5, -0.7)
    axes.set_xlabel(title)
    axes.spines["left"].set_visible(False)
    for heading_place, heading in headings:
        style: Any = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 9}
        axes.annotate(heading, (0, heading_place), fontweight="bold", **style)
    return figure, axes, positions


def percentiles(result: SideBySide) -> Figure:
    """Response times of every device: mean, median, 99 % and slowest."""
    figure, axes, positions = _rows_axes(result, "response time (ms)")
    for place, row in positions:
        run = row.run
        line: Any = {"color": BLUE, "solid_capstyle": "butt"}
        axes.plot([run.p50_ms, run.max_ms], [place] * 2, linewidth=1.4, **line)
        axes.plot([run.p50_ms, run.p99_ms], [place] * 2, linewidth=7, alpha=0.35, **line)
        face_color = "white" if run.saturated else BLUE
        axes.plot([run.mean_ms], [place], marker="o", color=BLUE, markerfacecolor=face_color, markersize=6)
        text = wording.quantity(run.mean_ms, "ms") + (" overloaded" if run.saturated else "")
        plots.label_right(axes, text, (max(run.max_ms, run.mean_ms), place), QUIET, 9, 5)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    axes.grid(visible=True, axis="x")
    return figure


def energy(result: SideBySide) -> Figure:
    """Energy of a request on every device."""
    figure, axes, positions = _rows_axes(result, "energy per request (mJ)")
    values = [(place, row.total_energy_per_request_mj, row.run.saturated) for place, row in positions]
    plots.draw_values(axes, values)
    for place, value, is_overloaded in values:
        text = wording.quantity(value, "mJ") + (" overloaded" if is_overloaded else "")
        plots.label_right(axes, text, (value, place), QUIET, 9, 5)
    return figure


KINDS = {"percentiles": percentiles, "energy": energy}
"""Figures of all devices at once."""
