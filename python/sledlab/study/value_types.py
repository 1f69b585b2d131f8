"""Types of the values in the table `[study]` and in cached runs, checked against their declarations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sledlab.errors import Error
from sledlab.model.ranges import check_numbers, is_number

NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    Mapping: "a table",
}
"""Names of types in errors; all other types are written as text in files."""

SEVERAL = {
    "a whole number": "whole numbers",
    "a finite number": "finite numbers",
    "text": "texts",
}
"""Names of the items of a list."""

TEXT = "text"


def check_values(options: type, values: Mapping[str, Any]) -> None:
    """Check the values of a table `[study]`.

    Args:
        options: The class that declares the options of the study.
        values: Values by key. Keys without a declaration are ignored.

    Raises:
        Error: A value has another type than its declaration.
    """
    types = get_type_hints(options)
    for name, value in values.items():
        if name in types and not is_of_type(types[name], value):
            raise Error(f"study.{name}: expected {describe_type(types[name])}, found `{value!s:.60}`")
        check_numbers(f"study.{name}", value)


def describe_type(kind: Any) -> str:
    """Return the values that a type allows, for an error.

    Examples:
        >>> describe_type(Sequence[int] | int | str)
        'whole numbers in a list, a whole number or text'
        >>> describe_type(Literal["stop", "drain"])
        '`stop` or `drain`'
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{each}`" for each in parts)
    if origin in (Union, UnionType):
        *first, last = dict.fromkeys(describe_type(each) for each in parts)
        return f"{', '.join(first)} or {last}" if first else last
    if origin is Sequence:
        item = describe_type(parts[0])
        return f"{SEVERAL.get(item, item)} in a list"
    return NAMES.get(origin or kind, TEXT)


def is_of_type(kind: Any, value: Any) -> bool:
    """Whether a value of a TOML or JSON file has a declared type."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if kind is NoneType:
        return value is None
    if origin is Literal:
        return value in parts
    if origin in (Union, UnionType):
        return any(is_of_type(each, value) for each in parts)
    if origin is Sequence:
        return isinstance(value, list) and all(is_of_type(parts[0], each) for each in value)
    if origin is Mapping:
        return isinstance(value, dict) and all(is_of_type(parts[1], each) for each in value.values())
    if kind in (int, float):
        if isinstance(value, int):
            return is_number(value)
        return isinstance(value, kind) and math.isfinite(value)
    if kind is bool:
        return isinstance(value, bool)
    return isinstance(value, str) and "\0" not in value  # models and paths, too
