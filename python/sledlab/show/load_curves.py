"""Curves over the load: one line per competitor, named where it ends; overloaded points set apart.

An overloaded point, whose queue kept growing, has a response time that depends on the length of the run.
Such points are drawn hollow above the plot, in one row for each competitor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_figure, mpl_patches
from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import BLUE, FAINT, GRAY, INK, QUIET
from sledlab.show.plots import LINE_STYLES, line_styles
from sledlab.show.series import Panel, Series
from sledlab.show.widths import SIZE, base_width
from sledlab.show.wording import short_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.show.curves import Curves, Line, LoadDot

STRIP_PT = 10.5
"""Height of a row in the strip of overloaded points, in points."""


@dataclass(frozen=True)
class LineStyle:
    """How a line is drawn."""

    color: str = GRAY
    dashes: Any = "-"
    marker: str = ""
    width: float = 0.8
    order: float = 1.5


def draw(curves: Curves) -> Figure:
    """Draw a measure over the load; a bar per competitor where there is a single load."""
    with plots.style():
        if len(curves.loads) == 1:
            return _draw_bars(curves)
        curves = curves.as_single_line if curves.is_coincident else curves
        styles_by_line = {
            line: LineStyle(color, dashes, marker, 1.7, 3.0)
            for line, (color, dashes, marker) in _line_styles(curves).items()
        }
        figure = plots.empty_figure(SIZE[1] + 0.3)
        overloaded_lines = [line for line in styles_by_line if curves.is_in_strip(line)]
        overloaded_lines.sort(key=lambda line: -line.sustained_loads)
        rows_by_line = {line: row for row, line in enumerate(overloaded_lines)}
        pair = _axes_pair(figure, figure.add_gridspec(1, 1)[0], curves, len(rows_by_line))
        for line in (each for each in curves.lines if each not in styles_by_line):
            _draw(pair, curves, line, LineStyle(), None)
        for line, style in styles_by_line.items():
            _draw(pair, curves, line, style, rows_by_line.get(line))
        _name_ends(pair, styles_by_line, rows_by_line)
        remarks = ["gray band: overloaded, the queue kept growing"] if rows_by_line else []
        if len(curves.lines) > len(styles_by_line):
            remarks.append(f"gray lines: {len(curves.lines) - len(styles_by_line)} others")
        pair.strip.set_title("; ".join(remarks), fontsize=9, color=QUIET)
        _load_axis(pair, curves.loads)
        pair.plot.set_ylabel(curves.name)
        return figure


@dataclass(frozen=True)
class AxesPair:
    """A plot, and above it the strip of overloaded points, which has no scale.

    Attributes:
        plot: The axes of values.
        strip: The axes of the strip, with a row for each overloaded line; very low without one.
    """

    plot: Axes
    strip: Axes


def _axes_pair(figure: Figure, place: Any, curves: Curves, strip_rows: int) -> AxesPair:
    """Return the axes of a plot and of its strip, with their scales, in a place of a grid."""
    height_pt = place.get_position(figure).height * figure.get_figheight() * 72
    strip_pt = max(strip_rows * STRIP_PT, 1)
    grid = place.subgridspec(2, 1, height_ratios=(strip_pt, max(height_pt - strip_pt, strip_pt)), hspace=0)
    pair = AxesPair(figure.add_subplot(grid[1]), figure.add_subplot(grid[0]))
    layout: Any = figure.get_layout_engine()
    layout.set(h_pad=0.02, hspace=0)
    rates = list(curves.loads.values())
    margin = (max(rates) / min(rates)) ** 0.04
    for axes in (pair.plot, pair.strip):
        axes.set_xscale("log")
        axes.set_xlim(min(rates) / margin, max(rates) * margin)
        axes.minorticks_off()
    pair.strip.set(ylim=(max(strip_rows, 1) - 0.5, -0.5), yticks=[])
    pair.strip.patch.set_visible(False)
    if strip_rows:  # the background of axes would be missing in pages, whose figures are transparent
        band: Any = {"transform": pair.strip.transAxes, "facecolor": FAINT, "alpha": 0.45, "linewidth": 0}
        pair.strip.add_patch(mpl_patches.Rectangle((0, 0), 1, 1, zorder=0, **band))
    pair.strip.spines[:].set_visible(False)
    pair.strip.tick_params(top=False, bottom=False, labelbottom=False, pad=2)
    _scale(pair.plot, curves)
    return pair


def _line_styles(curves: Curves) -> dict[Line, tuple[str, Any, str]]:
    lines = list(curves.highlighted)
    return dict(zip(lines, line_styles([line.label for line in lines]), strict=False))


def panels(curves: Curves) -> Sequence[Panel]:
    """Return the curves as a panel to be explored; overloaded points lack values that have no meaning.

    Empty for a single load, which is drawn as bars.
    """
    if len(curves.loads) == 1:
        return ()
    styles_by_line = _line_styles(curves)
    series = []
    for line in (*styles_by_line, *(each for each in curves.ranked if each not in styles_by_line)):
        color, dashes, _ = styles_by_line.get(line, LINE_STYLES[0])
        values = [None if curves.is_hidden(dot) else dot.value for dot in line.dots]
        overloaded, dash = [dot.is_overloaded for dot in line.dots], () if dashes == "-" else dashes[1]
        low, high = _bounds(curves, line)
        series.append(
            Series(
                line.label,
                color,
                values,
                low=low,
                high=high,
                overloaded=overloaded,
                dash=dash,
                is_picked=line in styles_by_line,
            )
        )
    drawn_values = [value for each in series for value in each.values if value is not None]
    return [
        Panel(
            "requests per second",
            curves.name,
            series,
            list(curves.loads.values()),
            top=[f"×{speedup:g}" for speedup in curves.loads],
            log_x=True,
            log_y=_is_wide_range(min(drawn_values), max(drawn_values)),
            sync_group="load",
        )
    ]


def _bounds(curves: Curves, line: Line) -> tuple[list[float | None], list[float | None]]:
    """Return both ends of the 95 % interval at each load; empty without several seeds."""
    halves = [None if curves.is_hidden(dot) or dot.seeds < 2 else dot.half for dot in line.dots]
    if all(half is None for half in halves):
        return [], []
    pairs = list(zip(line.dots, halves, strict=True))
    low = [None if half is None else max(dot.value - half, 0.0) for dot, half in pairs]
    return low, [None if half is None else dot.value + half for dot, half in pairs]


def _is_wide_range(low: float, high: float) -> bool:
    """Return whether values from `low` to `high` need a logarithmic axis."""
    return low > 0 and high / low > 3


def _scale(axes: Axes, curves: Curves) -> None:
    """Set the y axis, logarithmic if values are far apart, with room for the 95 % intervals."""
    dots = [dot for line in curves.lines for dot in line.dots if not curves.is_hidden(dot)]
    halves = [dot.half or 0.0 if dot.seeds > 1 else 0.0 for dot in dots]
    low = min(dot.value for dot in dots)
    high = max(dot.value + half for dot, half in zip(dots, halves, strict=True))
    if _is_wide_range(low, high):
        low = min(max(dot.value - half, dot.value / 2) for dot, half in zip(dots, halves, strict=True))
        margin = (high / low) ** 0.04
        axes.set_yscale("log")
        axes.set_ylim(low / margin, high * margin)
    else:
        axes.set_ylim(0, (high or 1.0) * 1.05)
    plain_ticks(axes.yaxis)
    axes.grid(visible=True, axis="y")


def _draw(pair: AxesPair, curves: Curves, line: Line, style: LineStyle, row: int | None) -> None:
    """Draw a line through points without overload, its interval, and hollow points in a row of the strip."""
    dots = [dot for dot in line.dots if not dot.is_overloaded or curves.is_robust]
    if not dots and row is None:
        dots = list(line.dots)
    marker: dict[str, Any] = {"marker": style.marker, "markersize": 4.2} if style.marker else {}
    options: dict[str, Any] = {"color": style.color, "linewidth": style.width, "zorder": style.order}
    rates, values = [dot.rate for dot in dots], [dot.value for dot in dots]
    pair.plot.plot(rates, values, linestyle=style.dashes, label=line.label, **options, **marker)
    hollow = [dot for dot in dots if dot.is_overloaded]
    options |= {"zorder": style.order + 0.1, "linestyle": "", "markerfacecolor": "white"}
    pair.plot.plot([dot.rate for dot in hollow], [dot.value for dot in hollow], **options, **marker)
    if style.marker:
        _draw_interval(pair.plot, dots, style)
    if row is not None:
        _draw_overload(pair, line, dots, style, row)


def _draw_interval(axes: Axes, dots: Sequence[LoadDot], style: LineStyle) -> None:
    """Draw the 95 % confidence interval as a band, where points have several seeds."""
    intervals = [(dot.rate, dot.value, dot.half) for dot in dots if dot.seeds > 1 and dot.half is not None]
    if not intervals:
        return
    lowest = axes.get_ylim()[0]
    axes.fill_between(
        [rate for rate, _, _ in intervals],
        [max(value - half, lowest) for _, value, half in intervals],
        [value + half for _, value, half in intervals],
        color=style.color,
        alpha=0.18,
        linewidth=0,
        zorder=2,
    )


def _draw_overload(pair: AxesPair, line: Line, dots: Sequence[LoadDot], style: LineStyle, row: int) -> None:
    """Draw overloaded points of a line hollow in its row of the strip, with a thin line up to the first."""
    overloaded_rates = [dot.rate for dot in line.dots if dot.is_overloaded]
    dotted: Any = {"color": style.color, "linestyle": (0, (1, 2)), "linewidth": 1.0}
    hollow: Any = {"marker": style.marker, "markersize": 4.2, "markerfacecolor": "white", "clip_on": False}
    pair.strip.plot(overloaded_rates, [row] * len(overloaded_rates), label=line.label, **hollow, **dotted)
    steady_dots = [dot for dot in dots if dot.rate < overloaded_rates[0]]
    if steady_dots:
        last_point = (steady_dots[-1].rate, steady_dots[-1].value)
        ends = (last_point, (overloaded_rates[0], row), pair.plot.transData, pair.strip.transData)
        connection = mpl_patches.ConnectionPatch(*ends, shrinkA=2, shrinkB=2.5, **dotted)
        connection.set_in_layout(False)
        pair.plot.figure.add_artist(connection)


def _name_ends(
    pair: AxesPair, styles_by_line: Mapping[Line, LineStyle], rows_by_line: Mapping[Line, int]
) -> None:
    """Name lines on the right, at their rows of the strip or where they end."""
    for line, style in styles_by_line.items():
        last, row = line.dots[-1], rows_by_line.get(line)
        if row is not None and last.is_overloaded:
            plots.name_ends(pair.strip, [(row, line.label, style.color)])
        else:
            plots.name_ends(pair.plot, [(last.value, line.label, style.color)])


def _load_axis(pair: AxesPair, loads: Mapping[float, float]) -> None:
    """Set ticks of requests per second below and speed-ups above."""
    rates = list(loads.values())
    for axes in (pair.plot, pair.strip):
        for rate in rates:
            axes.axvline(rate, color=FAINT, linewidth=0.6, zorder=0)
    pair.plot.set_xticks(rates, _rate_labels(rates))
    pair.strip.tick_params(labeltop=True)
    pair.strip.set_xticks(rates, [f"×{speedup:g}" for speedup in loads])
    pair.plot.set_xlabel("requests per second")


def _rate_labels(rates: Sequence[float]) -> list[str]:
    """Return the requests per second as ticks."""
    return [short_figure(rate) for rate in rates]


def _draw_bars(curves: Curves) -> Figure:
    """Draw a single load: a bar per competitor, best first, overloaded ones hollow."""
    figure, (axes,) = plots.panels(1, 0.9 + 0.22 * len(curves.lines), rows=len(curves.lines))
    for place, line in enumerate(curves.ranked):
        dot = line.dots[0]
        is_overloaded = dot.is_overloaded and not curves.is_robust
        half = None if is_overloaded else dot.half
        colors: Any = {"facecolor": "white" if is_overloaded else BLUE, "edgecolor": BLUE, "ecolor": INK}
        axes.barh(place, dot.value, height=0.62, xerr=half, **colors)
        text = short_figure(dot.value) + (" overloaded" if is_overloaded else "")
        plots.label_right(axes, text, (dot.value + (half or 0.0), place), size=9, distance_pt=4)
    axes.set_yticks(range(len(curves.ranked)), [line.label for line in curves.ranked], color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0, max(line.dots[0].value + (line.dots[0].half or 0.0) for line in curves.lines) or 1.0)
    axes.set_xlabel(curves.name)
    return figure


def draw_small_multiples(curves: Curves) -> Figure:
    """Draw a small plot for every competitor: its line in front of the gray lines of all others."""
    columns, count = 3, len(curves.ranked)
    rows = math.ceil(count / columns)
    strip_rows = int(any(curves.is_in_strip(line) for line in curves.lines))
    with plots.style():
        figure = mpl_figure.Figure(figsize=(base_width(), 0.5 + 1.45 * rows), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
        for index, line in enumerate(curves.ranked):
            pair = _axes_pair(figure, grid[divmod(index, columns)], curves, strip_rows)
            _draw_small_plot(pair, curves, line)
            pair.plot.tick_params(labelbottom=index >= count - columns, labelleft=index % columns == 0)
            pair.plot.set_ylabel("" if index % columns else "SCV" if curves.measure == "scv" else "ms")
        figure.supxlabel("requests per second", fontsize=9, color=QUIET)
        return figure


def _draw_small_plot(pair: AxesPair, curves: Curves, line: Line) -> None:
    """Draw one small plot: a line in front of the others, its overloaded points hollow along the top."""
    for other in curves.lines:
        if other is not line:
            _draw(pair, curves, other, LineStyle(color=FAINT, width=0.7), None)
    _draw(pair, curves, line, LineStyle(BLUE, "-", "o", 1.6, 3.0), 0 if curves.is_in_strip(line) else None)
    pair.strip.set_title(line.label, fontsize=9, fontweight="bold")
    pair.strip.set_xticks([])
    rates = [min(curves.loads.values()), max(curves.loads.values())]
    pair.plot.set_xticks(rates, _rate_labels(rates), fontsize=9)
    pair.plot.tick_params(axis="y", labelsize=9)
