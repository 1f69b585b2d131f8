"""Figures of devices side by side: distributions of response times, cost, and energy of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import mpl_lines
from sledlab.show import plots, wording
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import BLUE, INK, QUIET
from sledlab.studies.races import parts as race_parts
from sledlab.studies.side_by_side.costs_summary import ranked_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.races.rows import Mean
    from sledlab.studies.side_by_side.tables import SideBySide

PERCENTILES = (
    "Dot: mean. Thick: from the median to 99 %. Thin: to the slowest. Hollow: overloaded, so the times "
    "depend on the length of the run."
)
COST = (
    "Cost of a month, the devices written off and power, against the response time of 99 % of the requests "
    "or of the goal, whose limit is dashed. Cheap and fast is below on the left. Hollow: overloaded."
)
ENERGY = "All energy of the device over the run, divided by its requests; in mJ. Hollow: overloaded."

MEASURE_NAMES = {
    "mean": "mean response time",
    "p50": "median response time",
    "p90": "90 % answered within",
    "p95": "95 % answered within",
    "p99": "99 % answered within",
    "p999": "99.9 % answered within",
    "max": "slowest response",
}
"""Names of the statistics that a goal may limit, on axes."""


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


def cost(result: SideBySide) -> Figure:
    """Cost of a month against the response time that the goal limits, or 99 %, at the recorded load.

    Raises:
        Error: No device has a price.
    """
    goal = result.goal
    measure = goal.measure if goal else "p99"
    rows_by_source = {
        str(group.varied[0][1]) if group.varied else "": [
            row for row in ranked_rows(result, group) if row.cost.month_usd
        ]
        for group in result.groups
    }
    if not any(rows_by_source.values()):
        raise Error("no device has a price", remedy="set prices in USD: --price device.NAME=100")
    figure, panels = plots.panels(len(result.groups), 0.6 + 2.6 * len(result.groups))
    names: dict[str, Any] = {}
    for axes, (source, rows) in zip(panels, rows_by_source.items(), strict=True):
        points = [(getattr(row.run, f"{measure}_ms"), row.cost.month_usd or 0.0) for row in rows]
        times_ms, usd = ([point[index] for point in points] for index in (0, 1))
        limits = [goal.limit_ms] if goal else []
        axes.set(xscale="log", yscale="log", xlabel=f"{MEASURE_NAMES[measure]} (ms)", ylabel="USD a month")
        axes.set_xlim(min(*times_ms, *limits, max(times_ms)) / 1.5, max(*times_ms, *limits, 0) * 1.5)
        axes.set_ylim(min(usd) / 1.3, max(usd) * 1.3)
        axes.set_title(source if len(panels) > 1 else "")
        for row, point in zip(rows, points, strict=True):
            style = _marker_style(result.devices.index(row.who.name))
            face: dict[str, Any] = {"markerfacecolor": "white"} if row.run.saturated else {}
            axes.plot(*([value] for value in point), **style, **face)
            names[row.who.label] = mpl_lines.Line2D([], [], **style)
        if goal:
            axes.axvline(goal.limit_ms, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
        plain_ticks(axes.xaxis)
        plain_ticks(axes.yaxis)
        axes.grid(visible=True)
    plots.legend(figure, names)
    return figure


def _marker_style(place: int) -> dict[str, Any]:
    """Return the color and the marker of a device, by its place in the list of devices."""
    styles = plots.LINE_STYLES
    color, marker = styles[place % len(styles)][0], styles[(place + place // len(styles)) % len(styles)][2]
    return {"color": color, "marker": marker, "markersize": 7, "linestyle": "none"}


KINDS = {"percentiles": percentiles, "cost": cost, "energy": energy}
"""Figures of all devices at once."""
