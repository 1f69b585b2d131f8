"""Claims on all strategies together and on starting later (Hong 2006, sections 5.3.4 and 7)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed
from ..runs import ExperimentRuns
from ..wording import percent
from .breakdown import inconsistency_text
from .plan import PowerRuns

FIGURE, DELAYED_SPINUP = "hong2006-figure-12", "hong2006-delayed-spinup"
ALL, NONE, PARKING = "small: all", "small: none", "small: parking"
WHOLE, WHOLE_NONE = "whole: parking and merging", "whole: none"
IMMEDIATE_START = "at once"
STARTUP_MS = 0.5
SCHEDULERS = ("fcfs", "sptf")
MAX_LOW_SPEEDUP = 10.0
"""The highest speed-up that counts as low: sleds are mostly idle."""

QUEUEING_SPEEDUP = 10.0
"""The speed-up of the stand-in at which queues form now and then."""


def _changes_text(points: ExperimentRuns, combined: str, none: str) -> str:
    """Changes of energy and response by speed-up, in words."""
    return ", ".join(
        f"{percent(points.change(combined, none, speedup, 'energy_j'), 1)} % and "
        f"{points.mean(combined, speedup, 'mean_ms') - points.mean(none, speedup, 'mean_ms'):+.2f} ms at "
        f"{speedup:g}"
        for speedup in points.stable_speedups(combined, none)
    )


def h_74(runs: PowerRuns) -> Judgment:
    """Energy and response with all three strategies, compared with none."""
    points = runs.experiment(FIGURE)
    saved = {s: -points.change(ALL, NONE, s, "energy_j") for s in points.stable_speedups(ALL, NONE)}
    added = {s: points.mean(ALL, s, "mean_ms") - points.mean(NONE, s, "mean_ms") for s in saved}
    cut = min(points.change(ALL, NONE, s, "mean_ms") for s in saved)
    best = max(saved, key=saved.__getitem__)
    parked = -points.change(PARKING, NONE, best, "energy_j")
    low = min(saved)
    turns = 0 < added[low] <= 0.55 and min(added.values()) < 0
    inside = [f"{speedup:g}" for speedup, share in saved.items() if 0.40 <= share <= 0.60]
    inactive = points.share(NONE, low, "inactive_j")
    return judge_printed([saved[low]], [added[low]], [-cut], direction=turns, holds=turns).with_numbers(
        along=_changes_text(points, ALL, NONE),
        cut=percent(-cut, 1)[1:],
        saved=percent(saved[best], 1)[1:],
        best=best,
        parked=percent(parked, 1)[1:],
        whole=_changes_text(points, WHOLE, WHOLE_NONE),
        inside=", ".join(inside) or "no",
        inactive=inactive,
        low=saved[low],
        unfit=inconsistency_text(runs),
    )


def h_04(runs: PowerRuns) -> Judgment:
    """Half of the energy saved, for a small rise of response time."""
    points = runs.experiment(FIGURE)
    stable = points.stable_speedups(ALL, NONE)
    saved = {s: -points.change(ALL, NONE, s, "energy_j") for s in stable}
    added = {s: points.mean(ALL, s, "mean_ms") - points.mean(NONE, s, "mean_ms") for s in stable}
    near = {s: 0.40 <= share <= 0.60 and added[s] <= STARTUP_MS for s, share in saved.items()}
    low = [
        share
        for speedup, share in saved.items()
        if speedup <= MAX_LOW_SPEEDUP and added[speedup] <= STARTUP_MS
    ]
    return judge_printed(low, direction=any(near.values())).with_numbers(
        along=_changes_text(points, ALL, NONE),
        low=MAX_LOW_SPEEDUP,
        maximum=max(share for speedup, share in saved.items() if speedup <= MAX_LOW_SPEEDUP),
        inside=", ".join(f"{speedup:g}" for speedup, checked in near.items() if checked) or "no",
        unfit=inconsistency_text(runs),
    )


def h_76(runs: PowerRuns) -> Judgment:
    """Delayed starts, with merging and without."""
    delayed = [
        v
        for v in runs.experiment(DELAYED_SPINUP).axis_values
        if not v.startswith(IMMEDIATE_START) and "merging" not in v
    ]
    energy, response, recovered = [], [], {}
    for scheduler in SCHEDULERS:
        points = runs.experiment(DELAYED_SPINUP, scheduler)
        for speedup in points.speedups:
            energy += [points.change(name, IMMEDIATE_START, speedup, "energy_j") for name in delayed]
            response += [
                points.mean(name, speedup, "mean_ms") - points.mean(IMMEDIATE_START, speedup, "mean_ms")
                for name in delayed
            ]
            recovered[scheduler, speedup] = [
                points.mean(name, speedup, "mean_ms") - points.mean(f"{name}, merging", speedup, "mean_ms")
                for name in delayed
            ]
    details = "; ".join(
        f"{min(measured):+.3f} to {max(measured):+.3f} ms under {scheduler.upper()} at {speedup:g}"
        for (scheduler, speedup), measured in recovered.items()
    )
    down, up = max(energy) < 0, min(response) > 0
    gives = [gain > 0 for measured in recovered.values() for gain in measured]
    points, longest = runs.experiment(DELAYED_SPINUP), delayed[0]
    starts = [points.mean(name, 1.0, "startups") for name in (longest, f"{longest}, merging")]
    busy = all(
        gain > 0
        for (_, speedup), measured in recovered.items()
        if speedup == QUEUEING_SPEEDUP
        for gain in measured
    )
    return judge_criterion(down and up and all(gives), down and up).with_numbers(
        minimum=100 * min(energy),
        maximum=100 * max(energy),
        min_ms=min(response),
        max_ms=max(response),
        details=details,
        giving=sum(gives),
        cases=len(gives),
        among=f", among them all at {QUEUEING_SPEEDUP:g} times the speed" if busy else "",
        starts=starts,
        longest=longest,
    )
