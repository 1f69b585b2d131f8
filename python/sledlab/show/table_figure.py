"""A column of a table over one or two others: lines with 95 % bands, a heat map, or points by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.lazy import numpy as np
from sledlab.show import plots
from sledlab.show.palette import GRAY, PALETTE, color_places
from sledlab.show.widths import base_width
from sledlab.show.wording import figure as number
from sledlab.show.wording import model_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

INTERVALS = {"mean_ms": "mean_ci95_ms", "scv": "scv_ci95", "energy_j": "energy_ci95_j"}
"""Column with half the 95 % confidence interval over seeds, by the column that it belongs to."""

MAX_COLORED = len(PALETTE["series"])
"""Most lines with a color of their own; further ones are gray."""

CHARACTER_IN = 0.075
"""Mean width of a character in inches."""

MAX_NAME_SHARE = 0.3
"""Largest share of a figure's width for names at the ends of lines; longer names are in a legend."""

LOG_RATIO = 100
"""Values that span more than this ratio have a logarithmic axis."""


def draw(
    rows: Sequence[Row], x: Sequence[str], y: str, keys: Sequence[str], label: Callable[[str], str]
) -> Figure:
    """Draw a column of a table.

    Args:
        rows: The rows of the table, by column.
        x: One column for lines, or two for a heat map.
        y: The column that is drawn, with numbers.
        keys: Columns that identify a row; those that vary in addition to `x` give a line each.
        label: Returns the label of an axis by its column.

    Raises:
        Error: There is no such column, its values are no numbers, or a cell of a heat map has several values.
    """
    for name in (*x, y):
        if name not in rows[0]:
            raise unknown("column", name, list(rows[0]))
    if not all(_is_number(row[y]) or row[y] is None for row in rows):
        raise Error(f"the column `{y}` has no numbers", remedy="choose another column with --y")
    varying = [key for key in keys if key not in x and len({row[key] for row in rows}) > 1]
    if len(x) == 2:
        return _heat_map(rows, x, y, varying, label)
    return _lines(rows, x[0], y, varying, label)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _lines(
    rows: Sequence[Row], x: str, y: str, varying: Sequence[str], label: Callable[[str], str]
) -> Figure:
    steady = _steady_rows(rows, y)
    omitted_count, rows = len(rows) - len(steady), steady
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(", ".join(_setting(key, row[key]) for key in varying), []).append(row)
    names = list(dict.fromkeys(row[x] for row in rows))
    is_numeric = all(_is_number(name) for name in names)
    fig, axes = plots.single_plot()
    ends = []
    places = color_places(list(groups)[:MAX_COLORED])
    for index, (name, group) in enumerate(groups.items()):
        points = [(row[x] if is_numeric else names.index(row[x]), row) for row in group if row[y] is not None]
        points.sort(key=lambda point: point[0])
        color = PALETTE["series"][places[index]] if index < MAX_COLORED else GRAY
        _line(axes, points, y, color, is_connected=is_numeric)
        if points and name and color != GRAY:
            ends.append((points[-1][1][y], name, color))
    values = [row[y] for row in rows if row[y] is not None]
    _scale_values(axes, values)
    if is_numeric:
        _scale_positions(axes, names)
    else:
        axes.set_xticks(range(len(names)), [str(name) for name in names])
    axes.set(xlabel=label(x), ylabel=label(y))
    axes.grid(visible=True, axis="y")
    if omitted_count:
        axes.set_title(
            f"{omitted_count} overloaded {'run' if omitted_count == 1 else 'runs'} omitted",
            loc="right",
            fontsize=9,
        )
    if max((len(name) for _, name, _ in ends), default=0) * CHARACTER_IN > MAX_NAME_SHARE * base_width():
        plots.legend(fig, {name: color for _, name, color in ends})
    else:
        plots.name_ends(fig, axes, max(names) if is_numeric else len(names) - 1, ends)
    return fig


def _steady_rows(rows: Sequence[Row], y: str) -> Sequence[Row]:
    """Return the rows without overloaded runs, if the column depends on the length of such a run."""
    if not _depends_on_length(y):
        return rows
    return [row for row in rows if not row.get("saturated")] or rows


