"""What may be swept, checked: models, numbers and seeds of comparisons and power studies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab import settings
from sledlab.catalogue import Chosen
from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def models(kind: str, what: str, given: Any, everything: Iterable[str]) -> tuple[str, ...]:
    """Models of a kind as words, each once.

    Args:
        kind: `scheduler` or `power`.
        what: What messages call them.
        given: One or several, by name or chosen.
        everything: What the word `all` stands for.

    Raises:
        Error: There are none, or something else is among them.

    Example:
        >>> models("scheduler", "schedulers", ["sptf", "all"], ["fcfs", "sptf"])
        ('sptf', 'fcfs')
    """
    if isinstance(given, (str, Chosen)):
        given = [given]
    words: list[str] = []
    for item in given if isinstance(given, (list, tuple)) else [None]:
        if isinstance(item, Chosen) and item.kind == kind:
            words.append(spelled(item))
        elif isinstance(item, str):
            words += everything if item == "all" else [item]
        else:
            raise Error(f"expected {what}, found {given!r}", remedy="give a list of names, or `all`")
    if not words:
        raise Error(f"there are no {what} to compare", remedy=f"name some, or `all` (sledlab {kind} list)")
    return tuple(dict.fromkeys(words))


def spelled(chosen: Chosen) -> str:
    """A model with its parameters in one word: `zsptf:grid=40x4`."""
    said = (f"{key}={settings.word(value)}" for key, value in chosen.parameters.items())
    return ":".join([chosen.name, *said])


def numbers(what: str, given: Any, *, above: bool = False) -> tuple[float, ...]:
    """One number or several, each 0 or above, or `above` 0; rising, each once.

    Raises:
        Error: There are none, or one makes no sense; the message calls it `what`.

    Example:
        >>> numbers("load", [2, 1, 2.0]), numbers("load", 3)
        ((1.0, 2.0), (3.0,))
    """
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if not values:
        raise Error(f"no {what} was given", remedy=f"give some numbers, or leave the {what}s out")
    for value in values:
        if not is_number(value) or value < 0 or (above and value == 0):
            limit = "above 0" if above else "0 or above"
            raise Error(f"`{value}` is not a {what}", remedy=f"give numbers, each {limit}")
    return tuple(sorted({float(value) for value in values}))


def is_number(value: Any) -> bool:
    """Whether something is a finite number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def seeds(config: Mapping[str, Any], count: Any) -> tuple[int, ...]:
    """So many roots of random numbers, from that of an experiment on.

    Raises:
        Error: It is no count, or nothing in the experiment is random.
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise Error(f"`{count}` is not a number of seeds", remedy="give a whole number, 1 or more")
    if count > 1 and "workload" not in config:
        raise Error(
            f"{count} seeds for a trace: nothing in it is random, so all would give the same",
            remedy="leave seeds out, or take a generated workload",
        )
    return tuple(range(config["seed"], config["seed"] + count))
