"""Python values as TOML, the form in which experiments take them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_toml(value: Any) -> str:
    """A value as TOML.

    Raises:
        Error: It is none of text, number, truth value and list of such.

    Example:
        >>> [to_toml(x) for x in (True, 3, 0.5, "free", [1, 2])]
        ['true', '3', '0.5', '"free"', '[1, 2]']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(to_toml(item) for item in value)}]"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (int, float)):
        return repr(value)
    raise Error(
        f"a setting cannot be of type `{type(value).__name__}`", remedy="give text, a number or a truth value"
    )


def table(values: Mapping[str, Any]) -> str:
    """Lines `key = value`."""
    return "".join(f"{key} = {to_toml(value)}\n" for key, value in values.items())
