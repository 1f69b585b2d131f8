"""Check the keyword options of public functions, and list them in signatures and `help()`.

A function that takes `**options` would ignore a misspelled one. `accept_options` compares the keywords of a
call with the declared options and rejects unknown ones.
"""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

from sledlab.errors import Error
from sledlab.lazy import difflib
from sledlab.model.catalog import CATALOGS, NAMES, ModelChoice
from sledlab.model.ranges import check_numbers
from sledlab.runs.options import declared_options

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sledlab.runs.options import Option

F = TypeVar("F", bound="Callable[..., Any]")

SOURCES = ("trace", "workload")
"""Options of the command line that functions take as their first argument, `source`."""


def accept_options(*declarations: type) -> Callable[[F], F]:
    """Return a decorator for a function whose `**options` are declared by some classes.

    The decorated function rejects undeclared keywords. Its signature and its docstring list all options.

    Args:
        *declarations: The classes, `TypedDict`s of `Option`s.
    """
    options_by_name = {
        name: option for declaration in declarations for name, option in declared_options(declaration).items()
    }
    types_by_name = {
        name: value_type
        for declaration in declarations
        for name, value_type in get_type_hints(declaration).items()
    }

    def decorate(function: F) -> F:
        full_signature = signature(function)
        own_parameters = [
            parameter
            for parameter in full_signature.parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        option_parameters = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=value_type | None)
            for name, value_type in types_by_name.items()
        ]
        full_signature = full_signature.replace(parameters=[*own_parameters, *option_parameters])

        @wraps(function)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            unknown_names = [name for name in keywords if name not in full_signature.parameters]
            if unknown_names:
                declared = {name: options_by_name.get(name) for name in full_signature.parameters}
                values = {**keywords, **full_signature.bind_partial(*arguments).arguments}
                listing = f"help(sledlab.{function.__name__}) lists all options"
                raise unknown_option(unknown_names[0], declared, values, listing)
            for name in options_by_name.keys() & keywords.keys():
                check_numbers(f"`{name}`", keywords[name])
            return function(*arguments, **keywords)

        wrapper.__signature__ = full_signature  # type: ignore[attr-defined]
        wrapper.__doc__ = _add_option_docs(function.__doc__ or "", options_by_name)
        return cast("F", wrapper)

    return decorate


def unknown_option(
    name: str, declared: Mapping[str, Option | None], values: Mapping[str, Any], listing: str = ""
) -> Error:
    """Return the error about an unknown option, with the most likely remedy.

    Args:
        name: The unknown option.
        declared: Declarations of the options that a function takes; `None` for its other arguments.
        values: Values of the call by name, that of the unknown option included.
        listing: Remedy if there is no suggestion. Default: the names of all options.
    """
    remedy = _suggest(name, declared, values) or listing or f"known: {', '.join(declared)}"
    return Error(f"unknown option `{name}`", remedy=remedy)


def _suggest(name: str, declared: Mapping[str, Option | None], values: Mapping[str, Any]) -> str | None:
    """Return what a user who gave an unknown option may have meant."""
    names_by_flag = {
        option.flag: candidate for candidate, option in declared.items() if option is not None and option.flag
    }
    similar = difflib.get_close_matches(name, [*declared, *names_by_flag], n=1)
    if name.removesuffix("s") in SOURCES and "source" in declared:
        return "pass it as `source`, the first argument"
    for candidate in (names_by_flag.get(name), name.removesuffix("s")):
        if candidate in declared:
            return f"did you mean `{candidate}`?"
    if calls := _model_calls(name, values[name], declared, values):
        return f"it is a parameter {calls}"
    if similar:
        return f"did you mean `{names_by_flag.get(similar[0], similar[0])}`?"
    parameters = {
        candidate
        for kind in _model_kinds(declared)
        for model in CATALOGS[kind]
        for candidate in _parameter_names(kind, model)
    }
    for candidate in difflib.get_close_matches(name, parameters, n=1, cutoff=0.8):
        calls = _model_calls(candidate, values[name], declared, values)
        return f"did you mean `{candidate}`, a parameter {calls}?"
    return None


def _model_kinds(names: Collection[str]) -> list[str]:
    """Return the kinds of models that a function with some options takes."""
    options = {*names, *(["workload"] if "source" in names else [])}
    return [kind for kind in CATALOGS if kind in options]


def _model_calls(parameter: str, value: Any, names: Collection[str], values: Mapping[str, Any]) -> str:
    """Return calls that set a parameter of a model, one for each kind that has it; empty if none does."""
    calls = []
    for kind in _model_kinds(names):
        models = [*_model_names(kind, values), *CATALOGS[kind]]
        model = next((name for name in models if parameter in _parameter_names(kind, name)), None)
        if model is not None:
            calls.append(f'of the {NAMES.get(kind, kind)}: sl.{kind}("{model}", {parameter}={value!r})')
    return ", or ".join(calls)


def _model_names(kind: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return the names of the models of a kind among the values of a call."""
    values = [arguments.get(name) for name in (kind, *(["source"] if kind == "workload" else []))]
    items = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
    matching = [item for item in items if not isinstance(item, ModelChoice) or item.kind == kind]
    return [
        item.name if isinstance(item, ModelChoice) else str(item) for item in matching if item is not None
    ]


def _parameter_names(kind: str, model: str) -> set[str]:
    """Return the names of the parameters of a model; none if there is no such model."""
    try:
        return {spec.name for spec in CATALOGS[kind].model_parameters(model)}
    except Error:
        return set()


def _add_option_docs(text: str, options: Mapping[str, Option]) -> str:
    """Return a docstring with a section that lists options."""
    lines = [
        f"    {name}: {option.meaning.rstrip('.')}."
        + (f" Default: {option.default}." if option.default else "")
        for name, option in options.items()
    ]
    return "\n".join([cleandoc(text), "", "Options:", *lines, ""])
