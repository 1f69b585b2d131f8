"""The plan of a comparison: every scheduler at every speed-up, with every seed and combination of `vary`."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.model import choices
from sledlab.model.catalog import load_catalog, scheduler, with_settings
from sledlab.model.settings import word
from sledlab.study import axes
from sledlab.study.measure import choose_measure
from sledlab.study.plan import Case, Plan, check_source, explicit_tables, name_failed_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.study.plan import Question, Settings

    Varied = tuple[str, Any, Settings]
    """A key of `vary`, one of its values, and the settings that the value stands for."""

SPEEDUPS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Speed-ups of an open replay, by default."""


def race_schedulers() -> tuple[str, ...]:
    """The schedulers that `all` stands for."""
    return tuple(item["name"] for item in load_catalog()["schedulers"] if item["compared_by_default"])


def plan_runs(question: Question) -> Plan:
    """Check all that can be checked before the first run, and fill in defaults.

    Raises:
        Error: A scheduler is unknown, a number is invalid, or a recorded trace has several seeds.
    """
    names = choices.models("scheduler", "schedulers", question.axis("scheduler", "all"), race_schedulers())
    for name in names:
        if not _native.is_plugin(name):
            scheduler(name)
    is_closed = (question.base.setting("replay.mode") or "open").startswith("closed")
    speedups = choices.numbers(
        "speed-up", question.axis("speedup", (1.0,) if is_closed else SPEEDUPS), above=True
    )
    vary, combined_values = _parse_vary(question.axis("vary"))
    tables = {"seed": 1, **explicit_tables(question.base)}
    for each in combined_values:
        _check(question, names[0], each)
    seeds = axes.seeds(tables, question.axis("seed"))
    overload = question.axis("overload", "stop")
    plan = Plan(
        bases={"": question.base},
        trace=question.trace,
        cases=[_case(*arguments) for arguments in product(reversed(speedups), combined_values, names)],
        seeds=seeds,
        axes={"scheduler": names, "speedup": speedups, "seed": seeds, "vary": vary, "overload": overload},
        measure=choose_measure(overload),
    )
    plan.check()
    return plan


def _check(question: Question, name: str, varied: Sequence[Varied]) -> None:
    """Check the part that all runs with one combination of varied values share."""
    try:
        settings = {"scheduler.kind": name, **dict(_settings(varied))}
        experiment = with_settings(question.base, settings)
        experiment.to_toml()
    except Error as error:
        if not varied:
            raise
        raise name_failed_run(error, _describe_values(varied), question.base) from error
    check_source(experiment, question.trace)


def _case(speedup: float, varied: Sequence[Varied], scheduler_name: str) -> Case:
    labels = [
        ("scheduler", scheduler_name),
        ("speedup", speedup),
        *((key, value) for key, value, _ in varied),
    ]
    settings = [("scheduler.kind", scheduler_name), *_settings(varied), ("replay.speedup", repr(speedup))]
    run_name = ", ".join(
        [f"{scheduler_name} at speed-up {speedup:g}", *([_describe_values(varied)] if varied else [])]
    )
    return Case("runs", tuple(labels), "", tuple(settings), speedup, run_name)


def _describe_values(varied: Sequence[Varied]) -> str:
    """Return a combination of varied values as text: `device.sleds = 4, replay.limit = 100`."""
    return ", ".join(f"{key} = {value}" for key, value, _ in varied)


def _settings(varied: Sequence[Varied]) -> Settings:
    """Return the settings of a combination of varied values."""
    return tuple(setting for *_, settings in varied for setting in settings)


def _parse_vary(values_by_key: Any) -> tuple[dict[str, Any] | None, list[tuple[Varied, ...]]]:
    """Return `vary` as a file spells it, and all combinations of its values."""
    if not values_by_key:
        return None, [()]
    if not hasattr(values_by_key, "items"):
        raise Error("vary: expected keys with lists of values", remedy='write it as {"device.sleds": [1, 4]}')
    axes = [_values(key, values) for key, values in values_by_key.items()]
    for first, second in combinations(axes, 2):
        for key in sorted({key for key, _ in _settings(first)} & {key for key, _ in _settings(second)}):
            raise Error(
                f"vary: both `{first[0][0]}` and `{second[0][0]}` set `{key}`",
                remedy="remove it from one of them",
            )
    vary = {
        key: values if hasattr(values, "items") else [value for _, value, _ in axis]
        for (key, values), axis in zip(values_by_key.items(), axes, strict=True)
    }
    return vary, list(product(*axes))


def _values(key: str, values: Any) -> list[Varied]:
    """Return the values of one key of `vary`, each with its settings."""
    if hasattr(values, "items"):
        return _sets(key, values)
    if not isinstance(values, (list, tuple)) or not values:
        raise Error(f"vary: `{key}` has no list of values", remedy=f"write it as {{{key!r}: [1, 4]}}")
    if key in ("scheduler.kind", "replay.speedup", "seed"):
        raise Error(f"vary: `{key}` varies already", remedy="use scheduler, speedup or seed instead")
    if nested := [value for value in values if isinstance(value, (list, tuple, dict))]:
        raise Error(f"vary: `{key}`: expected numbers or words, found `{nested[0]!s:.60}`")
    values = list(dict.fromkeys(values))
    if not all(isinstance(value, (int, float)) for value in values):
        values = [str(value) for value in values]
    return [(key, value, ((key, word(value)),)) for value in values]


def _sets(key: str, sets: Mapping[str, Any]) -> list[Varied]:
    """Named sets of settings under a name of the user's, as values of `vary`."""
    remedy = 'write it as {"saving": {"none": {"merge.kind": "none"}, "merging": {"merge.kind": "chains"}}}'
    if not key.isidentifier():
        raise Error(f"vary: `{key}` is not a word for sets of settings", remedy=remedy)
    if not sets or not all(hasattr(settings, "items") for settings in sets.values()):
        raise Error(f"vary: `{key}` needs a set of settings for each name", remedy=remedy)
    return [
        (key, name, tuple((each, word(value)) for each, value in settings.items()))
        for name, settings in sets.items()
    ]
