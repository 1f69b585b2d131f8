"""The plan of a comparison: every scheduler at every speed-up, with every seed and value of `vary`."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from itertools import product
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.model import choices
from sledlab.model.catalogue import everything, scheduler
from sledlab.model.settings import word
from sledlab.study import axes
from sledlab.study.plan import Case, Plan, check_source, named_alone, said_of

if TYPE_CHECKING:
    from sledlab.study.plan import Question, Settings

    Varied = tuple[str, Any, Settings]

SPEEDUPS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Speed-ups of an open replay, by default."""


def racing() -> tuple[str, ...]:
    """The schedulers that `all` stands for."""
    return tuple(item["name"] for item in everything()["schedulers"] if item["in_race"])


def planned(question: Question) -> Plan:
    """Checks all that can be checked before the first run, and fills in defaults.

    Raises:
        Error: A scheduler is unknown, a number is invalid, or a recorded trace has several seeds.
    """
    names = choices.models("scheduler", "schedulers", question.axis("schedulers", "all"), racing())
    for name in names:
        if not _native.is_plugin(name):
            scheduler(name)
    closed = (question.base.setting("replay.mode") or "open").startswith("closed")
    speedups = choices.numbers(
        "speed-up", question.axis("speedups", (1.0,) if closed else SPEEDUPS), above=True
    )
    vary, sets = _varied(question.axis("vary"))
    said = {"seed": 1, **said_of(question.base)}
    for each in sets:
        _check(question, names[0], each)
    seeds = axes.seeds(said, question.axis("seeds", 1))
    made = Plan(
        bases={"": question.base},
        trace=question.trace,
        cases=[_case(*place) for place in product(reversed(speedups), sets, names)],
        seeds=seeds,
        axes={"schedulers": names, "speedups": speedups, "seeds": len(seeds), "vary": vary},
    )
    assert made.texts  # checks every point
    return made


def _check(question: Question, name: str, varied: Varied | None) -> None:
    """Checks the part that all points with one value of `vary` share."""
    try:
        experiment = question.base.with_setting("scheduler.kind", name)
        for key, value in varied[2] if varied else ():
            experiment = experiment.with_setting(key, value)
        experiment.to_toml()
    except Error as error:
        if varied is None:
            raise
        raise named_alone(error, f"{varied[0]} = {varied[1]}", question.base) from error
    check_source(experiment, question.trace)


def _case(speedup: float, varied: Varied | None, name: str) -> Case:
    labels: list[tuple[str, Any]] = [("scheduler", name), ("speedup", speedup)]
    settings, called = [("scheduler.kind", name)], f"{name} at speed-up {speedup:g}"
    if varied:
        labels.append(varied[:2])
        settings += varied[2]
        called += f", {varied[0]} = {varied[1]}"
    settings.append(("replay.speedup", repr(speedup)))
    return Case("points", tuple(labels), "", tuple(settings), speedup, called)


def _varied(given: Any) -> tuple[dict[str, Any] | None, list[Varied | None]]:
    """`vary` as a file spells it, and each of its values with its settings."""
    if not given:
        return None, [None]
    if not hasattr(given, "items") or len(given) != 1:
        raise Error("vary takes exactly one key", remedy='write it as {"device.sleds" = [1, 4]}')
    ((key, values),) = given.items()
    if hasattr(values, "items"):
        return {key: values}, _sets(key, values)
    if not isinstance(values, (list, tuple)) or not values:
        raise Error(f"vary: `{key}` has no list of values", remedy=f"write it as {{{key!r}: [1, 4]}}")
    if key in ("scheduler.kind", "replay.speedup", "seed"):
        raise Error(f"vary: `{key}` varies already", remedy="give schedulers, speed-ups or seeds instead")
    values = list(dict.fromkeys(values))
    if not all(isinstance(value, (int, float)) for value in values):
        values = [str(value) for value in values]
    return {key: values}, [(key, value, ((key, word(value)),)) for value in values]


def _sets(key: str, sets: Mapping[str, Any]) -> list[Varied | None]:
    """Named sets of settings under a name of the user's, as values of `vary`."""
    form = 'write it as {"saving": {"none": {"merge.kind": "none"}, "merging": {"merge.kind": "chains"}}}'
    if not key.isidentifier():
        raise Error(f"vary: `{key}` is not a word for sets of settings", remedy=form)
    if not sets or not all(hasattr(settings, "items") for settings in sets.values()):
        raise Error(f"vary: `{key}` needs a set of settings for each name", remedy=form)
    return [
        (key, name, tuple((each, word(value)) for each, value in settings.items()))
        for name, settings in sets.items()
    ]
