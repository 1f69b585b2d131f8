"""Typed rows: each column of a table is declared once, with unit and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args, get_origin, get_type_hints

from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from dataclasses import Field
    from typing import ClassVar


DISPLAY_NAME = "label"
"""Column with the name under which a row is displayed: another column identifies the row."""


class Row(Protocol):
    """A dataclass whose fields are columns: each annotated with a `Column`, or a row of its own."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True)
class Column:
    """The meaning and unit of a column.

    Attributes:
        meaning: The meaning, in one line of at most 100 characters.
        unit: The unit; empty where there is none.
        hidden: Whether the column is cached with a run but is in no table.
    """

    meaning: str
    unit: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class ColumnSelection:
    """The columns of a row within a row that a table has, hidden ones too; by default all but hidden ones.

    Attributes:
        names: Names of the columns, in order.
    """

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """`ColumnSelection("mean_ms", "energy_j")`."""
        object.__setattr__(self, "names", names)


@cache
def columns(kind: type) -> Mapping[str, Column]:
    """Return the columns of a row by name; columns of rows within it stand in place, mappings are omitted."""
    columns_by_name: dict[str, Column] = {}
    for name, (marker, field_type) in _annotations(kind).items():
        if isinstance(marker, Column):
            columns_by_name[name] = marker
        elif isinstance(marker, ColumnSelection):
            columns_by_name |= {
                each: replace(columns(field_type)[each], hidden=False) for each in marker.names
            }
        elif hasattr(field_type, "__dataclass_fields__"):
            columns_by_name |= columns(field_type)
    return columns_by_name


def key_columns(rows: Sequence[Mapping[str, Any]], axes: Collection[str]) -> list[str]:
    """Return the columns that identify a row: axes, varied settings, and the first others that are needed.

    Examples:
        >>> key_columns([{"name": "a", "load": 1, "mean_ms": 3.0}, {"name": "b", "load": 1}], ["load"])
        ['name', 'load']
    """
    keys: list[str] = []
    for name in rows[0]:
        is_axis = name in axes or "." in name
        if is_axis or (
            name != DISPLAY_NAME and len({tuple(row[key] for key in keys) for row in rows}) < len(rows)
        ):
            keys.append(name)
    return keys


@cache
def _annotations(kind: type) -> Mapping[str, tuple[Column | ColumnSelection | None, Any]]:
    """Return the annotations of the fields of a row (`Column`, `ColumnSelection` or none) and their types."""
    annotations: dict[str, tuple[Column | ColumnSelection | None, Any]] = {}
    hints = get_type_hints(kind, include_extras=True)
    for name in (each.name for each in fields(kind)):
        hint = hints[name]
        marker = next((each for each in get_args(hint) if isinstance(each, (Column, ColumnSelection))), None)
        annotations[name] = (marker, hint.__origin__ if get_origin(hint) is Annotated else hint)
    return annotations


def record(row: Row) -> dict[str, Any]:
    """Return a row as plain data by column; rows and mappings within it are flattened."""
    values_by_column: dict[str, Any] = {}
    for name, (marker, _) in _annotations(type(row)).items():
        value = getattr(row, name)
        if isinstance(marker, Column):
            if not marker.hidden:
                values_by_column[name] = value
        elif isinstance(marker, ColumnSelection):
            values_by_column |= {each: getattr(value, each) for each in marker.names}
        elif isinstance(value, Mapping):
            values_by_column |= value
        else:
            values_by_column |= record(value)
    return values_by_column


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows as plain data."""
    return [record(row) for row in rows]


def frame(rows: Sequence[Row], kind: type | None = None) -> polars.DataFrame:
    """Return the rows as a frame with a column for each field; without rows, with the columns of `kind`.

    A column has its declared type whatever its values are, so that tables of several studies can be joined.
    """
    if not rows:
        types = _types(kind) if kind is not None else {}
        names = [name for name, each in columns(kind).items() if not each.hidden] if kind is not None else []
        return polars.DataFrame(schema={name: getattr(polars, types.get(name, "Null")) for name in names})
    types = {
        **_types(type(rows[0])),
        **{name: each for row in rows for name, each in _count_types(row).items()},
    }
    data = polars.DataFrame(records(rows), infer_schema_length=None)
    return data.cast({name: getattr(polars, types[name]) for name in data.columns if name in types})


COLUMN_TYPES = {bool: "Boolean", int: "Int64", float: "Float64", str: "String"}
"""Names of the polars types of columns, by the declared types of their values."""


@cache
def _types(kind: type) -> Mapping[str, str]:
    """Return the polars types of a row's columns that have a declared type. Means are floats."""
    types: dict[str, str] = {}
    for name, (marker, field_type) in _annotations(kind).items():
        if isinstance(marker, Column):
            types |= _type_of(name, field_type)
        elif hasattr(field_type, "__dataclass_fields__"):
            types |= _types(field_type)
    means = _types(kind.MEANS_OF) if hasattr(kind, "MEANS_OF") else {}
    return types | {name: "Float64" for name, each in means.items() if each == "Int64"}


def _type_of(name: str, declared: Any) -> dict[str, str]:
    """Return the polars type of a column of a declared type, or of one that may be None; none for others."""
    kinds = {
        type(each) if get_origin(declared) is Literal else each for each in (declared, *get_args(declared))
    }
    types = {COLUMN_TYPES[each] for each in kinds & COLUMN_TYPES.keys()}
    return {name: types.pop()} if len(types) == 1 else {}


def _count_types(row: Row) -> Mapping[str, str]:
    """Return the polars types of the columns of mappings within a row, by the type of their values."""
    types: dict[str, str] = {}
    for name, (marker, field_type) in _annotations(type(row)).items():
        value = getattr(row, name)
        if marker is None and isinstance(value, Mapping):
            for key in value:
                types |= _type_of(key, get_args(field_type)[-1])
        elif marker is None:
            types |= _count_types(value)
    return types
