"""Claims on all strategies together and on starting later (Hong 2006, sections 5.3.4 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_comparisons, judge_printed
from ..runs import ExperimentRuns
from ..wording import cells, number_table
from .breakdown import max_parking_saving
from .plan import PowerRuns
from .tables import speed_table

FIGURE, DELAYED_SPINUP = "hong2006-figure-12", "hong2006-delayed-spinup"
ALL, NONE, PARKING = "all", "none", "parking"
IMMEDIATE_START = "at once"
STARTUP_MS = 0.5
SCHEDULERS = ("fcfs", "sptf")


def _added_ms(experiment: ExperimentRuns, strategy: str, baseline: str, speedup: float) -> float:
    return experiment.mean(strategy, speedup, "mean_ms") - experiment.mean(baseline, speedup, "mean_ms")


def _change_table(experiment: ExperimentRuns) -> NumberTable:
    """Changes of energy and response with all strategies, compared with none."""
    speedups = experiment.stable_speedups(ALL, NONE)
    return speed_table(
        "Change against a timeout of one second, FCFS, by speed",
        ("energy, %", "{:+%1}", {s: experiment.change(ALL, NONE, s, "energy_j") for s in speedups}),
        ("response, ms", "{:+.2f}", {s: _added_ms(experiment, ALL, NONE, s) for s in speedups}),
    )


def h_74(runs: PowerRuns) -> Judgment:
    """Energy and response with all three strategies, compared with none."""
    experiment = runs.experiment(FIGURE)
    savings = {s: -experiment.change(ALL, NONE, s, "energy_j") for s in experiment.stable_speedups(ALL, NONE)}
    added_ms = {s: _added_ms(experiment, ALL, NONE, s) for s in savings}
    cuts = [-experiment.change(ALL, NONE, s, "mean_ms") for s in savings]
    best_speedup = max(savings, key=savings.__getitem__)
    parked = -experiment.change(PARKING, NONE, best_speedup, "energy_j")
    is_mostly_parking = parked > savings[best_speedup] / 2
    holds_in_direction = is_mostly_parking and added_ms[min(savings)] > 0 > min(added_ms.values())
    judgment = judge_printed(
        [savings[best_speedup]],
        added_ms.values(),
        cuts,
        direction_holds=holds_in_direction,
        rest_holds=holds_in_direction,
    )
    return judgment.with_tables(_change_table(experiment)).with_numbers(
        added=max(added_ms.values()),
        cut=max(cuts),
        saved=savings[best_speedup],
        best=best_speedup,
        parked=parked,
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
    judgment = judge_printed(savings.values(), direction_holds=min(savings.values()) > 0)
    return judgment.with_tables(_change_table(experiment)).with_numbers(
        best=best_speedup,
        maximum=savings[best_speedup],
        startup_ms=STARTUP_MS,
        parking=max_parking_saving(),
    )


def _recovery_table(recovered_ms: Mapping[tuple[str, float], Sequence[float]]) -> NumberTable:
    """What merging takes off the mean response, by scheduler and speed-up."""
    return number_table(
        "Mean response that merging takes off, ms, over all delays",
        "scheduler | speed | least | most",
        (
            cells("{:upper} | {:g} | {:+.3f} | {:+.3f}", *load, min(gains_ms), max(gains_ms))
            for load, gains_ms in recovered_ms.items()
        ),
    )


def h_76(runs: PowerRuns) -> Judgment:
    """Delayed starts, with smarter merging and without."""
    delays = [
        v
        for v in runs.experiment(DELAYED_SPINUP).axis_values
        if not v.startswith(IMMEDIATE_START) and "merging" not in v
    ]
    energy_changes, added_ms, merging_changes, recovered_ms = [], [], [], {}
    for scheduler in SCHEDULERS:
        experiment = runs.experiment(DELAYED_SPINUP, scheduler)
        for speedup in experiment.speedups:
            energy_changes += [
                experiment.change(name, IMMEDIATE_START, speedup, "energy_j") for name in delays
            ]
            added_ms += [_added_ms(experiment, name, IMMEDIATE_START, speedup) for name in delays]
            merging_changes += [
                experiment.change(f"{name}, merging", name, speedup, "energy_j") for name in delays
            ]
            recovered_ms[scheduler, speedup] = [
                _added_ms(experiment, name, f"{name}, merging", speedup) for name in delays
            ]
    energy_falls = max(energy_changes) < 0 and max(merging_changes) < 0
    experiment, longest_delay = runs.experiment(DELAYED_SPINUP), delays[0]
    startups = [
        experiment.mean(name, 1.0, "startups") for name in (longest_delay, f"{longest_delay}, merging")
    ]
    judgment = judge_comparisons(
        (gain > 0 for gains_ms in recovered_ms.values() for gain in gains_ms),
        rest_holds=energy_falls and min(added_ms) > 0,
    )
    return judgment.with_tables(_recovery_table(recovered_ms)).with_numbers(
        minimum=100 * min(energy_changes),
        maximum=100 * max(energy_changes),
        min_ms=min(added_ms),
        max_ms=max(added_ms),
        merging=-min(merging_changes),
        most=max(gain for gains_ms in recovered_ms.values() for gain in gains_ms),
        starts=startups,
        longest=longest_delay,
    )
