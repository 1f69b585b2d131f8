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
    options = {name: option for each in declarations for name, option in declared_options(each).items()}
    types = {name: kind for each in declarations for name, kind in get_type_hints(each).items()}

    def decorate(function: F) -> F:
        shown = signature(function)
        own = [each for each in shown.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind | None)
            for name, kind in types.items()
        ]
        shown = shown.replace(parameters=[*own, *added])

        @wraps(function)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            unknown = [name for name in keywords if name not in shown.parameters]
            if unknown:
                known = {name: options.get(name) for name in shown.parameters}
                given = {**keywords, **shown.bind_partial(*arguments).arguments}
                listing = f"help(sledlab.{function.__name__}) lists all options"
                raise unknown_option(unknown[0], known, given, listing)
            for name in options.keys() & keywords.keys():
                check_numbers(f"`{name}`", keywords[name])
            return function(*arguments, **keywords)

        wrapper.__signature__ = shown  # type: ignore[attr-defined]
        wrapper.__doc__ = _add_option_docs(function.__doc__ or "", options)
        return cast("F", wrapper)

    return decorate


def unknown_option(
    name: str, known: Mapping[str, Option | None], given: Mapping[str, Any], listing: str = ""
) -> Error:
    """Return the error about an unknown option, with the most likely remedy.

    Args:
        name: The unknown option.
        known: Declarations of the options that a function takes; `None` for its other arguments.
        given: Values of the call by name, that of the unknown option included.
        listing: Remedy if there is no suggestion. Default: the names of all options.
    """
    remedy = _suggestion(name, known, given) or listing or f"known: {', '.join(known)}"
    return Error(f"unknown option `{name}`", remedy=remedy)


def _suggestion(name: str, known: Mapping[str, Option | None], given: Mapping[str, Any]) -> str | None:
    """Return what a user who gave an unknown option may have meant."""
    flags = {option.flag: each for each, option in known.items() if option is not None and option.flag}
    similar = difflib.get_close_matches(name, [*known, *flags], n=1)
    if name.removesuffix("s") in SOURCES and "source" in known:
        return "pass it as `source`, the first argument"
    for each in (flags.get(name), name.removesuffix("s")):
        if each in known:
            return f"did you mean `{each}`?"
    if calls := _calls(name, given[name], known, given):
        return f"it is a parameter {calls}"
    if similar:
        return f"did you mean `{flags.get(similar[0], similar[0])}`?"
    parameters = {
        each for kind in _kinds(known) for model in CATALOGS[kind] for each in _parameters(kind, model)
    }
    for each in difflib.get_close_matches(name, parameters, n=1, cutoff=0.8):
        return f"did you mean `{each}`, a parameter {_calls(each, given[name], known, given)}?"
    return None


def _kinds(known: Collection[str]) -> list[str]:
    """Return the kinds of models that a function with some options takes."""
    options = {*known, *(["workload"] if "source" in known else [])}
    return [kind for kind in CATALOGS if kind in options]


def _calls(parameter: str, value: Any, known: Collection[str], given: Mapping[str, Any]) -> str:
    """Return calls that set a parameter of a model, one for each kind that has it; empty if none does."""
    calls = []
    for kind in _kinds(known):
        models = [*_models(kind, given), *CATALOGS[kind]]
        model = next((each for each in models if parameter in _parameters(kind, each)), None)
        if model is not None:
            calls.append(f'of the {NAMES.get(kind, kind)}: sl.{kind}("{model}", {parameter}={value!r})')
    return ", or ".join(calls)


def _models(kind: str, given: Mapping[str, Any]) -> list[str]:
    """Return the names of the models of a kind among the values of a call."""
    values = [given.get(name) for name in (kind, *(["source"] if kind == "workload" else []))]
    several = [each for value in values for each in (value if isinstance(value, (list, tuple)) else [value])]
    choice = [each for each in several if not isinstance(each, ModelChoice) or each.kind == kind]
    return [each.name if isinstance(each, ModelChoice) else str(each) for each in choice if each is not None]


def _parameters(kind: str, model: str) -> set[str]:
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
