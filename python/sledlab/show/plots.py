"""Shared by all figures: colors, style, bars, names of lines, plots on top of each other, saving.

Colors are those of Okabe and Ito, which color-blind readers can distinguish, also in grayscale; lines
are labeled where they end instead of in a legend.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from functools import cache, partial
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from sledlab.lazy import matplotlib, mpl_colors, mpl_figure, mpl_patches, mpl_text, mpl_ticker
from sledlab.show.palette import (
    AMBER,
    BLUE,
    FAINT,
    GREEN,
    INK,
    PURPLE,
    QUIET,
    SKY,
    VERMILION,
    text_color,
)
from sledlab.show.ticks import log_ticks, round_down
from sledlab.show.widths import SIZE, base_width
from sledlab.show.wording import quantity
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

    from sledlab.show.series import Panel

Bar = tuple[str, float, str, bool]
"""A bar: its name, its value, the text at its end, and whether it is hollow."""

LINES = (SKY, BLUE, INK, PURPLE, VERMILION, GREEN, AMBER, QUIET)
"""Colors of lines for values in rising order."""

NARROW = 16
"""Most characters in a line of a text at a bar, in a narrow figure."""

NAME_PT = 11
"""Room for a name at the end of a line, in points."""

LOG_RATIO = 100
"""Bars whose values span more than this ratio have a logarithmic axis."""

METADATA = {"png": "Description", "svg": "Description", "pdf": "Subject"}
"""Metadata key for the creator of a figure, by file extension."""

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # TrueType: publishers refuse the default, Type 3
    "svg.hashsalt": "sledlab",
    "axes.formatter.use_mathtext": False,
}


def single_plot(height: float = SIZE[1]) -> tuple[Figure, Axes]:
    """Return one plot, half a page wide."""
    fig = mpl_figure.Figure(figsize=(base_width(), height), layout="constrained")
    return fig, fig.subplots()


def panels(rows: int, height: float, ratios: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Return the plots on top of each other, `height` inches in all, in the given ratios of heights."""
    fig = mpl_figure.Figure(figsize=(base_width(), height), layout="constrained")
    all_axes = fig.subplots(rows, 1, squeeze=False, height_ratios=ratios)
    return fig, list(all_axes[:, 0])


def legend(fig: Figure, names: Mapping[str, str]) -> None:
    """Draw a legend above the plots: names with their colors."""
    fig.legend(
        handles=[mpl_patches.Patch(color=color, label=name) for name, color in names.items()],
        loc="outside upper left",
        ncols=max(1, min(len(names), int(base_width() * 13 / (max(map(len, names)) + 5)))),
        frameon=False,
        handlelength=1.0,
        handleheight=1.0,
        columnspacing=1.4,
        fontsize=9,
    )


@contextmanager
def style() -> Iterator[None]:
    """Return the style of all figures as a context that suppresses warnings about missing glyphs."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def plain_ticks(axis: Axis) -> None:
    """Format ticks as plain numbers: 0.1, 1, 10,000; on a logarithmic axis set them by `log_ticks`."""
    axis.set_major_formatter(mpl_ticker.FuncFormatter(lambda value, _: _plain_number(value)))
    axis.set_minor_formatter(mpl_ticker.NullFormatter())
    if axis.get_scale() == "log":
        axis.set_major_locator(_log_locator()())
        axis.set_minor_locator(mpl_ticker.NullLocator())


def _plain_number(value: float) -> str:
    """A tick without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,g}"


@cache
def _log_locator() -> type[Locator]:
    """Return the locator of `log_ticks`; its base class is imported on first use."""

    class LogTicks(mpl_ticker.Locator):
        """Ticks of a logarithmic axis, as many as have room."""

        def __call__(self) -> list[float]:
            assert self.axis is not None
            low, high = sorted(self.axis.get_view_interval())
            return log_ticks(low, high, max(self.axis.get_tick_space(), 3))

    return LogTicks


def draw_distributions(axes: Axes, panel: Panel) -> None:
    """Draw distributions as steps, from the smallest value that the axis can show."""
    for series in panel.series:
        # The first step begins at zero.
        x, shares = [*series.x[:1], *series.x], [0.0, *(share or 0.0 for share in series.values)]
        axes.step(x, shares[: len(x)], where="post", color=series.color, linestyle=_dashes(series.dash))
    if panel.log_x:
        positive = [time for series in panel.series for time in series.x if time > 0]
        low, high = min(positive), max(positive)
        axes.set_xscale("log")
        axes.set_xlim(left=low if low < high else low / 2)
    plain_ticks(axes.xaxis)
    axes.set_ylim(0, 101)
    axes.grid(visible=True, axis="both")
    axes.set(xlabel=panel.x_name, ylabel=panel.y_name)


