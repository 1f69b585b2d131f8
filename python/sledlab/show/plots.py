"""Shared by all figures: colors, style, bars, names of lines, plots on top of each other, saving.

Colors are those of Okabe and Ito, which color-blind readers can distinguish, also in grayscale; lines
are labeled where they end, or in a legend where their names are long (`figure_fit`).
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sledlab.errors import unknown
from sledlab.lazy import matplotlib, mpl_colors, mpl_figure, mpl_lines, mpl_patches, mpl_text
from sledlab.show.axis_ticks import place_ticks, plain_ticks
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
    color_places,
    text_color,
)
from sledlab.show.ticks import round_down
from sledlab.show.widths import SIZE, base_width, figure_height
from sledlab.show.wording import quantity
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch


Bar = tuple[str, float, str, bool]
"""A bar: its name, its value, the text at its end, and whether it is hollow."""

LINES = (SKY, BLUE, INK, PURPLE, VERMILION, GREEN, AMBER, QUIET)
"""Colors of lines for values in rising order."""

LINE_STYLES: Sequence[tuple[str, Any, str]] = (
    (BLUE, "-", "o"),
    (VERMILION, (0, (5, 1.5)), "s"),
    (GREEN, (0, (1.2, 1.2)), "^"),
    (PURPLE, (0, (5, 1.5, 1.2, 1.5)), "D"),
    (SKY, (0, (3, 1)), "v"),
    (AMBER, (0, (8, 1.5)), "P"),
)
"""Color, dashes and marker of each line with a name, which differ without color too."""

LINE_END, ROW_END, ROW_HEADING, CELL = "name of a line", "text of a row", "heading", "value of a cell"
"""Labels of texts that `figure_fit` arranges: at the ends of lines and rows, above rows, and in heat maps."""

LOG_RATIO = 100
"""Values that span more than this ratio have a logarithmic axis; in place of bars, dots."""

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


P = TypeVar("P")


def find_panel(panels: Mapping[str, P], name: str) -> P:
    """Return a panel of a result by its name.

    Raises:
        Error: There is no such panel.
    """
    if name not in panels:
        raise unknown("panel", name, list(panels))
    return panels[name]


def single_plot(height: float = SIZE[1]) -> tuple[Figure, Axes]:
    """Return one plot, half a page wide."""
    fig = empty_figure(height)
    return fig, fig.subplots()


def empty_figure(height: float, rows: int = 0) -> Figure:
    """Return a figure of the chosen width without plots, see `figure_height` for the arguments."""
    return mpl_figure.Figure(figsize=(base_width(), figure_height(height, rows)), layout="constrained")


def panels(
    count: int, height: float, ratios: Sequence[float] | None = None, rows: int = 0
) -> tuple[Figure, list[Axes]]:
    """Return plots on top of each other.

    Args:
        count: Number of plots.
        height: Height of the figure in inches.
        ratios: Ratios of the heights of the plots.
        rows: Number of rows with names in all plots.
    """
    fig = empty_figure(height, rows)
    all_axes = fig.subplots(count, 1, squeeze=False, height_ratios=ratios)
    return fig, list(all_axes[:, 0])


def legend(fig: Figure, names: Mapping[str, Any]) -> None:
    """Draw a legend above the plots, in as many columns as have room.

    Args:
        fig: The figure.
        names: The color, or the line, that each name stands for.
    """
    handles = {
        name: mpl_patches.Patch(color=each) if isinstance(each, str) else each for name, each in names.items()
    }
    is_of_lines = any(isinstance(each, mpl_lines.Line2D) for each in handles.values())
    handle_em = 2.8 if is_of_lines else 1.0
    column_in = max(text_width(fig, name) for name in names) + (handle_em + 2.4) * 9 / 72
    fig.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper left",
        ncols=max(1, min(len(names), int(fig.get_figwidth() / column_in))),
        frameon=False,
        handlelength=handle_em,
        handleheight=1.0,
        columnspacing=1.4,
        fontsize=9,
    )


def text_width(fig: Figure, text: str, size: float = 9) -> float:
    """Return the width of a text in a figure, in inches."""
    drawn_text = fig.text(0, 0, text, fontsize=size)
    width = drawn_text.get_window_extent().width / fig.dpi
    drawn_text.remove()
    return float(width)


@contextmanager
def style() -> Iterator[None]:
    """Return the style of all figures as a context that suppresses warnings about missing glyphs."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def color_bar(fig: Figure, image: ScalarMappable, axes: Axes | Sequence[Axes], label: str) -> None:
    """Draw the scale of the colors of an image on the right of axes."""
    bar = fig.colorbar(image, ax=axes, pad=0.02)
    bar.outline.set_visible(False)
    plain_ticks(bar.ax.yaxis)
    place_ticks(bar.ax.yaxis)
    bar.set_label(label, color=QUIET)


