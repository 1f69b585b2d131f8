"""Claims on starvation and on the requirements of a scheduler (Lee 2009, sections 2.2 to 3.3)."""

from __future__ import annotations

from functools import cache

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..paths import EXPERIMENTS
from ..wording import cells, number_table
from .plan import SchedulingRuns

PUBLISHED_REQUIREMENTS = {
    "sstf": (True, False, False),
    "sptf": (True, False, False),
    "p-sptf": (True, True, False),
    "zsptf": (True, False, True),
    "pa-sptf": (True, True, True),
    "zscan-psptf": (True, True, True),
    "zpsptf": (True, True, True),
}
"""Whether each scheduler has short positioning, parallelism, fairness; Lee 2009, sections 3.2 and 3.3."""

STREAM_REQUESTS = {"mst": 1500}
"""Requests of the stream for schedulers that are too slow for those of the experiment."""


@cache
def far_wait_ms(scheduler: str) -> tuple[float, bool]:
    """Wait of the far request during a stream, in ms, and whether it lasts until the stream ends."""
    file = EXPERIMENTS / "lee2009-starvation.toml"
    experiment = sl.Experiment(file.read_text(encoding="utf-8"), str(file)).with_setting(
        "scheduler.kind", scheduler
    )
    if scheduler in STREAM_REQUESTS:
        experiment = experiment.with_setting("workload.requests", str(STREAM_REQUESTS[scheduler]))
    requests = sl.run(experiment, requests=True).requests
    far_request = requests.sort("lbn").row(-1, named=True)
    return (far_request["start_ns"] - far_request["arrival_ns"]) / 1e6, far_request["start_ns"] >= requests[
        "arrival_ns"
    ].max()


def l_06(_: SchedulingRuns) -> Judgment:
    """Schedulers under which the far request starves."""
    names = ("sptf", "sstf", "mst", "p-sptf", "pa-sptf")
    waits = {name: far_wait_ms(name) for name in names}
    rows = [
        cells("{:upper} | {:,.0f} | {}", name, wait, "yes" if is_starved else "no")
        for name, (wait, is_starved) in waits.items()
    ]
    all_starve = all(waits[name][1] for name in ("sptf", "sstf", "mst"))
    judgment = judge_criterion(all_starve and (not waits["pa-sptf"][1]), not waits["pa-sptf"][1])
    return judgment.with_numbers(
        pa_sptf_ms=waits["pa-sptf"][0],
        starving=", ".join(name.upper() for name, (_, is_starved) in waits.items() if is_starved),
        stream=STREAM_REQUESTS,
    ).with_tables(
        number_table("Wait of a far request", "scheduler | wait, ms | until the stream ended", rows)
    )


def l_23(runs: SchedulingRuns) -> Judgment:
    """The matrix of requirements, measured."""
    met_by_scheduler = {name: _met_requirements(runs, name) for name in PUBLISHED_REQUIREMENTS}
    differing_schedulers = {
        name for name in PUBLISHED_REQUIREMENTS if met_by_scheduler[name] != PUBLISHED_REQUIREMENTS[name]
    }
    rows = [
        (name.upper(), *map(_cell, met_requirements, PUBLISHED_REQUIREMENTS[name]))
        for name, met_requirements in met_by_scheduler.items()
    ]
    load_curves = runs.load_curves("lee2009-requirements")
    sstf_changes = [load_curves.change("sstf", "fcfs", speedup, "positioning_ms") for speedup in (9.0, 30.0)]
    differs = ", ".join(name.upper() for name in sorted(differing_schedulers))
    agreements = [
        is_met == is_published
        for name, met_requirements in met_by_scheduler.items()
        for is_met, is_published in zip(met_requirements, PUBLISHED_REQUIREMENTS[name], strict=True)
    ]
    judgment = judge_comparisons(agreements).with_numbers(sstf=sstf_changes, differs=differs)
    return judgment.with_tables(
        number_table(
            "Requirements that are met", "scheduler | short positioning | parallelism | fairness", rows
        )
    )


def _cell(is_met: bool, is_published: bool) -> str:
    text = "yes" if is_met else "no"
    return text if is_met == is_published else f"{text} (published: {'yes' if is_published else 'no'})"


def _met_requirements(runs: SchedulingRuns, name: str) -> tuple[bool, bool, bool]:
    load_curves = runs.load_curves("lee2009-requirements")
    positioning_ratio = load_curves.value(name, 30.0, "positioning_ms") / load_curves.value(
        "fcfs", 30.0, "positioning_ms"
    )
    return (
        positioning_ratio < 0.9,
        load_curves.value(name, 30.0, "served_at_once") > 1.0,
        not far_wait_ms(name)[1],
    )
