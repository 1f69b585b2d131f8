"""Python values as TOML, the form in which experiments take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import json
from sledlab.model.ranges import check_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def to_toml(value: Any) -> str:
    """A value as TOML.

    Raises:
        Error: It is none of text, number, truth value, and list or table of such.

    Examples:
        >>> [to_toml(x) for x in (True, 3, 0.5, "free", [1, 2], {"first": 0})]
        ['true', '3', '0.5', '"free"', '[1, 2]', '{first = 0}']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {to_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(to_toml(item) for item in value)}]"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, int):
        return repr(check_number(value, "a number"))
    if isinstance(value, float):
        return repr(value)
    raise Error(
        f"a setting cannot be of type `{type(value).__name__}`", remedy="give text, a number or a truth value"
    )


def word(value: Any) -> str:
    """A value as settings take it: text without quotation marks, so that `"3"` is read as the number 3."""
    return value if isinstance(value, str) else to_toml(value)


def table(values: Mapping[str, Any]) -> str:
    """Values as lines `key = value` of TOML."""
    return "".join(f"{key} = {to_toml(value)}\n" for key, value in values.items())


def document(tables: Mapping[str, Any]) -> str:
    """A TOML document: keys first, then tables, which may hold tables.

    Examples:
        >>> print(document({"seed": 1, "device": {"preset": "mems-g2"}, "compare": {"vary": {"a.b": [1]}}}))
        seed = 1
        <BLANKLINE>
        [device]
        preset = "mems-g2"
        <BLANKLINE>
        [compare]
        <BLANKLINE>
        [compare.vary]
        "a.b" = [1]
        <BLANKLINE>
    """
    return "\n".join(_sections(tables, ""))


def _sections(values: Mapping[str, Any], prefix: str) -> Iterator[str]:
    scalars = {key: value for key, value in values.items() if not isinstance(value, dict)}
    head = f"[{prefix}]\n" if prefix else ""
    if head or scalars:
        yield head + table({_key(key): value for key, value in scalars.items()})
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _sections(value, f"{prefix}.{_key(key)}" if prefix else _key(key))


def _key(key: str) -> str:
    """A key, quoted where it has to be."""
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key, ensure_ascii=False)