def value_axis(axes: Axes, values: Sequence[float]) -> None:
    """Set a y axis from 0, or a logarithmic one where values are far apart."""
    if max(values) > 10 * min(values) > 0:
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.3, max(values) * 1.3)
    else:
        axes.set_ylim(0, max(values, default=1.0) * 1.1 or 1.0)
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
    """Write a text `distance_pt` points to the right of the end of a row."""
    font: Any = {"va": "center", "fontsize": size, "color": color, "label": ROW_END}
    axes.annotate(text, point, xytext=(distance_pt, 0), textcoords="offset points", **font)


def frame(x: float, y: float, width: float, height: float, color: str) -> Patch:
    """Return the frame of a rectangle."""
    return mpl_patches.Rectangle((x, y), width, height, fill=False, edgecolor=color, linewidth=1.6)


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


def plot_line(
    axes: Axes, x: Sequence[float], y: Sequence[float], style: tuple[str, Any, str], name: str = ""
) -> None:
    """Draw a line with color, dashes and marker; a legend calls it `name`."""
    color, dashes, marker = style
    axes.plot(x, y, color=color, linestyle=dashes, marker=marker, markersize=4, label=name)


def draw_line(
    axes: Axes, dots: Sequence[tuple[float, float, bool]], style: tuple[str, Any, str], name: str = ""
) -> None:
    """Draw a line through points, each with place, value, and whether it is hollow."""
    plot_line(axes, [place for place, *_ in dots], [value for _, value, _ in dots], style, name)
    color, _, marker = style
    hollow_dots = [(place, value) for place, value, is_hollow in dots if is_hollow]
    hollow: Any = {"color": color, "marker": marker, "markersize": 4, "markerfacecolor": "white"}
    axes.plot(*zip(*hollow_dots, strict=True) if hollow_dots else ((), ()), linestyle="none", **hollow)


def response_bar(name: str, mean_ms: float, suffix: str = "", *, is_overloaded: bool = False) -> Bar:
    """Return a bar of a mean response time, whose text ends with `suffix`; hollow for overloaded runs."""
    return (
        name,
        mean_ms,
        f"{quantity(mean_ms, 'ms')}{suffix}{' overloaded' if is_overloaded else ''}",
        is_overloaded,
    )


def bars(rows: Sequence[Bar], label: str) -> Figure:
    """Return a figure of bars below each other, each with its name on the left and a text at its end."""
    fig, (axes,) = panels(1, 0.9 + row_height() * len(rows), rows=len(rows))
    bar_rows(axes, rows, label)
    return fig


def row_height() -> float:
    """Return the height of a bar's row in inches: two lines of text in figures narrower than by default."""
    return 0.5 if base_width() < SIZE[0] else 0.34


def bar_rows(axes: Axes, rows: Sequence[Bar], label: str, color: str = BLUE) -> None:
    """Draw bars below each other, each with its name on the left and a text at its end.

    Args:
        axes: The axes to draw on.
        rows: The bars, from the top.
        label: Name of the values, with their unit.
        color: Color of the bars.
    """
    axes.set_xlabel(label)
    draw_values(axes, [(place, value, hollow) for place, (_, value, _, hollow) in enumerate(rows)], color)
    for place, (_, value, text, _) in enumerate(rows):
        label_right(axes, text, (value, place))
    name_rows(axes, [name for name, *_ in rows])


def draw_values(axes: Axes, rows: Sequence[tuple[float, float, bool]], color: str = BLUE) -> None:
    """Draw bars from zero, or dots on a logarithmic axis, where the length of a bar would mean nothing.

    Args:
        axes: The axes to draw on; the label of the x axis gets the kind of its scale.
        rows: Place, value, and whether it is hollow, of each. Dots where values are `LOG_RATIO` apart.
        color: Color of all.
    """
    positive = [value for _, value, _ in rows if value > 0]
    if not positive or max(positive) <= LOG_RATIO * min(positive):
        places, values = [place for place, *_ in rows], [value for _, value, _ in rows]
        face_colors = ["white" if hollow else color for *_, hollow in rows]
        axes.barh(places, values, height=0.62, color=face_colors, edgecolor=color)
        axes.set_xlim(0, max(values, default=1.0) or 1.0)
        return
    for place, value, is_hollow in rows:
        if value > 0:
            draw_point(axes, (value, place), color, 6, hollow=is_hollow)
    axes.set_xscale("log")
    axes.set_xlim(round_down(min(positive) / 1.2), max(positive) * (max(positive) / min(positive)) ** 0.03)
    plain_ticks(axes.xaxis)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel(f"{axes.get_xlabel()}, logarithmic scale")


def name_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names at the right ends of lines; `ends` has height, name and color of each.

    `figure_fit` moves them apart; a name that is moved gets a thin line to the end of its line.
    """
    for value, name, color in ends:
        arrow: Any = {"arrowstyle": "-", "color": color, "linewidth": 0.6, "relpos": (0, 0.5)}
        axes.annotate(
            name,
            (1.0, value),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=color,
            annotation_clip=False,
            arrowprops={**arrow, "shrinkA": 1, "shrinkB": 0},
            label=LINE_END,
        )


def line_styles(names: Sequence[str]) -> list[tuple[str, Any, str]]:
    """Return color, dashes and marker of each name, for as many names as have one."""
    return [LINE_STYLES[place] for place in color_places(names[: len(LINE_STYLES)])]


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
