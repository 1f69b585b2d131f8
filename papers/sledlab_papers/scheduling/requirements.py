"""Claims on starvation and on the requirements of a scheduler (Lee 2009, sections 2.2 to 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import mean

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..paths import EXPERIMENTS
from ..wording import cells, number_table
from .plan import BY_X, REQUIREMENTS, REQUIREMENTS_BY_X, SchedulingRuns

SPEEDUPS = (8.0, 9.0, 30.0)
"""Two heavy loads, and overload, in which the matrix is measured."""

PUBLISHED_REQUIREMENTS = {
    BY_X: (True, False, False),
    "sptf": (True, False, False),
    "p-sptf": (True, True, False),
    "zsptf": (True, False, True),
    "pa-sptf": (True, True, True),
    "zscan-psptf": (True, True, True),
    "zpsptf": (True, True, True),
}
"""Whether each scheduler has short positioning, parallelism, fairness; Lee 2009, sections 3.2 and 3.3."""

MIN_REDUCTION = 0.1
"""Least relative reduction of the positioning time of FCFS that makes it short."""

SEEDS = (1, 2, 3, 4, 5)
MST_REQUESTS = 3000
"""Requests of the stream for MST, and of one seed: its plan takes a time that grows with the square of the
queue."""


@dataclass(frozen=True)
class FarWait:
    """The wait of the far request during a stream, and whether it lasts until the stream ends."""

    ms: float
    lasts: bool


@cache
def far_waits(scheduler: str) -> tuple[FarWait, ...]:
    """The wait of the far request for each seed; under MST for the first."""
    settings = {"scheduler.kind": scheduler}
    if scheduler == "mst":
        settings["workload.requests"] = str(MST_REQUESTS)
    return tuple(
        _far_wait({**settings, "seed": str(seed)}) for seed in (SEEDS[:1] if scheduler == "mst" else SEEDS)
    )


def _far_wait(settings: Mapping[str, str]) -> FarWait:
    file = EXPERIMENTS / "lee2009-starvation.toml"
    experiment = sl.Experiment(file.read_text(encoding="utf-8"), str(file))
    for key, value in settings.items():
        experiment = experiment.with_setting(key, value)
    requests = sl.run(experiment, requests=True, allow_plugins=True).requests
    far_request = requests.sort("lbn").row(-1, named=True)
    wait_ms = (far_request["start_ns"] - far_request["arrival_ns"]) / 1e6
    return FarWait(wait_ms, far_request["start_ns"] >= requests["arrival_ns"].max())


def starves(scheduler: str) -> bool:
    """Whether the far request waits until the stream ends, with most seeds."""
    return mean(wait.lasts for wait in far_waits(scheduler)) > 0.5


def l_06(_: SchedulingRuns) -> Judgment:
    """Schedulers under which the far request starves."""
    names = ("sptf", BY_X, "mst", "p-sptf", "pa-sptf")
    waits_ms = {name: [wait.ms for wait in far_waits(name)] for name in names}
    rows = [
        cells(
            "{} | {} | {:,.0f} | {:,.0f} | {} of {}",
            *(_label(name), len(waits), min(waits), max(waits)),
            *(sum(wait.lasts for wait in far_waits(name)), len(waits)),
        )
        for name, waits in waits_ms.items()
    ]
    is_bounded = not any(wait.lasts for wait in far_waits("pa-sptf"))
    judgment = judge_criterion(is_bounded and all(map(starves, ("sptf", BY_X, "mst"))), is_bounded)
    return judgment.with_numbers(
        shortest_ms=min(waits_ms["pa-sptf"]),
        longest_ms=max(waits_ms["pa-sptf"]),
        starving=", ".join(_label(name) for name in names if starves(name)),
        mst_requests=MST_REQUESTS,
    ).with_tables(
        number_table(
            "Wait of a far request", "scheduler | seeds | least, ms | most, ms | until the stream ended", rows
        )
    )


def _label(name: str) -> str:
    """The name of a scheduler in sentences and tables."""
    return "SSTF" if name == BY_X else name.upper()


def _value(runs: SchedulingRuns, name: str, speedup: float, measure: str) -> float:
    """A measure of a scheduler at a load."""
    if name != BY_X:
        return runs.load_curves(REQUIREMENTS).value(name, speedup, measure)
    load_curves = runs.load_curves(REQUIREMENTS_BY_X.place)
    (short_name,) = load_curves.schedulers
    return load_curves.value(short_name, speedup, measure)


def l_23(runs: SchedulingRuns) -> Judgment:
    """The matrix of requirements, measured in overload."""
    met_by_scheduler = {name: _met_requirements(runs, name) for name in PUBLISHED_REQUIREMENTS}
    rows = [
        (
            _label(name),
            *map(_cell, met_requirements, PUBLISHED_REQUIREMENTS[name]),
            *(f"{_value(runs, name, speedup, 'served_at_once'):.4f}" for speedup in SPEEDUPS),
        )
        for name, met_requirements in met_by_scheduler.items()
    ]
    differing_schedulers = [
        name for name in PUBLISHED_REQUIREMENTS if met_by_scheduler[name] != PUBLISHED_REQUIREMENTS[name]
    ]
    agreements = [
        is_met == is_published
        for name, met_requirements in met_by_scheduler.items()
        for is_met, is_published in zip(met_requirements, PUBLISHED_REQUIREMENTS[name], strict=True)
    ]
    judgment = judge_comparisons(agreements)
    return judgment.with_numbers(differs=", ".join(map(_label, differing_schedulers))).with_tables(
        number_table(
            "Requirements that are met at factor 30, and requests in service at a time by factor",
            "scheduler | short positioning | parallelism | fairness | x8 | x9 | x30",
            rows,
        )
    )


def _cell(is_met: bool, is_published: bool) -> str:
    text = "yes" if is_met else "no"
    return text if is_met == is_published else f"{text} (published: {'yes' if is_published else 'no'})"


def _positioning_change(runs: SchedulingRuns, name: str, speedup: float) -> float:
    """The mean positioning time as a relative difference from FCFS's."""
    return _value(runs, name, speedup, "positioning_ms") / _value(runs, "fcfs", speedup, "positioning_ms") - 1


def _met_requirements(runs: SchedulingRuns, name: str) -> tuple[bool, bool, bool]:
    return (
        _positioning_change(runs, name, SPEEDUPS[-1]) < -MIN_REDUCTION,
        _value(runs, name, SPEEDUPS[-1], "served_at_once") > 1.0,
        not starves(name),
    )
