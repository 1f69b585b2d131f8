"""Claims on starvation and on what a scheduler must have (paper 002, sections 2.2 to 3.3)."""

from __future__ import annotations

from functools import cache

import sledlab as sl

from ...markdown import percent, table
from ..claims import Verdict, verdict
from ..experiments import EXPERIMENTS
from .runs import Runs

PUBLISHED = {
    "sstf": (True, False, False),
    "sptf": (True, False, False),
    "p-sptf": (True, True, False),
    "zsptf": (True, False, True),
    "pa-sptf": (True, True, True),
    "zscan-psptf": (True, True, True),
    "zpsptf": (True, True, True),
}
"""Short positioning, parallelism, fairness; paper 002, sections 3.2 and 3.3."""

STREAM = {"mst": 1500}
"""Requests of the stream, where those of the experiment are too many."""


@cache
def far_wait_ms(scheduler: str) -> tuple[float, bool]:
    """What the far request beside a stream waits, and whether it is until the stream has ended."""
    file = EXPERIMENTS / "paper-002-starvation.toml"
    experiment = sl.Experiment(file.read_text(encoding="utf-8"), str(file)).with_setting(
        "scheduler.kind", scheduler
    )
    if scheduler in STREAM:
        experiment = experiment.with_setting("workload.requests", str(STREAM[scheduler]))
    rows = sl.run(experiment, requests=True).requests
    far = rows.sort("lbn").row(-1, named=True)
    return (far["start_ns"] - far["arrival_ns"]) / 1e6, far["start_ns"] >= rows["arrival_ns"].max()


def l_06(_: Runs) -> Verdict:
    """Who lets the far request starve."""
    names = ("sptf", "sstf", "mst", "p-sptf", "pa-sptf")
    waits = {name: far_wait_ms(name) for name in names}
    parts = ", ".join(
        f"{name.upper()} {wait:,.0f} ms{' (until the stream ended)' if starved else ''}"
        for name, (wait, starved) in waits.items()
    )
    ours = (
        f"A far request beside a dense stream waits {parts}. The stream of MST has {STREAM['mst']:,} "
        "requests, for it orders no more than 1,000; that of the others 20,000."
    )
    starving = all(waits[name][1] for name in ("sptf", "sstf", "mst"))
    return verdict(ours, holds=starving and not waits["pa-sptf"][1], partly=not waits["pa-sptf"][1])


def l_23(runs: Runs) -> Verdict:
    """The matrix of requirements, measured."""
    found = {name: _requirements(runs, name) for name in PUBLISHED}
    wrong = {name for name in PUBLISHED if found[name] != PUBLISHED[name]}
    rows = [
        [name.upper(), *(_cell(a, b) for a, b in zip(found[name], PUBLISHED[name], strict=True))]
        for name in found
    ]
    head = ("scheduler", "short positioning", "parallelism", "fairness")
    ours = (
        "Measured: positioning at least a tenth shorter than FCFS's in overload; more than one request in "
        "service at "
        "a time; a far request beside a stream is served before the stream ends.\n\n"
        + table(head, rows, words=4)
    )
    race = runs.race("paper-002-requirements")
    sstf = [
        race.at("sstf", at, "positioning_ms") / race.at("fcfs", at, "positioning_ms") - 1
        for at in (9.0, 30.0)
    ]
    ours += (
        "\nWhere the lines are drawn is ours, not the paper's. It matters for SSTF, whose positioning "
        f"differs from FCFS's by {percent(sstf[0], 1)} % at factor 9 and "
        f"{percent(sstf[1], 1)} % at factor 30."
    )
    why = (
        f"{', '.join(name.upper() for name in sorted(wrong))} differs. ZPSPTF goes to the zone that "
        "promises most, as P-SPTF goes to the position that does, and starves a far zone as that does a "
        "far position."
    )
    return verdict(ours, holds=not wrong, partly=len(wrong) <= 2, why=why)


def _cell(measured: bool, published: bool) -> str:
    said = "yes" if measured else "no"
    return said if measured == published else f"**{said}** (paper: {'yes' if published else 'no'})"


def _requirements(runs: Runs, name: str) -> tuple[bool, bool, bool]:
    race = runs.race("paper-002-requirements")
    positioning = race.at(name, 30.0, "positioning_ms") / race.at("fcfs", 30.0, "positioning_ms")
    return positioning < 0.9, race.at(name, 30.0, "served_at_once") > 1.0, not far_wait_ms(name)[1]


CLAIMS = {"L-06": l_06, "L-23": l_23}
