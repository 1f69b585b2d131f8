"""Parameters of jobs and of their data: declared once, by a signature or fields, and a docstring."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.model.entries import ParameterSpec
from sledlab.model.ranges import check_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

KINDS: Mapping[type, str] = {bool: "switch", int: "count", float: "number", str: "text"}


def function_parameters(function: Callable[..., Any]) -> tuple[ParameterSpec, ...]:
    """The parameters of a job: those of its function after the node.

    Raises:
        Error: A parameter has no default, or a default that is no number, text, true or false.
    """
    result = list(inspect.signature(function).parameters.values())[1:]
    meanings = _meanings(function, "Args")
    for each in result:
        if type(each.default) not in KINDS:
            raise Error(
                f"the parameter `{each.name}` of the job `{function.__name__}` needs a default",
                remedy=f"give it a number, a text, or true or false: {each.name}=1",
            )
    return tuple(_spec(each.name, each.default, meanings) for each in result)


def class_parameters(kind: Callable[..., Any]) -> tuple[ParameterSpec, ...]:
    """The parameters of a kind of data: the fields of its class."""
    meanings = _meanings(kind, "Attributes")
    return tuple(_spec(each.name, each.default, meanings) for each in fields(kind))  # type: ignore[arg-type]


def _spec(name: str, default: Any, meanings: Mapping[str, str]) -> ParameterSpec:
    return ParameterSpec(name, meanings.get(name, ""), "", KINDS[type(default)], None, default)


def _meanings(documented: Any, section: str) -> dict[str, str]:
    """The meaning of each name in a section (`Args` or `Attributes`) of a docstring."""
    text = inspect.getdoc(documented) or ""
    _, _, after = text.partition(f"\n{section}:\n")
    return {name: " ".join(parts.split()) for name, parts in _entries(after)}


def _entries(lines: str) -> Iterator[tuple[str, str]]:
    """Names and their meanings, up to the first line that is not indented."""
    indented = re.match(r"(?:[ ]{4}.*\n?|\n)*", lines)
    entry = re.compile(r"^ {4}(\w+): ((?:.+\n?)(?: {5,}.+\n?)*)", re.MULTILINE)
    yield from entry.findall(indented[0] if indented else "")


def apply_settings(
    specs: Sequence[Sequence[ParameterSpec]], settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The values of several sets of parameters: defaults, replaced by settings.

    Raises:
        Error: A setting is unknown, or not of its type, or two sets have a parameter of one name.
    """
    result = [{each.name: each.default for each in some} for some in specs]
    names = [name for values in result for name in values]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"job and data both have a parameter `{name}`", remedy="rename that of the job")
    for key, value in settings.items():
        home = next((values for values in result if key in values), None)
        if home is None:
            raise unknown("setting", key, names)
        home[key] = _parse_value(key, value, home[key])
    return result


def _parse_value(key: str, value: Any, default: Any) -> Any:
    """A value of the type of its default.

    Raises:
        Error: The value cannot be converted.
    """
    kind = type(default)
    if isinstance(value, str) and kind is bool:
        value = {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(value, str) and kind in (int, float):
        with suppress(ValueError):
            value = kind(value)
    if isinstance(value, (int, float)):
        check_numbers(f"`{key}`", value)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        what = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
        raise Error(f"`{key}` is {what}, not `{value}`", remedy=f"the default is {default}")
    return value
