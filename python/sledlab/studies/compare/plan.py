"""The plan of a comparison: every scheduler at every speed-up, with every seed and combination of `vary`."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.model.catalog import load_catalog, with_settings
from sledlab.studies.compare.vary import NOTHING_VARIES, settings_of
from sledlab.studies.races.measure import MEASURES
from sledlab.study.plan import Case, Plan, check_source, explicit_tables, name_failed_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.compare.vary import Varied
    from sledlab.study.plan import Question

SPEEDUPS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Speed-ups of an open replay, by default."""


def race_schedulers() -> tuple[str, ...]:
    """The schedulers that `all` stands for."""
    return tuple(item["name"] for item in load_catalog()["schedulers"] if item["compared_by_default"])


def plan_runs(question: Question) -> Plan:
    """Check all that can be checked before the first run, and fill in defaults.

    Raises:
        Error: A run is invalid, or a recorded trace has several seeds.
    """
    names = question.axis("scheduler") or race_schedulers()
    is_closed = (question.base.setting("replay.mode") or "open").startswith("closed")
    speedups = question.axis("speedup", (1.0,) if is_closed else SPEEDUPS)
    vary = question.axis("vary", NOTHING_VARIES)
    tables = {"seed": 1, **explicit_tables(question.base)}
    for each in vary.combinations:
        _check(question, names[0], each)
    seeds = question.seeds(tables)
    overload = question.axis("overload", "stop")
    plan = Plan(
        bases={"": question.base},
        trace=question.trace,
        cases=[_case(*arguments) for arguments in product(reversed(speedups), vary.combinations, names)],
        seeds=seeds,
        axes={
            "scheduler": names,
            "speedup": speedups,
            "seed": seeds,
            "vary": vary.values_by_key,
            "overload": overload,
        },
        measure=MEASURES[overload],
    )
    plan.check()
    return plan


def _check(question: Question, name: str, varied: Sequence[Varied]) -> None:
    """Check the part that all runs with one combination of varied values share."""
    try:
        settings = {"scheduler.kind": name, **dict(settings_of(varied))}
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
    settings = [("scheduler.kind", scheduler_name), *settings_of(varied), ("replay.speedup", repr(speedup))]
    run_name = ", ".join(
        [f"{scheduler_name} at speed-up {speedup:g}", *([_describe_values(varied)] if varied else [])]
    )
    return Case("runs", tuple(labels), "", tuple(settings), speedup, run_name)


def _describe_values(varied: Sequence[Varied]) -> str:
    """Return a combination of varied values as text: `device.sleds = 4, replay.limit = 100`."""
    return ", ".join(f"{key} = {value}" for key, value, _ in varied)