def _depends_on_length(y: str) -> bool:
    """Return whether the values of a column depend on the length of an overloaded run."""
    return y.endswith("_ms") or y.startswith(("scv", "queue_"))


def _setting(key: str, value: Any) -> str:
    if not _is_number(value):
        return str(value)
    return f"{model_label(key)} {number(value) if isinstance(value, float) else value}"


def _line(axes: Axes, points: Sequence[tuple[float, Row]], y: str, color: str, *, is_connected: bool) -> None:
    """Draw a line with its 95 % band; overloaded points are hollow."""
    positions, values = [place for place, _ in points], [row[y] for _, row in points]
    order = 1.5 if color == GRAY else 3.0
    axes.plot(positions, values, color=color, linestyle="-" if is_connected else "", zorder=order)
    if color == GRAY:
        return
    interval = INTERVALS.get(y, "")
    halves = [row.get(interval) if row.get("seeds", 1) > 1 else None for _, row in points]
    if all(half is not None for half in halves) and halves:
        low = [value - (half or 0.0) for value, half in zip(values, halves, strict=True)]
        high = [value + (half or 0.0) for value, half in zip(values, halves, strict=True)]
        axes.fill_between(positions, low, high, color=color, alpha=0.18, linewidth=0)
    for (place, row), value in zip(points, values, strict=True):
        plots.draw_point(axes, (place, value), color, 4.5, hollow=bool(row.get("saturated")))


def _scale_values(axes: Axes, values: Sequence[float]) -> None:
    positive = [value for value in values if value > 0]
    if positive and len(positive) == len(values) and max(positive) > LOG_RATIO * min(positive):
        axes.set_yscale("log")
    elif min(values, default=0.0) >= 0:
        axes.set_ylim(0, max(values, default=1.0) * 1.08 or 1.0)
    plots.plain_ticks(axes.yaxis)


def _scale_positions(axes: Axes, positions: Sequence[float]) -> None:
    if min(positions) > 0 and max(positions) > 10 * min(positions):
        axes.set_xscale("log")
    plots.plain_ticks(axes.xaxis)


def _heat_map(
    rows: Sequence[Row], x: Sequence[str], y: str, varying: Sequence[str], label: Callable[[str], str]
) -> Figure:
    if varying:
        keys_text = ", ".join(f"`{key}`" for key in varying)
        raise Error(
            f"a heat map over `{x[0]}` and `{x[1]}` has several values for a cell: {keys_text} vary too",
            remedy="draw lines over one of them, with a single --x",
        )
    columns, lines = ([*dict.fromkeys(row[name] for row in rows)] for name in x)
    cells = np.full((len(lines), len(columns)), np.nan)
    overloaded = []
    for row in rows:
        cell = lines.index(row[x[1]]), columns.index(row[x[0]])
        if row.get("saturated"):
            overloaded.append(cell)
        if row[y] is not None and not (row.get("saturated") and _depends_on_length(y)):
            cells[cell] = row[y]
    fig, axes = plots.single_plot()
    image = axes.imshow(cells, cmap="cividis_r", aspect="auto", origin="lower")
    for (line, column), value in np.ndenumerate(cells):
        if not np.isnan(value):
            share = (value - np.nanmin(cells)) / (np.nanmax(cells) - np.nanmin(cells) or 1.0)
            text_color = "white" if share > 0.5 else "black"
            axes.text(
                column, line, number(float(value)), ha="center", va="center", fontsize=9, color=text_color
            )
    for line, column in overloaded:
        axes.fill_between(
            [column - 0.5, column + 0.5],
            line - 0.5,
            line + 0.5,
            facecolor="none",
            edgecolor=GRAY,
            hatch="///",
        )
    if overloaded:
        axes.set_title("hatched: overloaded", loc="right", fontsize=9)
    axes.set_xticks(range(len(columns)), [str(each) for each in columns])
    axes.set_yticks(range(len(lines)), [str(each) for each in lines])
    axes.set(xlabel=label(x[0]), ylabel=label(x[1]))
    fig.colorbar(image, ax=axes, label=label(y)).outline.set_visible(False)
    return fig
