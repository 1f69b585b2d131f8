"""Curves over the load: one line per competitor, named where it ends; overloaded points set apart.

An overloaded point, whose queue kept growing, has a response time that depends on the length of the run.
Such points are drawn hollow above the plot, in one row for each competitor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_figure, mpl_ticker
from sledlab.show import plots
from sledlab.show.palette import (
    AMBER,
    BLUE,
    FAINT,
    GRAY,
    GREEN,
    INK,
    PURPLE,
    QUIET,
    SKY,
    VERMILION,
    color_places,
)
from sledlab.show.plots import spread_heights
from sledlab.show.series import Panel, Series
from sledlab.show.widths import SIZE, base_width
from sledlab.show.wording import short_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.show.curves import Curves, Line, LoadDot

LINE_STYLES: Sequence[tuple[str, Any, str]] = (
    (BLUE, "-", "o"),
    (VERMILION, (0, (5, 1.5)), "s"),
    (GREEN, (0, (1.2, 1.2)), "^"),
    (PURPLE, (0, (5, 1.5, 1.2, 1.5)), "D"),
    (SKY, (0, (3, 1)), "v"),
    (AMBER, (0, (8, 1.5)), "P"),
)
"""Color, dashes and marker of each highlighted line, which differ without color too."""

STRIP_PT = 10.5
"""Height of a row in the strip of overloaded points, and least distance between two names, in points."""


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
        figure = mpl_figure.Figure(figsize=(base_width(), SIZE[1] + 0.3))
        name_share = (6.3 * max(len(line.label) for line in styles_by_line) + 22) / (base_width() * 72)
        axes = figure.add_axes((0.13, 0.13, 0.87 - name_share, 0.76))
        overloaded_lines = [line for line in styles_by_line if curves.is_in_strip(line)]
        overloaded_lines.sort(key=lambda line: -line.sustained_loads)
        rows_by_line = {line: row for row, line in enumerate(overloaded_lines)}
        _scale(axes, curves, strip_rows=len(rows_by_line))
        for line in (each for each in curves.lines if each not in styles_by_line):
            _draw(axes, curves, line, LineStyle(), None)
        for line, style in styles_by_line.items():
            _draw(axes, curves, line, style, rows_by_line.get(line))
        _name_ends(axes, styles_by_line, rows_by_line)
        if len(curves.lines) > len(styles_by_line):
            _write_remark(axes, f"gray: {len(curves.lines) - len(styles_by_line)} others")
        _name_strip(axes, len(rows_by_line))
        _load_axis(axes, curves.loads)
        axes.set_ylabel(curves.name)
        return figure


def styles(names: Sequence[str]) -> list[tuple[str, Any, str]]:
    """Return color, dashes and marker of each name, for as many names as have one."""
    return [LINE_STYLES[place] for place in color_places(names[: len(LINE_STYLES)])]


def _line_styles(curves: Curves) -> dict[Line, tuple[str, Any, str]]:
    lines = list(curves.highlighted)
    return dict(zip(lines, styles([line.label for line in lines]), strict=False))


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


def _size_pt(axes: Axes) -> tuple[float, float]:
    """Return the width and height of the axes in points."""
    box, scale = axes.get_window_extent(), 72 / axes.figure.dpi
    return box.width * scale, box.height * scale


def _scale(axes: Axes, curves: Curves, *, strip_rows: int) -> None:
    """Set the axes, the y axis logarithmic if values are far apart, with room for the strip on top."""
    values = [dot.value for line in curves.lines for dot in line.dots if not curves.is_hidden(dot)]
    rates = list(curves.loads.values())
    axes.set_xscale("log")
    margin = (max(rates) / min(rates)) ** 0.04
    axes.set_xlim(min(rates) / margin, max(rates) * margin)
    low, high = min(values), max(values)
    plot_share = 1 - (strip_rows * STRIP_PT + 16 if strip_rows else 6) / _size_pt(axes)[1]
    if _is_wide_range(low, high):
        axes.set_yscale("log")
        bottom = low / (high / low) ** 0.04
        axes.set_ylim(bottom, bottom * (high / bottom) ** (1 / plot_share))
        _set_decade_ticks(axes, low, high)
    else:
        axes.set_ylim(0, (high or 1.0) / plot_share)
        axes.yaxis.set_ticks([tick for tick in axes.get_yticks() if tick <= high * 1.05])
    axes.grid(visible=True, axis="y")


def _set_decade_ticks(axes: Axes, low: float, high: float) -> None:
    """Set ticks at 1, 2, 5 or, over many decades, at powers of ten only; none in the strip."""
    digits = (1, 2, 5) if high / low < 200 else (1, 3) if high / low < 5000 else (1,)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    visible_ticks = [tick for tick in ticks if low / 1.3 <= tick <= high * 1.3]
    axes.yaxis.set_major_locator(mpl_ticker.FixedLocator(visible_ticks))
    axes.yaxis.set_minor_locator(mpl_ticker.NullLocator())
    plots.plain_ticks(axes.yaxis)


def _draw(axes: Axes, curves: Curves, line: Line, style: LineStyle, row: int | None) -> None:
    """Draw a line through points without overload, its interval, and hollow points in a row of the strip."""
    dots = [dot for dot in line.dots if not dot.is_overloaded or curves.is_robust]
    if not dots and row is None:
        dots = list(line.dots)
    marker: dict[str, Any] = {"marker": style.marker, "markersize": 4.2} if style.marker else {}
    options: dict[str, Any] = {"color": style.color, "linewidth": style.width, "zorder": style.order}
    rates, values = [dot.rate for dot in dots], [dot.value for dot in dots]
    axes.plot(rates, values, linestyle=style.dashes, **options, **marker)
    hollow = [dot for dot in dots if dot.is_overloaded]
    options |= {"zorder": style.order + 0.1, "linestyle": "", "markerfacecolor": "white"}
    axes.plot([dot.rate for dot in hollow], [dot.value for dot in hollow], **options, **marker)
    if style.marker:
        _draw_interval(axes, dots, style)
    if row is not None:
        _draw_overload(axes, line, dots, style, row)


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


def _draw_overload(axes: Axes, line: Line, dots: Sequence[LoadDot], style: LineStyle, row: int) -> None:
    """Draw overloaded points of a line hollow in its row of the strip, with a thin line up to the first."""
    overloaded_rates = [dot.rate for dot in line.dots if dot.is_overloaded]
    place = _row_place(axes, row)
    dotted: Any = {"color": style.color, "linestyle": (0, (1, 2)), "linewidth": 1.0}
    dotted["transform"] = axes.get_xaxis_transform()
    hollow: Any = {"marker": style.marker, "markersize": 4.2, "markerfacecolor": "white", "clip_on": False}
    axes.plot(overloaded_rates, [place] * len(overloaded_rates), zorder=style.order, **hollow, **dotted)
    steady_dots = [dot for dot in dots if dot.rate < overloaded_rates[0]]
    if steady_dots:
        last_point = (steady_dots[-1].rate, steady_dots[-1].value)
        height = float(axes.transAxes.inverted().transform(axes.transData.transform(last_point))[1])
        axes.plot([last_point[0], overloaded_rates[0]], [height, place], zorder=1.9, **dotted)


def _row_place(axes: Axes, row: int) -> float:
    """Return the height of a row of overloaded points, as a share of the axes; rows count from the top."""
    return 1 - (row + 0.5) * STRIP_PT / _size_pt(axes)[1]


def _name_strip(axes: Axes, rows: int) -> None:
    """Shade the strip of overloaded points, and write its meaning into it."""
    if not rows:
        return
    bottom = 1 - rows * STRIP_PT / _size_pt(axes)[1]
    heights = (
        float(axes.transData.inverted().transform(axes.transAxes.transform((0, share)))[1])
        for share in (bottom, 1)
    )
    axes.axhspan(*heights, color=FAINT, alpha=0.45, linewidth=0, zorder=0)
    axes.text(
        0.008,
        1 - rows * STRIP_PT / _size_pt(axes)[1] / 2,
        "overloaded:\nqueue kept growing" if rows > 1 else "overloaded: queue kept growing",
        transform=axes.transAxes,
        va="center",
        fontsize=9,
        color=QUIET,
        linespacing=1.05,
        zorder=4,
    )


def _name_ends(
    axes: Axes, styles_by_line: Mapping[Line, LineStyle], rows_by_line: Mapping[Line, int]
) -> None:
    """Name lines on the right, at their rows of the strip or where they end, with the names moved apart."""
    height_pt = _size_pt(axes)[1]
    heights_pt = []
    for line in styles_by_line:
        last, row = line.dots[-1], rows_by_line.get(line)
        if row is not None and last.is_overloaded:
            heights_pt.append(_row_place(axes, row) * height_pt)
        else:
            end = axes.transData.transform((last.rate, last.value))
            heights_pt.append(float(axes.transAxes.inverted().transform(end)[1]) * height_pt)
    labels_pt = spread_heights(heights_pt, STRIP_PT, height_pt)
    for (line, style), line_pt, label_pt in zip(styles_by_line.items(), heights_pt, labels_pt, strict=True):
        is_moved = abs(label_pt - line_pt) > 2
        arrow: Any = {"arrowstyle": "-", "color": style.color, "linewidth": 0.6, "relpos": (0, 0.5)}
        axes.annotate(
            line.label,
            (1.0, line_pt / height_pt),
            xycoords="axes fraction",
            xytext=(14 if is_moved else 6, label_pt - line_pt),
            textcoords="offset points",
            va="center",
            color=style.color,
            fontweight="bold",
            fontsize=9,
            annotation_clip=False,
            arrowprops={**arrow, "shrinkA": 1, "shrinkB": 0} if is_moved else None,
        )


def _write_remark(axes: Axes, text: str) -> None:
    """Write a remark above the plot, on its right."""
    style: Any = {"ha": "right", "fontsize": 9, "color": QUIET}
    axes.annotate(
        text, (1, 1.0), xycoords="axes fraction", xytext=(0, 14), textcoords="offset points", **style
    )


def _load_axis(axes: Axes, loads: Mapping[float, float]) -> None:
    """Set ticks of requests per second below and speed-ups above; of ticks close together only some."""
    axes.xaxis.set_minor_formatter(mpl_ticker.NullFormatter())
    axes.xaxis.set_minor_locator(mpl_ticker.NullLocator())
    low, high = axes.get_xlim()
    last_rate_pt = last_name_pt = math.inf
    rates = []
    for speedup, rate in sorted(loads.items(), reverse=True):
        place_pt = math.log(rate / low) / math.log(high / low) * _size_pt(axes)[0]
        axes.axvline(rate, color=FAINT, linewidth=0.6, zorder=0)
        if last_name_pt - place_pt >= 19:
            style: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            axes.annotate(
                f"×{speedup:g}", (rate, 1), xytext=(0, 3), ha="center", fontsize=9, color=QUIET, **style
            )
            last_name_pt = place_pt
        if last_rate_pt - place_pt >= 34:
            rates.append(rate)
            last_rate_pt = place_pt
    axes.set_xticks(rates, _rate_labels(rates))
    axes.set_xlabel("requests per second")


def _rate_labels(rates: Iterable[float]) -> list[str]:
    """Return the requests per second as ticks."""
    return [short_figure(rate) for rate in rates]


def _draw_bars(curves: Curves) -> Figure:
    """Draw a single load: a bar per competitor, best first, overloaded ones hollow."""
    figure, axes = plots.single_plot(0.9 + 0.22 * len(curves.lines))
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
    axes.margins(x=0.18)
    axes.set_xlim(left=0)
    axes.set_xlabel(curves.name)
    return figure


def draw_small_multiples(curves: Curves) -> Figure:
    """Draw a small plot for every competitor: its line in front of the gray lines of all others."""
    columns, count = 5, len(curves.ranked)
    rows = math.ceil(count / columns)
    with plots.style():
        figure = mpl_figure.Figure(figsize=(base_width() * 2, 0.5 + 1.45 * rows), layout="constrained")
        positions = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, line in zip(positions.flat, curves.ranked, strict=False):
            _draw_small_plot(axes, curves, line)
        for axes in positions.flat[count:]:
            axes.axis("off")
        for axes in positions[:, 0]:
            axes.set_ylabel("SCV" if curves.measure == "scv" else "ms")
        for index in range(max(0, count - columns), count):
            positions.flat[index].xaxis.set_tick_params(labelbottom=True)
        figure.supxlabel("requests per second", fontsize=9, color=QUIET)
        return figure


def _draw_small_plot(axes: Axes, curves: Curves, line: Line) -> None:
    """Draw one small plot: a line in front of the others, its overloaded points hollow along the top."""
    has_strip = any(curves.is_in_strip(each) for each in curves.lines)
    _scale(axes, curves, strip_rows=int(has_strip))
    for other in curves.lines:
        if other is not line:
            _draw(axes, curves, other, LineStyle(color=FAINT, width=0.7), None)
    _draw(axes, curves, line, LineStyle(BLUE, "-", "o", 1.6, 3.0), 0 if curves.is_in_strip(line) else None)
    axes.set_title(line.label, fontsize=9, fontweight="bold")
    rates = [min(curves.loads.values()), max(curves.loads.values())]
    axes.set_xticks(rates, _rate_labels(rates), fontsize=9)
    axes.xaxis.set_minor_locator(mpl_ticker.NullLocator())
    axes.tick_params(axis="y", labelsize=9)
