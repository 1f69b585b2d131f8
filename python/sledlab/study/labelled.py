"""Tables of studies as arrays with named axes, for `xarray`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.errors import Error, unknown
from sledlab.lazy import numpy as np
from sledlab.lazy import xarray
from sledlab.study.columns import columns, key_columns, records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Record = Mapping[str, Any]

REMEDY = "pip install 'sledlab[xarray]'"


def to_xarray(outcome: Any, table: str | None) -> xarray.Dataset:
    """Return a table of the outcome of a study; see `Outcome.to_xarray`."""
    tables = {name: records(rows) for name, rows in outcome.rows.items() if rows}
    if table is not None and table not in tables:
        raise unknown("table", table, list(tables))
    name = table or next((each for each, rows in tables.items() if "seed" not in rows[0]), next(iter(tables)))
    rows = tables[name]
    keys = key_columns(rows, outcome.axes)
    coordinates = {key: list(dict.fromkeys(row[key] for row in rows)) for key in keys}
    cells = {tuple(row[key] for key in keys): row for row in rows}
    grid = _grid(coordinates, cells)
    meanings = columns(outcome.kinds[name])
    try:
        return xarray.Dataset(
            {
                column: (
                    keys,
                    _array(grid, column).reshape([len(values) for values in coordinates.values()]),
                    {"long_name": meanings[column].meaning, "units": meanings[column].unit},
                )
                for column in rows[0]
                if column not in keys and column in meanings
            },
            coordinates,
            {"table": name, "study": outcome.toml, "sledlab": __version__},
        )
    except ImportError as error:
        raise Error(f"xarray is not installed here: {error}", remedy=REMEDY) from error


def _grid(coordinates: Mapping[str, Sequence[Any]], cells: Mapping[tuple[Any, ...], Record]) -> list[Any]:
    """Return the row of each combination of coordinates, the last key fastest; `None` without one."""
    combinations: list[tuple[Any, ...]] = [()]
    for values in coordinates.values():
        combinations = [(*first, value) for first in combinations for value in values]
    return [cells.get(each) for each in combinations]


def _array(grid: Sequence[Record | None], column: str) -> np.ndarray[Any, Any]:
    """Return a column; absent numbers are NaN, absent truth values and texts are objects."""
    values = [None if row is None else row[column] for row in grid]
    present = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        has_gaps = len(present) < len(values)
        return np.array(
            [float("nan") if value is None else value for value in values], float if has_gaps else None
        )
    return np.array(values, None if len(present) == len(values) else object)
