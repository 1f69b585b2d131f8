"""Arguments that take one or several models, words or numbers: checked, and made tuples.

Options that are axes of a study name one of these functions as their parser (`Option.parse`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import is_plugin
from sledlab.errors import Error, unknown
from sledlab.model import settings
from sledlab.model.catalog import CATALOGS, NAMES, PLURALS, ModelChoice, require
from sledlab.model.ranges import MAX_NUMBER, MIN_NUMBER, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def several(value: Any) -> tuple[Any, ...]:
    """Return the values of an argument that may be one value, a list, or `None` for no value.

    Examples:
        >>> several("a.csv"), several(["a.csv", "b.csv"]), several(None)
        (('a.csv',), ('a.csv', 'b.csv'), ())
    """
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def texts(value: Any) -> tuple[str, ...]:
    """Return one value or several as texts."""
    return tuple(map(str, several(value)))


def models(kind: str, value: Any, all_names: Callable[[], Iterable[str]] | None = None) -> tuple[str, ...]:
    """Return models of a kind as words, each once.

    Args:
        kind: `scheduler` or `power`.
        value: One model or several, by name or chosen.
        all_names: Returns the names that the word `all` stands for. Default: all models of the kind.

    Raises:
        Error: `value` is empty, or holds something that is no model of the kind, or has wrong parameters.

    Examples:
        >>> models("scheduler", ["sptf", "all"], lambda: ["fcfs", "sptf"])
        ('sptf', 'fcfs')
    """
    names: list[str] = []
    for item in several(value):
        if isinstance(item, str) and item.lower() == "all":
            names += CATALOGS[kind] if all_names is None else all_names()
        else:
            names.append(spell(_valid_model(kind, item)))
    if not names:
        remedy = f"specify some, or `all` (sledlab list {kind})"
        raise Error(f"there are no {PLURALS[kind]} to compare", remedy=remedy)
    return tuple(dict.fromkeys(names))


def _valid_model(kind: str, value: Any) -> ModelChoice:
    """Return a model with checked parameters; a plug-in is checked once it is allowed to run."""
    is_name = isinstance(value, str) and not is_plugin(value)
    return CATALOGS[kind](value) if is_name else require(kind, value)


def distinct_models(kind: str, value: Any) -> dict[str, ModelChoice]:
    """Return one model of a kind or several, given by name or chosen, in their order, by label.

    Raises:
        Error: `value` is empty, holds something that is no model of the kind, or holds a model twice.

    Examples:
        >>> list(distinct_models("device", ["mems-g2", "mems-g2:sleds=4"]))
        ['mems-g2', 'mems-g2 sleds=4']
    """
    chosen = [parse_model(kind, each) for each in several(value)]
    return by_label(kind, [label(each) for each in chosen], chosen)


def by_label(kind: str, labels: Sequence[str], chosen: Sequence[Any]) -> dict[str, Any]:
    """Return models of a kind by label.

    Raises:
        Error: There is none, or two have the same label.
    """
    if not chosen:
        raise no_model(kind)
    models_by_label: dict[str, Any] = {}
    for name, each in zip(labels, chosen, strict=True):
        if name in models_by_label:
            raise Error(f"the {kind} `{name}` was given twice", remedy="omit one of them")
        models_by_label[name] = each
    return models_by_label


def no_model(kind: str) -> Error:
    """Return the error about an axis that needs a model of a kind and has none."""
    noun = NAMES.get(kind, kind)
    return Error(f"no {noun} was given", remedy=f"specify some with --{kind} (sledlab list {kind})")


def label(model: ModelChoice | str | Path) -> str:
    """Return the name of a model in tables; of a file, without its directory.

    Examples:
        >>> label("mems-g2:active_tips=3200"), label("devices/mine.toml")
        ('mems-g2 active_tips=3200', 'mine')
    """
    word = spell(model) if isinstance(model, ModelChoice) else str(model)
    name, *parameters = word.split(":")
    return " ".join([Path(name).stem if name.endswith(".toml") else name, *parameters])


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
    words = several(value)
    remedy = f"give some of: {', '.join(known)}"
    if not all(isinstance(word, str) for word in words):
        raise Error(f"expected {plural}, found {value!r}", remedy=remedy)
    if not words:
        raise Error(f"there are no {plural} to compare", remedy=remedy)
    for word in words:
        if word not in known:
            raise unknown(noun, word, list(known))
    return tuple(dict.fromkeys(words))


def parse_word(noun: str, value: Any, known: Iterable[str]) -> str:
    """Return a word that is in `known`.

    Raises:
        Error: `value` is another word, or no word; the message calls it `noun`.
    """
    if value not in known:
        raise unknown(noun, str(value), list(known))
    return str(value)


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


def numbers(noun: str, value: Any, *, above: bool = False, may_be_empty: bool = False) -> tuple[float, ...]:
    """One number or several, each at least 0, or greater than 0 where `above`; in rising order, each once.

    Raises:
        Error: `value` is empty and may not be, or a value is no number or out of range; the message calls a
            number `noun`.

    Examples:
        >>> numbers("load", [2, 1, 2.0]), numbers("load", 3)
        ((1.0, 2.0), (3.0,))
    """
    values = several(value)
    if not values and not may_be_empty:
        raise Error(f"no {noun} was given", remedy=f"give some numbers, or omit the {noun}s")
    for number in values:
        if not is_number(number) or not 0 <= number <= MAX_NUMBER or (above and number == 0):
            limit = f"{'' if above else '0, or '}from {MIN_NUMBER:g} to {MAX_NUMBER:g}"
            raise Error(f"`{number!s:.60}` is not a {noun}", remedy=f"give numbers, each {limit}")
    return tuple(sorted({float(number) for number in values}))


def positive_number(noun: str, value: Any) -> float:
    """Return a number greater than 0.

    Raises:
        Error: `value` is no such number; the message calls it `noun`.
    """
    if not is_number(value) or not 0 < value <= MAX_NUMBER:
        remedy = f"give one number from {MIN_NUMBER:g} to {MAX_NUMBER:g}"
        raise Error(f"`{value!s:.60}` is not a {noun}", remedy=remedy)
    return float(value)


def whole_numbers(noun: str, value: Any, *, may_be_empty: bool = False) -> tuple[int, ...]:
    """Return one whole number of 1 or more, or several, in their order.

    Raises:
        Error: `value` is empty and may not be, or a value is no such number; the message calls it `noun`.

    Examples:
        >>> whole_numbers("number of nodes", [8.0, 4])
        (8, 4)
    """
    values = several(value)
    if not values and not may_be_empty:
        raise Error(f"no {noun} was given", remedy="give some whole numbers, or omit the option")
    for number in values:
        if not is_number(number) or number < 1 or number != int(number):
            raise Error(f"`{number!s:.60}` is not a {noun}", remedy="give whole numbers, 1 or more")
    return tuple(map(int, values))
