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


def _added_ms(experiment: ExperimentRuns, strategy: str, baseline: str, speedup: float) -> float:
    return experiment.mean(strategy, speedup, "mean_ms") - experiment.mean(baseline, speedup, "mean_ms")


def _changes_text(experiment: ExperimentRuns, strategy: str, baseline: str) -> str:
    """Changes of energy and response by speed-up, in words."""
    return ", ".join(
        f"{percent(experiment.change(strategy, baseline, speedup, 'energy_j'), 1)} % and "
        f"{_added_ms(experiment, strategy, baseline, speedup):+.2f} ms at {speedup:g}"
        for speedup in experiment.stable_speedups(strategy, baseline)
    )


def h_74(runs: PowerRuns) -> Judgment:
    """Energy and response with all three strategies, compared with none."""
    experiment = runs.experiment(FIGURE)
    savings = {s: -experiment.change(ALL, NONE, s, "energy_j") for s in experiment.stable_speedups(ALL, NONE)}
    added_ms = {s: experiment.mean(ALL, s, "mean_ms") - experiment.mean(NONE, s, "mean_ms") for s in savings}
    lowest_change = min(experiment.change(ALL, NONE, s, "mean_ms") for s in savings)
    best_speedup = max(savings, key=savings.__getitem__)
    parking_saving = -experiment.change(PARKING, NONE, best_speedup, "energy_j")
    lowest_speedup = min(savings)
    response_turns = 0 < added_ms[lowest_speedup] <= 0.55 and min(added_ms.values()) < 0
    inside_speedups = [f"{speedup:g}" for speedup, share in savings.items() if 0.40 <= share <= 0.60]
    inactive_share = experiment.share(NONE, lowest_speedup, "inactive_j")
    return judge_printed(
        [savings[lowest_speedup]],
        [added_ms[lowest_speedup]],
        [-lowest_change],
        direction_holds=response_turns,
        rest_holds=response_turns,
    ).with_numbers(
        along=_changes_text(experiment, ALL, NONE),
        cut=percent(-lowest_change, 1)[1:],
        saved=percent(savings[best_speedup], 1)[1:],
        best=best_speedup,
        parked=percent(parking_saving, 1)[1:],
        whole=_changes_text(experiment, WHOLE, WHOLE_NONE),
        inside=", ".join(inside_speedups) or "no",
        inactive=inactive_share,
        low=savings[lowest_speedup],
        unfit=inconsistency_text(runs),
    )


def h_04(runs: PowerRuns) -> Judgment:
    """Half of the energy saved, for a small rise of response time."""
    experiment = runs.experiment(FIGURE)
    stable_speedups = experiment.stable_speedups(ALL, NONE)
    savings = {s: -experiment.change(ALL, NONE, s, "energy_j") for s in stable_speedups}
    added_ms = {
        s: experiment.mean(ALL, s, "mean_ms") - experiment.mean(NONE, s, "mean_ms") for s in stable_speedups
    }
    are_near = {s: 0.40 <= share <= 0.60 and added_ms[s] <= STARTUP_MS for s, share in savings.items()}
    low_savings = [
        share
        for speedup, share in savings.items()
        if speedup <= MAX_LOW_SPEEDUP and added_ms[speedup] <= STARTUP_MS
    ]
    return judge_printed(low_savings, direction_holds=any(are_near.values())).with_numbers(
        along=_changes_text(experiment, ALL, NONE),
        low=MAX_LOW_SPEEDUP,
        maximum=max(share for speedup, share in savings.items() if speedup <= MAX_LOW_SPEEDUP),
        inside=", ".join(f"{speedup:g}" for speedup, is_near in are_near.items() if is_near) or "no",
        unfit=inconsistency_text(runs),
    )


def h_76(runs: PowerRuns) -> Judgment:
    """Delayed starts, with merging and without."""
    delays = [
        v
        for v in runs.experiment(DELAYED_SPINUP).axis_values
        if not v.startswith(IMMEDIATE_START) and "merging" not in v
    ]
    energy_changes, added_ms, recovered_ms = [], [], {}
    for scheduler in SCHEDULERS:
        experiment = runs.experiment(DELAYED_SPINUP, scheduler)
        for speedup in experiment.speedups:
            energy_changes += [
                experiment.change(name, IMMEDIATE_START, speedup, "energy_j") for name in delays
            ]
            added_ms += [
                experiment.mean(name, speedup, "mean_ms")
                - experiment.mean(IMMEDIATE_START, speedup, "mean_ms")
                for name in delays
            ]
            recovered_ms[scheduler, speedup] = [
                experiment.mean(name, speedup, "mean_ms")
                - experiment.mean(f"{name}, merging", speedup, "mean_ms")
                for name in delays
            ]
    details = "; ".join(
        f"{min(gains_ms):+.3f} to {max(gains_ms):+.3f} ms under {scheduler.upper()} at {speedup:g}"
        for (scheduler, speedup), gains_ms in recovered_ms.items()
    )
    energy_falls, response_rises = max(energy_changes) < 0, min(added_ms) > 0
    are_positive = [gain > 0 for gains_ms in recovered_ms.values() for gain in gains_ms]
    experiment, longest_delay = runs.experiment(DELAYED_SPINUP), delays[0]
    startups = [
        experiment.mean(name, 1.0, "startups") for name in (longest_delay, f"{longest_delay}, merging")
    ]
    helps_queueing = all(
        gain > 0
        for (_, speedup), gains_ms in recovered_ms.items()
        if speedup == QUEUEING_SPEEDUP
        for gain in gains_ms
    )
    return judge_criterion(
        energy_falls and response_rises and all(are_positive), energy_falls and response_rises
    ).with_numbers(
        minimum=100 * min(energy_changes),
        maximum=100 * max(energy_changes),
        min_ms=min(added_ms),
        max_ms=max(added_ms),
        details=details,
        giving=sum(are_positive),
        cases=len(are_positive),
        among=f", among them all at {QUEUEING_SPEEDUP:g} times the speed" if helps_queueing else "",
        starts=startups,
        longest=longest_delay,
    )