def _dashes(lengths: Sequence[float]) -> Any:
    """Return the style of a line with strokes and gaps of these lengths; solid without any."""
    return (0, tuple(lengths)) if lengths else "-"


def mark_median(axes: Axes, name: str, median_ms: float, color: str, *, is_left: bool) -> None:
    """Name the curve of a distribution, in its color, at its median; on its left or on its right."""
    axes.annotate(
        f"{name}\nmedian {quantity(median_ms, 'ms')}",
        (median_ms, 50),
        xytext=(-8 if is_left else 8, 8 if is_left else -8),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="bottom" if is_left else "top",
        color=color,
        fontweight="bold",
        linespacing=1.25,
    )


def value_axis(axes: Axes, values: Sequence[float]) -> None:
    """Set a y axis from 0, or a logarithmic one where values are far apart."""
    if max(values) > 10 * min(values):
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.3, max(values) * 1.3)
    else:
        axes.set_ylim(0, max(values) * 1.1)
    plain_ticks(axes.yaxis)


def scale(axes: Axes, top: float, y_label: str, x_label: str = "") -> None:
    """Set a y axis from 0 to `top` with a grid, and the labels of both axes."""
    axes.set(ylim=(0, top), ylabel=y_label, xlabel=x_label)
    axes.grid(visible=True, axis="y")


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name rows on the left, from the top down."""
    axes.set_yticks(range(len(names)), list(names), color=INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)


def label_right(
    axes: Axes,
    text: str,
    point: tuple[float, float],
    color: str = INK,
    size: float = 9,
    distance_pt: float = 6,
) -> None:
    """Write a text `distance_pt` points to the right of a place."""
    font: Any = {"va": "center", "fontsize": size, "color": color}
    axes.annotate(text, point, xytext=(distance_pt, 0), textcoords="offset points", **font)


def draw_point(
    axes: Axes, point: tuple[float, float], color: str, size: float, *, hollow: bool = False
) -> None:
    """Draw a point; a hollow one means a value not to be trusted, such as that of an overloaded run."""
    face_color = "white" if hollow else color
    axes.plot(
        point[:1],
        point[1:],
        marker="o",
        markersize=size,
        color=color,
        markerfacecolor=face_color,
        linestyle="none",
    )


def draw_line(axes: Axes, dots: Sequence[tuple[float, float, bool]], color: str, size: float) -> None:
    """Draw a line through points, each with place, value, and whether it is hollow."""
    axes.plot([place for place, *_ in dots], [value for _, value, _ in dots], color=color)
    for place, value, hollow in dots:
        draw_point(axes, (place, value), color, size, hollow=hollow)


def response_bar(name: str, mean_ms: float, suffix: str = "", *, is_overloaded: bool = False) -> Bar:
    """Return a bar of a mean response time, whose text ends with `suffix`; hollow for overloaded runs."""
    return (
        name,
        mean_ms,
        f"{quantity(mean_ms, 'ms')}{suffix}{' overloaded' if is_overloaded else ''}",
        is_overloaded,
    )


def bars(rows: Sequence[Bar], label: str, axis_ratio: float) -> Figure:
    """Return a figure of bars below each other, each with its name on the left and a text at its end."""
    fig, (axes,) = panels(1, 0.9 + row_height() * len(rows))
    bar_rows(axes, rows, label, axis_ratio)
    return fig


def row_height() -> float:
    """Return the height of a bar's row in inches: two lines of text in figures narrower than by default."""
    return 0.5 if base_width() < SIZE[0] else 0.34


def bar_rows(axes: Axes, rows: Sequence[Bar], label: str, axis_ratio: float, color: str = BLUE) -> None:
    """Draw bars below each other, each with its name on the left and a text at its end.

    Args:
        axes: The axes to draw on.
        rows: The bars, from the top.
        label: Name of the values, with their unit.
        axis_ratio: Width of the axis, as a multiple of the longest bar; texts use the remaining width.
        color: Color of the bars.
    """
    if base_width() < SIZE[0]:
        rows = [
            (fill(name, NARROW), value, fill(text, NARROW), is_hollow)
            for name, value, text, is_hollow in rows
        ]
    values = [value for _, value, _, _ in rows]
    face_colors = ["white" if hollow else color for *_, hollow in rows]
    axes.barh(range(len(rows)), values, height=0.62, color=face_colors, edgecolor=color)
    for place, (_, value, text, _) in enumerate(rows):
        label_right(axes, text, (value, place))
    name_rows(axes, [name for name, *_ in rows])
    axes.set_xlabel(label)
    bar_axis(axes, values, axis_ratio)


