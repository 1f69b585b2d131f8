"""Arguments that take one or several models, words or numbers: checked, and made tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.model import settings
from sledlab.model.catalog import ModelChoice, require
from sledlab.model.ranges import MAX_NUMBER, MIN_NUMBER, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable


def models(kind: str, what: str, given: Any, everything: Iterable[str]) -> tuple[str, ...]:
    """Models of a kind as words, each once.

    Args:
        kind: `scheduler` or `power`.
        what: What messages call models of the kind.
        given: One model or several, by name or chosen.
        everything: The names that the word `all` stands for.

    Raises:
        Error: `given` is empty, or holds something that is no model of the kind.

    Examples:
        >>> models("scheduler", "schedulers", ["sptf", "all"], ["fcfs", "sptf"])
        ('sptf', 'fcfs')
    """
    if isinstance(given, (str, ModelChoice)):
        given = [given]
    text: list[str] = []
    for item in given if isinstance(given, (list, tuple)) else [None]:
        if isinstance(item, ModelChoice) and item.kind == kind:
            text.append(spell(item))
        elif isinstance(item, str):
            text += everything if item.lower() == "all" else [require(kind, item).name]
        else:
            raise Error(f"expected {what}, found {given!r}", remedy="give a list of names, or `all`")
    if not text:
        raise Error(f"there are no {what} to compare", remedy=f"specify some, or `all` (sledlab list {kind})")
    return tuple(dict.fromkeys(text))


def parse_words(one: str, several: str, given: Any, known: Iterable[str]) -> tuple[str, ...]:
    """One or several of the words in `known`, each once.

    Args:
        one: What messages call one of the words.
        several: What messages call several of the words.
        given: One word or several.
        known: All words that may be given.

    Raises:
        Error: `given` is empty, or one of its words is unknown.

    Examples:
        >>> parse_words("way", "ways", ["a", "b", "a"], "abc"), parse_words("way", "ways", "c", "abc")
        (('a', 'b'), ('c',))
    """
    text = [given] if isinstance(given, str) else given
    remedy = f"give some of: {', '.join(known)}"
    if not isinstance(text, (list, tuple)) or not all(isinstance(word, str) for word in text):
        raise Error(f"expected {several}, found {given!r}", remedy=remedy)
    if not text:
        raise Error(f"there are no {several} to compare", remedy=remedy)
    for word in text:
        if word not in known:
            raise unknown(one, word, list(known))
    return tuple(dict.fromkeys(text))


def spell(choice: ModelChoice) -> str:
    """A model with its parameters in one word: `zsptf:grid=40x4`."""
    text = (f"{key}={settings.word(value)}" for key, value in choice.parameters.items())
    return ":".join([choice.name, *text])


def parse_model(kind: str, given: Any) -> ModelChoice:
    """Return a model, given as one or as text such as `mems-g2:sleds=4`.

    Examples:
        >>> parse_model("device", "mems-g2:sleds=4")
        sledlab.device('mems-g2', sleds='4')
    """
    name, *remaining = given.split(":") if isinstance(given, str) else (given,)
    if remaining and all("=" in each for each in remaining):
        return ModelChoice(kind, str(name), dict(each.split("=", 1) for each in remaining))
    return require(kind, given)


def numbers(what: str, given: Any, *, above: bool = False) -> tuple[float, ...]:
    """One number or several, each at least 0, or greater than 0 where `above`; in rising order, each once.

    Raises:
        Error: `given` is empty, or a value is no number or out of range; the message calls a number `what`.

    Examples:
        >>> numbers("load", [2, 1, 2.0]), numbers("load", 3)
        ((1.0, 2.0), (3.0,))
    """
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if not values:
        raise Error(f"no {what} was given", remedy=f"give some numbers, or omit the {what}s")
    for value in values:
        if not is_number(value) or not 0 <= value <= MAX_NUMBER or (above and value == 0):
            limit = f"{'' if above else '0, or '}from {MIN_NUMBER:g} to {MAX_NUMBER:g}"
            raise Error(f"`{value!s:.60}` is not a {what}", remedy=f"give numbers, each {limit}")
    return tuple(sorted({float(value) for value in values}))
