"""Arguments that take one or several models, words or numbers: checked, and made tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.model import settings
from sledlab.model.catalog import ModelChoice, require
from sledlab.model.ranges import MAX_NUMBER, MIN_NUMBER, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable


def models(kind: str, noun: str, value: Any, all_names: Iterable[str]) -> tuple[str, ...]:
    """Models of a kind as words, each once.

    Args:
        kind: `scheduler` or `power`.
        noun: What messages call models of the kind.
        value: One model or several, by name or chosen.
        all_names: The names that the word `all` stands for.

    Raises:
        Error: `value` is empty, or holds something that is no model of the kind.

    Examples:
        >>> models("scheduler", "schedulers", ["sptf", "all"], ["fcfs", "sptf"])
        ('sptf', 'fcfs')
    """
    if isinstance(value, (str, ModelChoice)):
        value = [value]
    names: list[str] = []
    for item in value if isinstance(value, (list, tuple)) else [None]:
        if isinstance(item, ModelChoice) and item.kind == kind:
            names.append(spell(item))
        elif isinstance(item, str):
            names += all_names if item.lower() == "all" else [require(kind, item).name]
        else:
            raise Error(f"expected {noun}, found {value!r}", remedy="give a list of names, or `all`")
    if not names:
        raise Error(f"there are no {noun} to compare", remedy=f"specify some, or `all` (sledlab list {kind})")
    return tuple(dict.fromkeys(names))


def parse_words(noun: str, plural: str, value: Any, known: Iterable[str]) -> tuple[str, ...]:
    """One or several of the words in `known`, each once.

    Args:
        noun: What messages call one of the words.
        plural: What messages call several of the words.
        value: One word or several.
        known: All words that may be given.

    Raises:
        Error: `value` is empty, or one of its words is unknown.

    Examples:
        >>> parse_words("axis", "axes", ["a", "b", "a"], "abc"), parse_words("axis", "axes", "c", "abc")
        (('a', 'b'), ('c',))
    """
    words = [value] if isinstance(value, str) else value
    remedy = f"give some of: {', '.join(known)}"
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise Error(f"expected {plural}, found {value!r}", remedy=remedy)
    if not words:
        raise Error(f"there are no {plural} to compare", remedy=remedy)
    for word in words:
        if word not in known:
            raise unknown(noun, word, list(known))
    return tuple(dict.fromkeys(words))


def spell(choice: ModelChoice) -> str:
    """A model with its parameters in one word: `zsptf:grid=40x4`."""
    parameters = (f"{key}={settings.word(value)}" for key, value in choice.parameters.items())
    return ":".join([choice.name, *parameters])


def parse_model(kind: str, value: Any) -> ModelChoice:
    """Return a model, given as one or as text such as `mems-g2:sleds=4`.

    Examples:
        >>> parse_model("device", "mems-g2:sleds=4")
        sledlab.device('mems-g2', sleds='4')
    """
    name, *settings = value.split(":") if isinstance(value, str) else (value,)
    if settings and all("=" in setting for setting in settings):
        return ModelChoice(kind, str(name), dict(setting.split("=", 1) for setting in settings))
    return require(kind, value)


def numbers(noun: str, value: Any, *, above: bool = False) -> tuple[float, ...]:
    """One number or several, each at least 0, or greater than 0 where `above`; in rising order, each once.

    Raises:
        Error: `value` is empty, or a value is no number or out of range; the message calls a number `noun`.

    Examples:
        >>> numbers("load", [2, 1, 2.0]), numbers("load", 3)
        ((1.0, 2.0), (3.0,))
    """
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise Error(f"no {noun} was given", remedy=f"give some numbers, or omit the {noun}s")
    for number in values:
        if not is_number(number) or not 0 <= number <= MAX_NUMBER or (above and number == 0):
            limit = f"{'' if above else '0, or '}from {MIN_NUMBER:g} to {MAX_NUMBER:g}"
            raise Error(f"`{number!s:.60}` is not a {noun}", remedy=f"give numbers, each {limit}")
    return tuple(sorted({float(number) for number in values}))
