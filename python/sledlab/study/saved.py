"""Results as files, and their rows as plain data and back, by the types of their fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from sledlab.files import atomic_write
from sledlab.results import OUTCOME, REPORT
from sledlab.runs.recording import LATEX, SUMMARY
from sledlab.traces.parquet import write_table

if TYPE_CHECKING:
    from pathlib import Path

    import polars

    from sledlab.display import DisplayedResult


def output_files(*tables: str) -> tuple[str, ...]:
    """Return the names of all files that `write_result` creates for tables with these names."""
    endings = ("parquet", "csv")
    return (SUMMARY, REPORT, LATEX, OUTCOME, *(f"{name}.{ending}" for name in tables for ending in endings))


def write_result(
    result: DisplayedResult,
    summary: Mapping[str, Any],
    tables: Mapping[str, polars.DataFrame],
    directory: Path,
) -> None:
    """Write page, tables (also as LaTeX), summary, and all data of a result into a directory."""
    for name, table in tables.items():
        with atomic_write(directory / f"{name}.parquet") as draft:
            write_table(table, draft)
        with atomic_write(directory / f"{name}.csv") as draft:
            table.write_csv(draft)
    texts = {
        SUMMARY: json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False),
        LATEX: result.latex().rstrip("\n"),
        OUTCOME: json.dumps(to_plain(result), allow_nan=False),
    }
    for name, text in texts.items():
        with atomic_write(directory / name) as draft:
            draft.write_text(text + "\n", encoding="utf-8")
    result.report(directory / REPORT)


def to_plain(value: Any) -> Any:
    """Return a value as plain data: rows as mappings by field.

    Examples:
        >>> from sledlab.study.plan import RunSpec
        >>> to_plain((RunSpec("disk", (), seed=3),))
        [{'base': 'disk', 'settings': [], 'seed': 3, 'weight': 0.0}]
    """
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(each) for name, each in value.items()}
    return [to_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def from_plain(kind: Any, value: Any) -> Any:
    """Return the value of a type that `to_plain` made plain.

    Raises:
        AttributeError, KeyError, TypeError: The data is not of this type.

    Examples:
        >>> from sledlab.studies.costs.cost import ClusterPrice
        >>> from_plain(Sequence[ClusterPrice], [{"nodes": 1.0, "stores": 2.0, "ports": 3.0}])
        [ClusterPrice(nodes=1.0, stores=2.0, ports=3.0)]
    """
    if value is None:
        return None
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (kind,) = (each for each in arguments if each is not NoneType)
        return from_plain(kind, value)
    if is_dataclass(kind):
        row: Any = kind
        return row(**{name: from_plain(_hints(row)[name], each) for name, each in value.items()})
    if origin is Mapping:
        return {name: from_plain(arguments[1], each) for name, each in value.items()}
    if origin is Sequence:
        return [from_plain(arguments[0], each) for each in value]
    return value


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