def bar_axis(axes: Axes, values: Sequence[float], axis_ratio: float) -> None:
    """Set the x axis of bars: logarithmic where their values are more than `LOG_RATIO` apart.

    Args:
        axes: The axes with the bars.
        values: The values of the bars.
        axis_ratio: Width of the axis, as a multiple of the longest bar.
    """
    positive = [value for value in values if value > 0]
    if not positive or max(positive) <= LOG_RATIO * min(positive):
        axes.set_xlim(0, max(values, default=1.0) * axis_ratio)
        return
    low = round_down(min(positive) / 2)
    axes.set_xscale("log")
    axes.set_xlim(low, low * (max(positive) / low) ** axis_ratio)
    plain_ticks(axes.xaxis)
    axes.set_xlabel(f"{axes.get_xlabel()}, logarithmic scale")


def name_ends(fig: Figure, axes: Axes, place: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names at the right ends of lines, moved apart; `ends` has height, name and color of each."""
    fig.draw_without_rendering()
    box = axes.get_window_extent()
    to_points = 72 / fig.dpi
    heights_pt = [(axes.transData.transform((place, value))[1] - box.y0) * to_points for value, *_ in ends]
    labels_pt = spread_heights(heights_pt, NAME_PT, box.height * to_points)
    for (value, name, color), line_pt, label_pt in zip(ends, heights_pt, labels_pt, strict=True):
        axes.annotate(
            name,
            (place, value),
            xytext=(10, label_pt - line_pt),
            textcoords="offset points",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=color,
        )


def spread_heights(heights: Sequence[float], distance: float, maximum: float) -> list[float]:
    """Heights moved as little as needed to be `distance` apart, within 0 and `maximum`.

    Examples:
        >>> spread_heights([10, 12, 50], 10, 100)
        [6.0, 16.0, 50.0]
    """
    blocks: list[tuple[float, list[int]]] = []
    for index in sorted(range(len(heights)), key=lambda index: (heights[index], -index)):
        blocks.append((_middle([index], heights, distance, maximum), [index]))
        while len(blocks) > 1 and _gap(blocks[-2], blocks[-1], distance) < 0:
            joined = blocks[-2][1] + blocks[-1][1]
            blocks[-2:] = [(_middle(joined, heights, distance, maximum), joined)]
    positions = [0.0] * len(heights)
    for middle, indices in blocks:
        for rank, index in enumerate(indices):
            positions[index] = middle + (rank - (len(indices) - 1) / 2) * distance
    return positions


def _middle(indices: Sequence[int], heights: Sequence[float], distance: float, maximum: float) -> float:
    """Return the middle of a block of names: the mean height of their lines, kept within bounds."""
    mean = sum(heights[index] for index in indices) / len(indices)
    half = (len(indices) - 1) * distance / 2
    return min(max(mean, half), max(maximum - half, half))


def _gap(lower: tuple[float, list[int]], upper: tuple[float, list[int]], distance: float) -> float:
    """Return the room between two blocks of names; negative where they overlap."""
    return upper[0] - lower[0] - (len(lower[1]) + len(upper[1])) * distance / 2


def finish_figure(figure: Figure, creator: str) -> Figure:
    """Return the figure with texts of sufficient contrast.

    Files that it is saved to name `creator` in their metadata, unless overridden.
    """
    for text in figure.findobj(mpl_text.Text):
        text.set_color(text_color(mpl_colors.to_hex(text.get_color())))
    figure.savefig = partial(_save, figure.savefig, creator)  # type: ignore[method-assign]
    return figure


def _save(save: Callable[..., None], creator: str, file: Any, *, format: str = "", **options: Any) -> None:
    """Save a figure with `creator` in the metadata key of its kind of file."""
    extension = Path(file).suffix.removeprefix(".") if isinstance(file, (str, Path)) else ""
    file_format = format or extension or "png"
    if key := METADATA.get(file_format):
        options["metadata"] = {key: creator, **(options.get("metadata") or {})}
    save(file, **({"format": format} if format else {}), **options)


def to_svg(figure: Figure, title: str) -> str:
    """Return the figure as an SVG element for a page, with the same bytes each time."""
    out = StringIO()
    with style():
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": title})
    text = visible(out.getvalue())
    return text[text.index("<svg") :].replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
