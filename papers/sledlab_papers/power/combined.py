"""Claims on all strategies together and on starting later (Hong 2006, sections 5.3.4 and 7)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed
from ..runs import ExperimentRuns
from ..wording import percent
from .breakdown import inconsistency_text
from .plan import PowerRuns

FIGURE, DELAYED_SPINUP = "hong2006-figure-12", "hong2006-delayed-spinup"
ALL, NONE, PARKING = "all", "none", "parking"
IMMEDIATE_START = "at once"
STARTUP_MS = 0.5
SCHEDULERS = ("fcfs", "sptf")
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
    added_ms = {s: _added_ms(experiment, ALL, NONE, s) for s in savings}
    lowest_change = min(experiment.change(ALL, NONE, s, "mean_ms") for s in savings)
    best_speedup = max(savings, key=savings.__getitem__)
    lowest_speedup = min(savings)
    response_turns = 0 < added_ms[lowest_speedup] <= 0.55 and min(added_ms.values()) < 0
    return judge_printed(
        [savings[lowest_speedup]],
        [added_ms[lowest_speedup]],
        [-lowest_change],
        direction_holds=response_turns,
        rest_holds=response_turns,
    ).with_numbers(
        along=_changes_text(experiment, ALL, NONE),
        cut=-lowest_change,
        saved=savings[best_speedup],
        best=best_speedup,
        parked=-experiment.change(PARKING, NONE, best_speedup, "energy_j"),
        inactive=experiment.share(NONE, lowest_speedup, "inactive_j"),
        low=savings[lowest_speedup],
        unfit=inconsistency_text(runs),
    )


def h_04(runs: PowerRuns) -> Judgment:
    """The largest saving of energy, for a small rise of response time."""
    experiment = runs.experiment(FIGURE)
    savings = {
        speedup: -experiment.change(ALL, NONE, speedup, "energy_j")
        for speedup in experiment.stable_speedups(ALL, NONE)
        if _added_ms(experiment, ALL, NONE, speedup) <= STARTUP_MS
    }
    best_speedup = max(savings, key=savings.__getitem__)
    return judge_printed(savings.values(), direction_holds=min(savings.values()) > 0).with_numbers(
        along=_changes_text(experiment, ALL, NONE),
        best=best_speedup,
        maximum=savings[best_speedup],
        startup_ms=STARTUP_MS,
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
