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

KINDS_BY_TYPE: Mapping[type, str] = {bool: "switch", int: "count", float: "number", str: "text"}


def function_parameters(function: Callable[..., Any]) -> tuple[ParameterSpec, ...]:
    """The parameters of a job: those of its function after the node.

    Raises:
        Error: A parameter has no default, or a default that is no number, text, true or false.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    meanings = _meanings(function, "Args")
    for parameter in parameters:
        if type(parameter.default) not in KINDS_BY_TYPE:
            raise Error(
                f"the parameter `{parameter.name}` of the job `{function.__name__}` needs a default",
                remedy=f"give it a number, a text, or true or false: {parameter.name}=1",
            )
    return tuple(_spec(parameter.name, parameter.default, meanings) for parameter in parameters)


def class_parameters(data_class: Callable[..., Any]) -> tuple[ParameterSpec, ...]:
    """The parameters of a kind of data: the fields of its class."""
    meanings = _meanings(data_class, "Attributes")
    return tuple(_spec(field.name, field.default, meanings) for field in fields(data_class))  # type: ignore[arg-type]


def _spec(name: str, default: Any, meanings: Mapping[str, str]) -> ParameterSpec:
    return ParameterSpec(name, meanings.get(name, ""), "", KINDS_BY_TYPE[type(default)], None, default)


def _meanings(documented: Any, section: str) -> dict[str, str]:
    """The meaning of each name in a section (`Args` or `Attributes`) of a docstring."""
    text = inspect.getdoc(documented) or ""
    _, _, section_text = text.partition(f"\n{section}:\n")
    return {name: " ".join(parts.split()) for name, parts in _entries(section_text)}


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Names and their meanings, up to the first line that is not indented."""
    match = re.match(r"(?:[ ]{4}.*\n?|\n)*", text)
    pattern = re.compile(r"^ {4}(\w+): ((?:.+\n?)(?: {5,}.+\n?)*)", re.MULTILINE)
    yield from pattern.findall(match[0] if match else "")


def apply_settings(
    specs: Sequence[Sequence[ParameterSpec]], settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The values of several sets of parameters: defaults, replaced by settings.

    Raises:
        Error: A setting is unknown, or not of its type, or two sets have a parameter of one name.
    """
    value_sets = [{spec.name: spec.default for spec in spec_set} for spec_set in specs]
    names = [name for values in value_sets for name in values]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"job and data both have a parameter `{name}`", remedy="rename that of the job")
    for key, value in settings.items():
        owner = next((values for values in value_sets if key in values), None)
        if owner is None:
            raise unknown("setting", key, names)
        owner[key] = _parse_value(key, value, owner[key])
    return value_sets


def _parse_value(key: str, value: Any, default: Any) -> Any:
    """A value of the type of its default.

    Raises:
        Error: The value cannot be converted.
    """
    value_type = type(default)
    if isinstance(value, str) and value_type is bool:
        value = {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(value, str) and value_type in (int, float):
        with suppress(ValueError):
            value = value_type(value)
    if isinstance(value, (int, float)):
        check_numbers(f"`{key}`", value)
    if value_type is float and type(value) is int:
        value = float(value)
    if type(value) is not value_type:
        description = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[
            value_type
        ]
        raise Error(f"`{key}` is {description}, not `{value}`", remedy=f"the default is {default}")
    return value
