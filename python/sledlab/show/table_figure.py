"""A column of a table over one or two others: lines with 95 % bands, heat maps, or points by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import mpl_colors
from sledlab.lazy import numpy as np
from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.model_names import setting_value
from sledlab.show.palette import GRAY, INK, QUIET
from sledlab.show.ticks import tick_text
from sledlab.show.widths import SIZE, figure_height
from sledlab.show.wording import figure as number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

MAX_PLACES = 8
"""Most values of x that all have a tick."""

COLOR_RATIO = 10
"""Values that span more than this ratio have a logarithmic scale of colors."""

MAX_MULTIPLES = 4
"""Most small multiples side by side."""

MULTIPLE_IN = 1.5
"""Least width of a small multiple in inches."""

HIGHER_IS_BETTER = ("throughput", "battery", "hit_", "mw_saved")
LOWER_IS_BETTER = ("_ms", "_s", "_j", "_mj", "_uj", "_usd", "_w", "scv", "queue_mean")
"""Beginnings and ends of the names of measures of which the best value is known."""


@dataclass(frozen=True)
class TableFigure:
    """A column of a table, to be drawn.

    Attributes:
        rows: The rows of the table, by column.
        x: One column for lines, or two for a heat map.
        y: The column that is drawn, with numbers.
        varying: Columns that vary in addition to `x`: those give a line, or a small multiple, each.
        label: Returns the label of an axis by its column.
        halves: Half the 95 % interval of the value of each row, by the position of the row.
    """

    rows: Sequence[Row]
    x: Sequence[str]
    y: str
    varying: Sequence[str]
    label: Callable[[str], str]
    halves: Mapping[int, float] = field(default_factory=dict)

    def draw(self) -> Figure:
        """Draw the figure.

        Raises:
            Error: The column has no numbers, or a cell of a heat map has several values.
        """
        if not all(is_number(row[self.y]) or row[self.y] is None for row in self.rows):
            raise Error(f"the column `{self.y}` has no numbers", remedy="choose another column with --y")
        return _heat_maps(self) if len(self.x) == 2 else _lines(self)


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and not a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _lines(table: TableFigure) -> Figure:
    """Draw a line for each combination of the values that vary; only points where x has names."""
    x, y = table.x[0], table.y
    rows = [(index, row) for index, row in enumerate(table.rows) if not _is_hidden(row, y, table.rows)]
    groups: dict[str, list[tuple[int, Row]]] = {}
    for index, row in rows:
        groups.setdefault(", ".join(setting(key, row[key]) for key in table.varying), []).append((index, row))
    names = list(dict.fromkeys(row[x] for row in table.rows))
    is_numeric = all(is_number(name) for name in names)
    fig, axes = plots.single_plot()
    ends, tops = [], []
    styles = dict(zip(groups, plots.line_styles(list(groups)), strict=False))
    for position, (name, group) in enumerate(groups.items()):
        style = styles.get(name, (GRAY, "-", ""))
        shift = 0.0 if is_numeric else 0.1 * (position - (len(groups) - 1) / 2)
        points = [
            (row[x] if is_numeric else names.index(row[x]) + shift, row[y], table.halves.get(index), row)
            for index, row in group
            if row[y] is not None
        ]
        points.sort(key=lambda point: point[0])
        _line(axes, points, style, name, is_connected=is_numeric)
        tops += [value + (half or 0.0) for _, value, half, _ in points]
        if points and name and style[0] != GRAY:
            ends.append((points[-1][1], name, style[0]))
    _scale_values(axes, [row[y] for _, row in rows if row[y] is not None], max(tops, default=1.0))
    _scale_places(axes, x, names, is_numeric=is_numeric)
    axes.set(xlabel=table.label(x), ylabel=table.label(y))
    axes.grid(visible=True, axis="y")
    if omitted := len(table.rows) - len(rows):
        text = f"{omitted} overloaded {'run' if omitted == 1 else 'runs'} omitted"
        axes.set_title(text, loc="right", fontsize=9, color=QUIET)
    plots.name_ends(axes, ends)
    return fig


def _is_hidden(row: Row, y: str, rows: Sequence[Row]) -> bool:
    """Return whether a row is omitted: it is overloaded and its value depends on the length of the run."""
    has_steady_rows = not all(each.get("saturated") for each in rows)
    return bool(row.get("saturated")) and depends_on_length(y) and has_steady_rows


def depends_on_length(y: str) -> bool:
    """Return whether the values of a column depend on the length of an overloaded run."""
    return y.endswith("_ms") or y.startswith(("scv", "queue_"))


def setting(key: str, value: Any) -> str:
    """Return a value of a column as a name: with its key if it is a number.

    Examples:
        >>> setting("device.active_tips", 1280), setting("scheduler", "sptf")
        ('active_tips = 1,280', 'SPTF')
    """
    text = setting_value(key, value)
    return f"{key.rpartition('.')[2]} = {text}" if is_number(value) else text


def _line(
    axes: Axes,
    points: Sequence[tuple[float, float, float | None, Row]],
    style: tuple[str, Any, str],
    name: str,
    *,
    is_connected: bool,
) -> None:
    """Draw a line with its 95 % band, or points with their intervals; overloaded points are hollow."""
    color, dashes, marker = style
    places, values = [place for place, *_ in points], [value for _, value, *_ in points]
    options: Any = {
        "color": color,
        "zorder": 1.5 if color == GRAY else 3.0,
        "marker": marker,
        "markersize": 4.2,
    }
    axes.plot(places, values, linestyle=dashes if is_connected else "", label=name, **options)
    hollow = [(place, value) for place, value, _, row in points if row.get("saturated")]
    if hollow and marker:
        axes.plot(*zip(*hollow, strict=True), linestyle="", markerfacecolor="white", **options)
    halves = [half for _, _, half, _ in points]
    if color == GRAY or not points or any(half is None for half in halves):
        return
    if is_connected:
        low, high = (
            [value + sign * (half or 0.0) for value, half in zip(values, halves, strict=True)]
            for sign in (-1, 1)
        )
        axes.fill_between(places, low, high, color=color, alpha=0.18, linewidth=0)
    else:
        errors: Any = halves
        axes.errorbar(places, values, yerr=errors, linestyle="", color=color, linewidth=1, capsize=2)


def _scale_values(axes: Axes, values: Sequence[float], top: float) -> None:
    """Set the y axis, with room for the intervals above the values."""
    positive = [value for value in values if value > 0]
    if positive and len(positive) == len(values) and max(positive) > plots.LOG_RATIO * min(positive):
        axes.set_yscale("log")
    elif min(values, default=0.0) >= 0:
        axes.set_ylim(0, top * 1.08 or 1.0)
    plain_ticks(axes.yaxis)


def _scale_places(axes: Axes, key: str, places: Sequence[Any], *, is_numeric: bool) -> None:
    """Set the x axis: numbers, logarithmic where they are far apart, or names."""
    if not is_numeric:
        axes.set_xticks(range(len(places)), [setting_value(key, place) for place in places])
        axes.set_xlim(-0.5, len(places) - 0.5)
        return
    is_log = min(places) > 0 and max(places) > 10 * min(places)
    axes.set_xscale("log" if is_log else "linear")
    low, high = min(places), max(places)
    margin = (high / low) ** 0.04 if is_log else (high - low) * 0.04 or 0.5
    axes.set_xlim((low / margin, high * margin) if is_log else (low - margin, high + margin))
    plain_ticks(axes.xaxis)
    if len(places) <= MAX_PLACES:
        ticks = sorted(places)
        axes.set_xticks(ticks, [tick_text(tick) for tick in ticks])


def _heat_maps(table: TableFigure) -> Figure:
    """Draw a heat map; a small multiple for each value where one more column varies."""
    if len(table.varying) > 1:
        keys_text = ", ".join(f"`{key}`" for key in table.varying)
        example = f"--where {table.varying[-1]}={table.rows[0][table.varying[-1]]}"
        raise Error(
            f"a heat map over `{table.x[0]}` and `{table.x[1]}` has several values for a cell: "
            f"{keys_text} vary",
            remedy=f"choose one value of all but one of them, such as {example}",
        )
    key = table.varying[0] if table.varying else ""
    parts = list(dict.fromkeys(row[key] for row in table.rows)) if key else [None]
    places = [sorted(dict.fromkeys(row[name] for row in table.rows), key=_order) for name in table.x]
    values = [
        row[table.y]
        for row in table.rows
        if row[table.y] is not None and not _is_hidden(row, table.y, table.rows)
    ]
    norm = _norm(values)
    fig = plots.empty_figure(SIZE[1])
    columns = min(len(parts), MAX_MULTIPLES, max(int(fig.get_figwidth() / MULTIPLE_IN), 1))
    lines = -(-len(parts) // columns)
    fig.set_figheight(figure_height(max(SIZE[1], 1.4 * lines + 0.8)))
    grid = fig.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    for axes, part in zip(grid.flat, parts, strict=False):
        rows = [row for row in table.rows if not key or row[key] == part]
        _heat_map(axes, table, rows, places, norm)
        axes.set_title(setting(key, part) if key else "", fontsize=9)
    for axes in grid.flat[len(parts) :]:
        axes.axis("off")
    for axes in grid[:, 0]:
        axes.set_ylabel(table.label(table.x[1]) if lines == 1 else "")
    if lines > 1:
        fig.supylabel(table.label(table.x[1]), fontsize=9, color=QUIET)
    _name_columns(fig, table, grid)
    _color_bar(fig, grid, table)
    return fig


def _name_columns(fig: Figure, table: TableFigure, grid: Any) -> None:
    """Label the x axis once."""
    if grid.shape[1] > 1:
        fig.supxlabel(table.label(table.x[0]), fontsize=9, color=QUIET)
    else:
        grid[-1, 0].set_xlabel(table.label(table.x[0]))


def _order(value: Any) -> tuple[bool, Any]:
    """Return the key that sorts numbers before names."""
    return (not is_number(value), value if is_number(value) else str(value))


def _norm(values: Sequence[float]) -> Any:
    """Return the scale of colors, logarithmic where values are far apart."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    is_wide = low > 0 and high > COLOR_RATIO * low
    high = high if high > low else low + 1.0
    return mpl_colors.LogNorm(low, high) if is_wide else mpl_colors.Normalize(low, high)


