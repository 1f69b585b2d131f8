"""A column of a study's tables drawn over one or two of its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error, unknown
from sledlab.show import plots
from sledlab.show.figure_fit import complete_figure
from sledlab.show.model_names import model_label
from sledlab.show.presentation import creator
from sledlab.show.table_figure import TableFigure, is_number
from sledlab.show.widths import at_width
from sledlab.study.columns import columns, key_columns, records
from sledlab.study.statistics import half_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.study.columns import Column, Row

UNITS = {"1024 bytes": "KiB", "2^20 bytes": "MiB"}
"""Units of columns as axes and tables show them."""

INTERVALS = {"mean_ms": "mean_ci95_ms", "scv": "scv_ci95", "energy_j": "energy_ci95_j"}
"""Column with half the 95 % confidence interval over seeds, by the column that it belongs to."""


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


def plot_columns(
    results: StudyTables,
    y: str,
    x: Sequence[str],
    width: str | None,
    where: Mapping[str, Any] | None = None,
) -> Figure:
    """Draw a column of the first table that has it: over one column as lines, over two as a heat map.

    Args:
        results: The outcome of a study.
        y: The column that is drawn.
        x: Columns of the x axis, or of both axes of a heat map; by default the first axis with numbers.
        width: The width of the figure, see `at_width`.
        where: Values of columns that rows must have.

    Raises:
        Error: No table has these columns or values, or they cannot be drawn.
    """
    where = where or {}
    tables = {name: records(rows) for name, rows in results.rows.items() if rows}
    name = _find_table(tables, (y, *x, *where))
    rows = select_rows(tables[name], where)
    keys = [key for key in key_columns(tables[name], results.axes) if key != "seed"]
    columns_by_name = columns(results.kinds[name])

    def label(name: str) -> str:
        return column_label(name, columns_by_name[name]) if name in columns_by_name else name

    x = x or [_default_x(rows, keys)]
    varying = [key for key in keys if key not in x and len({row[key] for row in rows}) > 1]
    halves = _halves(tables, rows, y, keys)
    with plots.style(), at_width(width):
        figure = TableFigure(rows, x, y, varying, label, halves).draw()
        return complete_figure(figure, creator(results))


def _find_table(tables: Mapping[str, Sequence[Any]], wanted: Sequence[str]) -> str:
    """Return the name of the first table that has some columns.

    Raises:
        Error: No table has them.
    """
    # A table with a row for each seed is drawn only if no table has means over the seeds.
    names = sorted(tables, key=lambda name: "seed" in tables[name][0])
    matching = next((name for name in names if {*wanted} <= tables[name][0].keys()), None)
    if matching is not None:
        return matching
    columns_of_all = dict.fromkeys(column for name in names for column in tables[name][0])
    unknown_name = next((name for name in wanted if name not in columns_of_all), None)
    if unknown_name is not None:
        raise unknown("column", unknown_name, list(columns_of_all))
    raise Error(f"no table has all of {', '.join(wanted)}", remedy="choose columns of one table")


def select_rows(rows: Sequence[dict[str, Any]], where: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the rows that have some values: numbers as such, everything else as text.

    Raises:
        Error: No row has them.

    Examples:
        >>> select_rows([{"speedup": 1.0}, {"speedup": 2.0}], {"speedup": "2"})
        [{'speedup': 2.0}]
    """
    for key, value in where.items():
        selected = [row for row in rows if _is_equal(row[key], value)]
        if not selected:
            known_values = dict.fromkeys(_value_text(row[key]) for row in rows)
            raise Error(f"no row has {key} = {value}", remedy=f"its values are {', '.join(known_values)}")
        rows = selected
    return rows


def _is_equal(value: Any, wanted: Any) -> bool:
    """Return whether a value is the wanted one, which may be its text."""
    if not is_number(value):
        return str(value).lower() == str(wanted).lower()
    try:
        return float(value) == float(wanted)
    except ValueError:
        return False


def _value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _halves(
    tables: Mapping[str, Sequence[Any]], rows: Sequence[dict[str, Any]], y: str, keys: Sequence[str]
) -> dict[int, float]:
    """Return half the 95 % interval of rows that are means over seeds, by their positions.

    Columns without an interval of their own get it from the table with a row for each seed.
    """
    if y in INTERVALS and INTERVALS[y] in rows[0]:
        halves = [row[INTERVALS[y]] if row.get("seeds", 1) > 1 else None for row in rows]
        return {index: half for index, half in enumerate(halves) if half is not None}
    seed_rows = next((each for each in tables.values() if {"seed", y, *keys} <= each[0].keys()), [])
    values: dict[tuple[Any, ...], list[float]] = {}
    for row in seed_rows if "seed" not in rows[0] else []:
        if is_number(row[y]):
            values.setdefault(tuple(row[key] for key in keys), []).append(row[y])
    halves = [half_width(values.get(tuple(row[key] for key in keys), [])) for row in rows]
    return {index: half for index, half in enumerate(halves) if half is not None}


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
