"""A column of a study's tables drawn over one or two of its axes."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error, unknown
from sledlab.show import plots, table_figure
from sledlab.show.presentation import creator
from sledlab.show.widths import at_width, base_width, fit_width
from sledlab.show.wording import model_label
from sledlab.study.columns import columns, records
from sledlab.study.statistics import SeedMeans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.study.columns import Column, Row

UNITS = {"1024 bytes": "KiB", "2^20 bytes": "MiB"}
"""Units of columns as axes and tables show them."""


class StudyTables(Protocol):
    """The outcome of a study: typed rows by table, their classes, and the values of its axes."""

    @property
    def rows(self) -> Mapping[str, Sequence[Row]]:
        """The rows of each table."""

    @property
    def kinds(self) -> Mapping[str, type]:
        """The class of the rows of each table."""

    @property
    def axes(self) -> Mapping[str, Any]:
        """The values of each axis."""


def plot_columns(results: StudyTables, y: str, x: Sequence[str], width: str | None) -> Figure:
    """Draw a column of the first table that has it: over one column as lines, over two as a heat map.

    Args:
        results: The outcome of a study.
        y: The column that is drawn.
        x: Columns of the x axis, or of both axes of a heat map; by default the first axis with numbers.
        width: The width of the figure, see `at_width`.

    Raises:
        Error: No table has these columns, or they cannot be drawn.
    """
    tables = {name: records(rows) for name, rows in results.rows.items() if rows}
    # A table with a row for each seed is drawn only if no table has means over the seeds.
    names = sorted(tables, key=lambda name: "seed" in tables[name][0])
    matching = [name for name in names if {y, *x} <= tables[name][0].keys()]
    if not matching:
        columns_of_all = dict.fromkeys(column for name in names for column in tables[name][0])
        unknown_name = next((name for name in (y, *x) if name not in columns_of_all), None)
        if unknown_name is not None:
            raise unknown("column", unknown_name, list(columns_of_all))
        raise Error(f"no table has all of {', '.join((y, *x))}", remedy="choose columns of one table")
    rows, kind = tables[matching[0]], results.kinds[matching[0]]
    keys = _keys(rows[0], results.axes)
    columns_by_name = columns(kind)

    def label(name: str) -> str:
        return column_label(name, columns_by_name[name]) if name in columns_by_name else name

    with plots.style(), at_width(width):
        figure = table_figure.draw(rows, x or [_default_x(rows, keys)], y, keys, label)
        if width is not None:
            fit_width(figure, base_width())
        return plots.finish_figure(figure, creator(results))


def _keys(row: dict[str, Any], axes: Mapping[str, Any]) -> list[str]:
    """Return the columns that identify a row: axes, varied settings, and the texts and counts in front."""
    measures = columns(SeedMeans)
    leading = takewhile(
        lambda name: name in axes or (name not in measures and not isinstance(row[name], float)), row
    )
    axis_columns = [name for name in row if name in axes or "." in name]
    return [name for name in dict.fromkeys((*leading, *axis_columns)) if name not in ("seed", "label")]


def _default_x(rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> str:
    """Return the first key with several numbers; otherwise the first with several values."""
    varying_keys = [key for key in keys if len({row[key] for row in rows}) > 1]
    numeric_keys = [key for key in varying_keys if all(isinstance(row[key], (int, float)) for row in rows)]
    x = next(iter([*numeric_keys, *varying_keys, *keys]), None)
    if x is None:
        raise Error("the table has no column that varies", remedy="name one with --x")
    return x


def column_label(name: str, column: Column) -> str:
    """Return the name of a column with its unit.

    Examples:
        >>> from sledlab.study.columns import Column
        >>> column_label("mean_ms", Column("mean response time", "ms"))
        'mean (ms)'
        >>> column_label("depth", Column("outstanding"))
        'depth'
        >>> column_label("blocks", Column("request size", "blocks"))
        'blocks'
    """
    quantity, _, _ = name.rpartition("_")
    unit = UNITS.get(column.unit, column.unit)
    return f"{model_label(quantity)} ({unit})" if quantity and unit else model_label(name)
