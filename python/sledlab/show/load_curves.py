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
    """Draws a measure over the load; a bar per competitor where there is a single load."""
    with plots.style():
        if len(curves.loads) == 1:
            return _bars(curves)
        curves = curves.as_single_line if curves.is_coincident else curves
        looks = {
            line: LineStyle(color, dashes, marker, 1.7, 3.0)
            for line, (color, dashes, marker) in _line_styles(curves).items()
        }
        figure = mpl_figure.Figure(figsize=(base_width(), SIZE[1] + 0.3))
        names = (6.3 * max(len(line.label) for line in looks) + 22) / (base_width() * 72)
        axes = figure.add_axes((0.13, 0.13, 0.87 - names, 0.76))
        lateness = sorted(
            (line for line in looks if curves.is_in_strip(line)), key=lambda line: -line.sustained_loads
        )
        rows = {line: row for row, line in enumerate(lateness)}
        _scale(axes, curves, strip=len(rows))
        for line in (each for each in curves.lines if each not in looks):
            _draw(axes, curves, line, LineStyle(), None)
        for line, look in looks.items():
            _draw(axes, curves, line, look, rows.get(line))
        _name_ends(axes, looks, rows)
        if len(curves.lines) > len(looks):
            _remark(axes, f"gray: {len(curves.lines) - len(looks)} others")
        _name_strip(axes, len(rows))
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
    looks = _line_styles(curves)
    series = []
    for line in (*looks, *(each for each in curves.ranked if each not in looks)):
        color, dashes, _ = looks.get(line, LINE_STYLES[0])
        values = [None if curves.is_hidden(dot) else dot.value for dot in line.dots]
        lateness, dash = [dot.late for dot in line.dots], () if dashes == "-" else dashes[1]
        low, high = _bounds(curves, line)
        series.append(
            Series(
                line.label,
                color,
                values,
                low=low,
                high=high,
                late=lateness,
                dash=dash,
                picked=line in looks,
            )
        )
    known = [value for each in series for value in each.values if value is not None]
    return [
        Panel(
            "requests per second",
            curves.name,
            series,
            list(curves.loads.values()),
            top=[f"×{speedup:g}" for speedup in curves.loads],
            log_x=True,
            log_y=_is_wide_range(min(known), max(known)),
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


def _points(axes: Axes) -> tuple[float, float]:
    """Return the width and height of the axes in points."""
    box, scale = axes.get_window_extent(), 72 / axes.figure.dpi
    return box.width * scale, box.height * scale


def _scale(axes: Axes, curves: Curves, *, strip: int) -> None:
    """Set the axes, the y axis logarithmic if values are far apart, with room for the strip on top."""
    values = [dot.value for line in curves.lines for dot in line.dots if not curves.is_hidden(dot)]
    rates = list(curves.loads.values())
    axes.set_xscale("log")
    room = (max(rates) / min(rates)) ** 0.04
    axes.set_xlim(min(rates) / room, max(rates) * room)
    low, high = min(values), max(values)
    share = 1 - (strip * STRIP_PT + 16 if strip else 6) / _points(axes)[1]
    if _is_wide_range(low, high):
        axes.set_yscale("log")
        bottom = low / (high / low) ** 0.04
        axes.set_ylim(bottom, bottom * (high / bottom) ** (1 / share))
        _set_decade_ticks(axes, low, high)
    else:
        axes.set_ylim(0, (high or 1.0) / share)
        axes.yaxis.set_ticks([tick for tick in axes.get_yticks() if tick <= high * 1.05])
    axes.grid(visible=True, axis="y")


def _set_decade_ticks(axes: Axes, low: float, high: float) -> None:
    """Set ticks at 1, 2, 5 or, over many decades, at powers of ten only; none in the strip."""
    digits = (1, 2, 5) if high / low < 200 else (1, 3) if high / low < 5000 else (1,)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    shown = [tick for tick in ticks if low / 1.3 <= tick <= high * 1.3]
    axes.yaxis.set_major_locator(mpl_ticker.FixedLocator(shown))
    axes.yaxis.set_minor_locator(mpl_ticker.NullLocator())
    plots.plain_ticks(axes.yaxis)


def _draw(axes: Axes, curves: Curves, line: Line, look: LineStyle, row: int | None) -> None:
    """Draw a line through points without overload, its interval, and hollow points in a row of the strip."""
    selected = [dot for dot in line.dots if not dot.late or curves.meaningful]
    if not selected and row is None:
        selected = list(line.dots)
    marker: dict[str, Any] = {"marker": look.marker, "markersize": 4.2} if look.marker else {}
    style: dict[str, Any] = {"color": look.color, "linewidth": look.width, "zorder": look.order}
    axes.plot(
        [dot.rate for dot in selected],
        [dot.value for dot in selected],
        linestyle=look.dashes,
        **style,
        **marker,
    )
    hollow = [dot for dot in selected if dot.late]
    style |= {"zorder": look.order + 0.1, "linestyle": "", "markerfacecolor": "white"}
    axes.plot([dot.rate for dot in hollow], [dot.value for dot in hollow], **style, **marker)
    if look.marker:
        _interval(axes, selected, look)
    if row is not None:
        _draw_overload(axes, line, selected, look, row)


def _interval(axes: Axes, dots: Sequence[LoadDot], look: LineStyle) -> None:
    """Draw the 95 % confidence interval as a band, where points have several seeds."""
    known = [(dot.rate, dot.value, dot.half) for dot in dots if dot.seeds > 1 and dot.half is not None]
    if not known:
        return
    floor = axes.get_ylim()[0]
    axes.fill_between(
        [rate for rate, _, _ in known],
        [max(value - half, floor) for _, value, half in known],
        [value + half for _, value, half in known],
        color=look.color,
        alpha=0.18,
        linewidth=0,
        zorder=2,
    )


def _draw_overload(axes: Axes, line: Line, selected: Sequence[LoadDot], look: LineStyle, row: int) -> None:
    """Draw overloaded points of a line hollow in its row of the strip, with a thin line up to the first."""
    lateness = [dot.rate for dot in line.dots if dot.late]
    place = _row_place(axes, row)
    dotted: Any = {"color": look.color, "linestyle": (0, (1, 2)), "linewidth": 1.0}
    dotted["transform"] = axes.get_xaxis_transform()
    hollow: Any = {"marker": look.marker, "markersize": 4.2, "markerfacecolor": "white", "clip_on": False}
    axes.plot(lateness, [place] * len(lateness), zorder=look.order, **hollow, **dotted)
    before = [dot for dot in selected if dot.rate < lateness[0]]
    if before:
        last = (before[-1].rate, before[-1].value)
        height = float(axes.transAxes.inverted().transform(axes.transData.transform(last))[1])
        axes.plot([last[0], lateness[0]], [height, place], zorder=1.9, **dotted)


def _row_place(axes: Axes, row: int) -> float:
    """Return the height of a row of overloaded points, as a share of the axes; rows count from the top."""
    return 1 - (row + 0.5) * STRIP_PT / _points(axes)[1]


def _name_strip(axes: Axes, rows: int) -> None:
    """Shade the strip of overloaded points, and writes its meaning into it."""
    if not rows:
        return
    bottom = 1 - rows * STRIP_PT / _points(axes)[1]
    heights = (
        float(axes.transData.inverted().transform(axes.transAxes.transform((0, share)))[1])
        for share in (bottom, 1)
    )
    axes.axhspan(*heights, color=FAINT, alpha=0.45, linewidth=0, zorder=0)
    axes.text(
        0.008,
        1 - rows * STRIP_PT / _points(axes)[1] / 2,
        "overloaded:\nqueue kept growing" if rows > 1 else "overloaded: queue kept growing",
        transform=axes.transAxes,
        va="center",
        fontsize=9,
        color=QUIET,
        linespacing=1.05,
        zorder=4,
    )


def _name_ends(axes: Axes, looks: Mapping[Line, LineStyle], rows: Mapping[Line, int]) -> None:
    """Name lines on the right, at their rows of the strip or where they end, with the names moved apart."""
    height_pt = _points(axes)[1]
    heights = []
    for line in looks:
        last, row = line.dots[-1], rows.get(line)
        if row is not None and last.late:
            heights.append(_row_place(axes, row) * height_pt)
        else:
            at = axes.transData.transform((last.rate, last.value))
            heights.append(float(axes.transAxes.inverted().transform(at)[1]) * height_pt)
    positions = spread_heights(heights, STRIP_PT, height_pt)
    for (line, look), height, place in zip(looks.items(), heights, positions, strict=True):
        moved = abs(place - height) > 2
        arrow: Any = {"arrowstyle": "-", "color": look.color, "linewidth": 0.6, "relpos": (0, 0.5)}
        axes.annotate(
            line.label,
            (1.0, height / height_pt),
            xycoords="axes fraction",
            xytext=(14 if moved else 6, place - height),
            textcoords="offset points",
            va="center",
            color=look.color,
            fontweight="bold",
            fontsize=9,
            annotation_clip=False,
            arrowprops={**arrow, "shrinkA": 1, "shrinkB": 0} if moved else None,
        )


def _remark(axes: Axes, text: str) -> None:
    """Write a remark above the plot, on its right."""
    quiet: Any = {"ha": "right", "fontsize": 9, "color": QUIET}
    axes.annotate(
        text, (1, 1.0), xycoords="axes fraction", xytext=(0, 14), textcoords="offset points", **quiet
    )


def _load_axis(axes: Axes, loads: Mapping[float, float]) -> None:
    """Set ticks of requests per second below and speed-ups above; of ticks close together only some."""
    axes.xaxis.set_minor_formatter(mpl_ticker.NullFormatter())
    axes.xaxis.set_minor_locator(mpl_ticker.NullLocator())
    low, high = axes.get_xlim()
    last_rate = last_name = math.inf
    rates = []
    for speedup, rate in sorted(loads.items(), reverse=True):
        place = math.log(rate / low) / math.log(high / low) * _points(axes)[0]
        axes.axvline(rate, color=FAINT, linewidth=0.6, zorder=0)
        if last_name - place >= 19:
            above: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            axes.annotate(
                f"×{speedup:g}", (rate, 1), xytext=(0, 3), ha="center", fontsize=9, color=QUIET, **above
            )
            last_name = place
        if last_rate - place >= 34:
            rates.append(rate)
            last_rate = place
    axes.set_xticks(rates, _rates(rates))
    axes.set_xlabel("requests per second")


def _rates(rates: Iterable[float]) -> list[str]:
    """Return the requests per second as ticks."""
    return [short_figure(rate) for rate in rates]


def _bars(curves: Curves) -> Figure:
    """Draws a single load: a bar per competitor, best first, overloaded ones hollow."""
    figure, axes = plots.single_plot(0.9 + 0.22 * len(curves.lines))
    for place, line in enumerate(curves.ranked):
        dot = line.dots[0]
        lateness = dot.late and not curves.meaningful
        half = None if lateness else dot.half
        colors: Any = {"facecolor": "white" if lateness else BLUE, "edgecolor": BLUE, "ecolor": INK}
        axes.barh(place, dot.value, height=0.62, xerr=half, **colors)
        text = short_figure(dot.value) + (" overloaded" if lateness else "")
        plots.label_right(axes, text, (dot.value + (half or 0.0), place), size=9, by=4)
    axes.set_yticks(range(len(curves.ranked)), [line.label for line in curves.ranked], color=INK)
    axes.invert_yaxis()
    axes.margins(x=0.18)
    axes.set_xlim(left=0)
    axes.set_xlabel(curves.name)
    return figure


def draw_small_multiples(curves: Curves) -> Figure:
    """Draws a small plot for every competitor: its line in front of the gray lines of all others."""
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
    strip = any(curves.is_in_strip(each) for each in curves.lines)
    _scale(axes, curves, strip=int(strip))
    for other in curves.lines:
        if other is not line:
            _draw(axes, curves, other, LineStyle(color=FAINT, width=0.7), None)
    _draw(axes, curves, line, LineStyle(BLUE, "-", "o", 1.6, 3.0), 0 if curves.is_in_strip(line) else None)
    axes.set_title(line.label, fontsize=9, fontweight="bold")
    rates = [min(curves.loads.values()), max(curves.loads.values())]
    axes.set_xticks(rates, _rates(rates), fontsize=9)
    axes.xaxis.set_minor_locator(mpl_ticker.NullLocator())
    axes.tick_params(axis="y", labelsize=9)
