"""Figures of miss-ratio curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.show import plots
from sledlab.show.axis_ticks import place_ticks, plain_ticks
from sledlab.show.palette import GRAY
from sledlab.show.plots import LINE_STYLES
from sledlab.show.ranking import Ranking
from sledlab.show.series import Panel, Series
from sledlab.studies.miss_ratio.sampling import LRU

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab.studies.miss_ratio.result import MissRatioCurves

RESPONSES = ("response", "load")
"""Kinds of curves of simulated caches."""

KINDS = {
    "misses": ("miss_ratio", 100.0, "uses of segments that miss (%)"),
    "reads": ("read_miss_ratio", 100.0, "uses by reads that miss (%)"),
    "writes": ("write_miss_ratio", 100.0, "uses by writes that miss (%)"),
    "bytes": ("byte_miss_ratio", 100.0, "bytes that miss (%)"),
    "requests": ("request_miss_ratio", 100.0, "requests that miss (%)"),
    "destages": ("destage_ratio", 100.0, "segments destaged over written (%)"),
    "response": ("mean_ms", 1.0, "mean response time (ms)"),
    "load": ("utilization", 100.0, "time in which the device is busy (%)"),
}
"""Column, factor and axis of each kind of curves."""

X_NAME = "size of the cache (MB)"


def panel(result: MissRatioCurves, kind: str) -> Panel:
    """Return the curves of a kind; those without a color of their own are gray.

    Raises:
        Error: There is no such kind, or no device was simulated.
    """
    column, factor, y_name = plots.find_panel(KINDS, kind)
    rows: list[Any] = list(result.points)
    if kind in RESPONSES:
        rows = [row for row in result.simulated if row.policy]
        if not rows:
            raise Error(f"the panel `{kind}` needs a device behind the cache", remedy="give it with --device")
    sizes_mb = list(dict.fromkeys(row.cache_mb for row in rows))
    names = list(dict.fromkeys(row.policy for row in rows))
    colored = _colored(result, names)
    series = []
    for name in [*colored, *(each for each in names if each not in colored)]:
        color, dashes, _ = LINE_STYLES[colored.index(name)] if name in colored else (GRAY, "-", "")
        of_policy = [row for row in rows if row.policy == name]
        values = [None if (value := getattr(row, column)) is None else value * factor for row in of_policy]
        overloaded = [row.saturated for row in of_policy] if kind in RESPONSES else []
        dash: Any = () if dashes == "-" else dashes[1]
        series.append(
            Series(name, color, values, overloaded=overloaded, dash=dash, is_picked=name in colored)
        )
    log_y = kind == "response" and _is_wide([value for each in series for value in each.values])
    return Panel(X_NAME, y_name, series, sizes_mb, log_x=len(sizes_mb) > 1, log_y=log_y, sync_group="size")


def _colored(result: MissRatioCurves, names: Sequence[str]) -> list[str]:
    """Return the policies with colors: LRU, and those with the fewest misses over all sizes."""
    if len(names) <= len(LINE_STYLES):
        return list(names)
    ranking = Ranking.of(names, result.sum_of_misses)
    return list(dict.fromkeys((*(each for each in names if each == LRU), *ranking)))[: len(LINE_STYLES)]


def _is_wide(values: Sequence[float | None]) -> bool:
    present = [value for value in values if value is not None]
    return min(present, default=0) > 0 and max(present) > 10 * min(present)


def draw(result: MissRatioCurves, kind: str = "misses") -> Figure:
    """Draw the curves of a kind. Most end in one point, so a legend has their names.

    Raises:
        Error: There is no such kind, no device was simulated, or there is nothing to draw.
    """
    curves = panel(result, kind)
    if not any(value is not None for series in curves.series for value in series.values):
        raise Error(f"there is nothing to draw in the panel `{kind}`", remedy="choose another panel")
    figure, axes = plots.single_plot()
    drawn = []
    for index, series in enumerate(curves.series):
        points = [
            (mb, value, bool(series.overloaded) and series.overloaded[place])
            for place, (mb, value) in enumerate(zip(curves.x, series.values, strict=True))
            if value is not None
        ]
        _, dashes, marker = LINE_STYLES[index % len(LINE_STYLES)]
        style = (series.color, dashes, marker if kind in RESPONSES else "")
        plots.draw_line(axes, points, style if series.is_picked else (GRAY, "-", ""), series.name)
        drawn += [value for _, value, _ in points]
    if curves.log_x:
        axes.set_xscale("log")
        axes.set_xlim(min(curves.x), max(curves.x))
        plain_ticks(axes.xaxis)
        place_ticks(axes.xaxis)
    if kind == "response":
        plots.value_axis(axes, drawn)
    else:
        axes.set_ylim(0, 100)
    axes.set(xlabel=curves.x_name, ylabel=curves.y_name)
    axes.grid(visible=True, axis="y")
    lines = {str(line.get_label()): line for line in axes.lines}
    names = {series.name: lines[series.name] for series in curves.series if series.is_picked}
    others = [lines[series.name] for series in curves.series if not series.is_picked]
    plots.legend(figure, {**names, **({f"{len(others)} others": others[0]} if others else {})})
    return figure
