"""Spread of response times at one load: a line for each competitor, from the median to the slowest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import GRAY
from sledlab.show.plots import LINE_STYLES, line_styles
from sledlab.show.series import Panel, Series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

QUANTILES = {
    "median": "p50_ms",
    "90 %": "p90_ms",
    "95 %": "p95_ms",
    "99 %": "p99_ms",
    "99.9 %": "p999_ms",
    "slowest": "max_ms",
}
"""Ticks of the x axis, and the column with the value of each."""


def panel(values: Mapping[str, Sequence[float]], highlighted: Sequence[str]) -> Panel:
    """Return the panel of response times in ms by competitor, a value for each of `QUANTILES`."""
    styles_by_name = dict(zip(highlighted, line_styles(highlighted), strict=False))
    series = []
    for name, times in values.items():
        color, dashes, _ = styles_by_name.get(name, LINE_STYLES[0])
        dash = () if dashes == "-" else dashes[1]
        series.append(Series(name, color, times, dash=dash, is_picked=name in styles_by_name))
    steps = list(QUANTILES)
    return Panel("requests answered within", "response time (ms)", series, steps=steps, log_y=True)


def draw(panel: Panel) -> Figure:
    """Draw the panel; highlighted competitors are named where their lines end."""
    fig, (axes,) = plots.panels(1, 3.6)
    last, ends = len(panel.steps) - 1, []
    markers = iter([marker for _, _, marker in LINE_STYLES])
    for series in sorted(panel.series, key=lambda series: series.is_picked):
        times = [value or 0.0 for value in series.values]
        dashes = (0, tuple(series.dash)) if series.dash else "-"
        color, width = (series.color, 1.7) if series.is_picked else (GRAY, 0.8)
        marker: Any = {"marker": next(markers, "o"), "markersize": 4} if series.is_picked else {}
        options: Any = {"color": color, "linestyle": dashes, "linewidth": width, **marker}
        axes.plot(range(last + 1), times, label=series.name, **options)
        if series.is_picked:
            ends.append((times[-1], series.name, color))
    axes.set_yscale("log")
    plain_ticks(axes.yaxis)
    axes.set_xticks(range(last + 1), panel.steps)
    axes.set_xlim(-0.2, last + 0.2)
    axes.set(xlabel=panel.x_name, ylabel=panel.y_name)
    axes.grid(visible=True, axis="y")
    plots.name_ends(axes, ends)
    return fig
