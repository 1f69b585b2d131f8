"""Rows of studies as plain data and back, by the types of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


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
