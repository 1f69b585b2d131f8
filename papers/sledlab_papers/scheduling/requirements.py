"""Claims on starvation and on the requirements of a scheduler (Lee 2009, sections 2.2 to 3.3)."""

from __future__ import annotations

from functools import cache

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..markdown import table
from ..paths import EXPERIMENTS
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
    rows = sl.run(experiment, requests=True).requests
    far = rows.sort("lbn").row(-1, named=True)
    return (far["start_ns"] - far["arrival_ns"]) / 1e6, far["start_ns"] >= rows["arrival_ns"].max()


def l_06(_: SchedulingRuns) -> Judgment:
    """Schedulers under which the far request starves."""
    names = ("sptf", "sstf", "mst", "p-sptf", "pa-sptf")
    waits = {name: far_wait_ms(name) for name in names}
    parts = ", ".join(
        f"{name.upper()} {wait:,.0f} ms{' (until the stream ended)' if starved else ''}"
        for name, (wait, starved) in waits.items()
    )
    starving = all(waits[name][1] for name in ("sptf", "sstf", "mst"))
    return judge_criterion(starving and (not waits["pa-sptf"][1]), not waits["pa-sptf"][1]).with_numbers(
        parts=parts, stream=STREAM_REQUESTS
    )


def l_23(runs: SchedulingRuns) -> Judgment:
    """The matrix of requirements, measured."""
    measured = {name: _requirements(runs, name) for name in PUBLISHED_REQUIREMENTS}
    wrong = {name for name in PUBLISHED_REQUIREMENTS if measured[name] != PUBLISHED_REQUIREMENTS[name]}
    rows = [
        [
            name.upper(),
            *(_cell(a, b) for a, b in zip(measured[name], PUBLISHED_REQUIREMENTS[name], strict=True)),
        ]
        for name in measured
    ]
    head = ("scheduler", "short positioning", "parallelism", "fairness")
    race = runs.load_curves("lee2009-requirements")
    sstf = [race.change("sstf", "fcfs", at, "positioning_ms") for at in (9.0, 30.0)]
    matrix = table(head, rows, words=4)
    differs = ", ".join(name.upper() for name in sorted(wrong))
    cells = (
        a == b
        for name, row in measured.items()
        for a, b in zip(row, PUBLISHED_REQUIREMENTS[name], strict=True)
    )
    return judge_comparisons(cells).with_numbers(matrix=matrix, sstf=sstf, differs=differs)


def _cell(measured: bool, published: bool) -> str:
    details = "yes" if measured else "no"
    return details if measured == published else f"**{details}** (paper: {'yes' if published else 'no'})"


def _requirements(runs: SchedulingRuns, name: str) -> tuple[bool, bool, bool]:
    race = runs.load_curves("lee2009-requirements")
    positioning = race.value(name, 30.0, "positioning_ms") / race.value("fcfs", 30.0, "positioning_ms")
    return positioning < 0.9, race.value(name, 30.0, "served_at_once") > 1.0, not far_wait_ms(name)[1]
