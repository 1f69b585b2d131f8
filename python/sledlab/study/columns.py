"""Typed rows: each column of a table is declared once, with unit and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_type_hints

from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from dataclasses import Field
    from typing import ClassVar


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
    result: dict[str, Column] = {}
    for name, (marker, within) in _annotations(kind).items():
        if isinstance(marker, Column):
            result[name] = marker
        elif isinstance(marker, ColumnSelection):
            result |= {each: replace(columns(within)[each], hidden=False) for each in marker.names}
        elif hasattr(within, "__dataclass_fields__"):
            result |= columns(within)
    return result


@cache
def _annotations(kind: type) -> Mapping[str, tuple[Column | ColumnSelection | None, Any]]:
    """Return the annotations of the fields of a row (`Column`, `ColumnSelection` or none) and their types."""
    result: dict[str, tuple[Column | ColumnSelection | None, Any]] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        marker = next((each for each in get_args(hint) if isinstance(each, (Column, ColumnSelection))), None)
        result[name] = (marker, getattr(hint, "__origin__", hint))
    return result


def record(row: Row) -> dict[str, Any]:
    """Return a row as plain data by column; rows and mappings within it are flattened."""
    result: dict[str, Any] = {}
    for name, (marker, _) in _annotations(type(row)).items():
        value = getattr(row, name)
        if isinstance(marker, Column):
            if not marker.hidden:
                result[name] = value
        elif isinstance(marker, ColumnSelection):
            result |= {each: getattr(value, each) for each in marker.names}
        elif isinstance(value, Mapping):
            result |= value
        else:
            result |= record(value)
    return result


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows as plain data."""
    return [record(row) for row in rows]


def frame(rows: Sequence[Row], kind: type | None = None) -> polars.DataFrame:
    """Return the rows as a frame with a column for each field; without rows, with the class's columns.

    A column without values has the declared type.
    """
    if not rows and kind is not None:
        return polars.DataFrame(schema=list(columns(kind)))
    result = polars.DataFrame(records(rows), infer_schema_length=None)
    types = {name: each for row in rows[:1] for name, each in _number_types(type(row)).items()}
    empty = [name for name, found in result.schema.items() if found == polars.Null and name in types]
    return result.with_columns(polars.col(name).cast(getattr(polars, types[name])) for name in empty)


NUMBER_TYPES = {bool: "Boolean", int: "Int64", float: "Float64"}
"""Names of the polars types of columns."""


@cache
def _number_types(kind: type) -> Mapping[str, str]:
    """Return the names of the polars types of a row's columns that hold numbers, or numbers and nulls."""
    result: dict[str, str] = {}
    for name, (marker, within) in _annotations(kind).items():
        if isinstance(marker, Column):
            number = next((each for each in NUMBER_TYPES if each in (within, *get_args(within))), None)
            result |= {name: NUMBER_TYPES[number]} if number else {}
        elif hasattr(within, "__dataclass_fields__"):
            result |= _number_types(within)
    return result