def _heat_map(axes: Axes, table: TableFigure, rows: Sequence[Row], places: Sequence[Any], norm: Any) -> None:
    """Draw a heat map with the value in each cell, the best one framed, and overloaded ones hatched."""
    columns, lines = places
    cells = np.full((len(lines), len(columns)), np.nan)
    overloaded = []
    for row in rows:
        cell = lines.index(row[table.x[1]]), columns.index(row[table.x[0]])
        if row.get("saturated"):
            overloaded.append(cell)
        if row[table.y] is not None and not (row.get("saturated") and depends_on_length(table.y)):
            cells[cell] = row[table.y]
    axes.imshow(cells, cmap="cividis_r", norm=norm, aspect="auto", origin="lower")
    steady_cells = cells.copy()
    for cell in overloaded:
        steady_cells[cell] = np.nan
    best_cells = _best_cells(steady_cells, table.y)
    for (line, column), value in np.ndenumerate(cells):
        if not np.isnan(value):
            weight = "bold" if (line, column) in best_cells else "normal"
            color = "white" if norm(value) > 0.5 else "black"
            style: Any = {"ha": "center", "va": "center", "fontsize": 9, "color": color, "fontweight": weight}
            axes.text(column, line, number(float(value)), label=plots.CELL, **style)
    for line, column in overloaded:
        sides = [column - 0.5, column + 0.5], line - 0.5, line + 0.5
        axes.fill_between(*sides, facecolor="none", edgecolor=GRAY, hatch="///", linewidth=0)
    for line, column in best_cells:
        axes.add_patch(plots.frame(column - 0.46, line - 0.46, 0.92, 0.92, INK))
    x, y = table.x
    axes.set_xticks(range(len(columns)), [setting_value(x, each) for each in columns])
    axes.set_yticks(range(len(lines)), [setting_value(y, each) for each in lines])
    axes.tick_params(length=0)


def _best_cells(cells: Any, y: str) -> set[tuple[int, int]]:
    """Return the cells with the best value; none where it is not known what is better, or all are equal."""
    is_higher_better = y.startswith(HIGHER_IS_BETTER)
    has_order = is_higher_better or y.endswith(LOWER_IS_BETTER)
    if not has_order or np.isnan(cells).all() or np.nanmin(cells) == np.nanmax(cells):
        return set()
    best = np.nanmax(cells) if is_higher_better else np.nanmin(cells)
    return {(int(line), int(column)) for line, column in np.argwhere(cells == best)}


def _color_bar(fig: Figure, grid: Any, table: TableFigure) -> None:
    """Draw the scale of colors on the right, and the meaning of frames and hatches in its label."""
    image = next(axes.images[0] for axes in grid.flat if axes.images)
    notes = ["framed: best"] if any(axes.patches for axes in grid.flat) else []
    if any(row.get("saturated") for row in table.rows):
        notes.append("hatched: overloaded")
    label = "\n".join(filter(None, (table.label(table.y), ", ".join(notes))))
    plots.color_bar(fig, image, list(grid.flat), label)
