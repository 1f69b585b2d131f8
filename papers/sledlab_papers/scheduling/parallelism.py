"""Claims on the parallelism-aware schedulers (Lee 2009, section 4)."""

from __future__ import annotations

import math
from itertools import pairwise

from ..claims import Judgment, judge_criterion
from ..runs import LoadCurves
from ..wording import format_rows, percent
from .plan import SchedulingRuns

FIGURE = "lee2009-figure-2"
SLEDS = (1, 4, 10)
PARALLEL_SCHEDULERS = ("p-sptf", "pa-sptf", "zpsptf", "zscan-psptf")
COMPARED_SCHEDULERS = ("sptf", *PARALLEL_SCHEDULERS)
LIGHT_SPEEDUPS, MAX_SPEEDUP = (1.0, 2.0, 3.0), 30.0
SATURATION_SPEEDUP = 10.0
"""The load that SPTF just sustains; loads from it on are heavy."""

NEAR = 0.20
"""Largest difference of mean responses that is little."""

DEPTHS = (100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"


def _curves_by_sleds(runs: SchedulingRuns) -> dict[int, LoadCurves]:
    """Load curves by number of sleds that were run; sleds move together, so one number can stand for all."""
    curves_by_sleds = {sleds: runs.load_curves(FIGURE, sleds) for sleds in SLEDS}
    return {sleds: load_curves for sleds, load_curves in curves_by_sleds.items() if load_curves.curves}


def heavy_speedups(load_curves: LoadCurves, least: float) -> list[float]:
    """All loads that were run, from one on."""
    return [speedup for speedup in load_curves.speedups if speedup >= least]


def _run_depths(runs: SchedulingRuns) -> tuple[int, ...]:
    """Numbers of requests outstanding that were run."""
    return (int(depth),) if (depth := runs.mark_value("depth")) else DEPTHS


def _changes_from_sptf(load_curves: LoadCurves, speedup: float, measure: str = "mean_ms") -> dict[str, float]:
    return {name: load_curves.change(name, "sptf", speedup, measure) for name in PARALLEL_SCHEDULERS}


def _throughput_gain(runs: SchedulingRuns, name: str, depth: int) -> float:
    """Throughput with `depth` requests outstanding, as a relative difference from SPTF's."""
    load_curves = runs.load_curves("lee2009-saturation", f"closed:{depth}")
    return load_curves.change(name, "sptf", 1.0, "throughput_iops")


def _depths_text(runs: SchedulingRuns, names: tuple[str, ...]) -> str:
    return "; ".join(
        f"{depth:,} outstanding: "
        + ", ".join(f"{_label(name)} {percent(_throughput_gain(runs, name, depth), 1)} %" for name in names)
        for depth in _run_depths(runs)
    )


def _label(name: str) -> str:
    return "SPTF with joint service" if name == JOINT_SPTF else name.upper()


def _run_length_text(runs: SchedulingRuns) -> str:
    """A sentence: mean response times relative to SPTF's in overload, by the length of the run."""
    parts = []
    for requests in LENGTHS:
        load_curves = runs.load_curves("lee2009-run-length", requests)
        mean_queue = load_curves.value("sptf", MAX_SPEEDUP, "queue_mean")
        changes = ", ".join(
            f"{_label(name)} {percent(load_curves.change(name, 'sptf', MAX_SPEEDUP), 1)} %"
            for name in (*PARALLEL_SCHEDULERS, JOINT_SPTF)
        )
        parts.append(f"{requests:,} requests ({mean_queue:,.0f} waiting on average): {changes}")
    return "; ".join(parts)


def l_14(runs: SchedulingRuns) -> Judgment:
    """The margin over SPTF in overload."""
    details: list[str] = []
    changes_by_scheduler: dict[str, list[float]] = {name: [] for name in PARALLEL_SCHEDULERS}
    for sleds, load_curves in _curves_by_sleds(runs).items():
        changes = _changes_from_sptf(load_curves, MAX_SPEEDUP)
        for name, change in changes.items():
            changes_by_scheduler[name].append(change)
        parts = format_rows("{:upper} {:+1%}", changes.items())
        details.append(f"{sleds} sled{'s' if sleds > 1 else ''}: {parts}")
    mean_queue = runs.load_curves(FIGURE, 1).value("sptf", MAX_SPEEDUP, "queue_mean")
    best_change = min(change for changes in changes_by_scheduler.values() for change in changes)
    all_faster = all(change < 0 for changes in changes_by_scheduler.values() for change in changes)
    return judge_criterion(all_faster and best_change <= -0.1, best_change < 0).with_numbers(
        details=details,
        measured=[change for changes in changes_by_scheduler.values() for change in changes],
        waiting=mean_queue,
        lengths=_run_length_text(runs),
        depths=_depths_text(runs, (*PARALLEL_SCHEDULERS, JOINT_SPTF)),
    )


def _mean_spread(load_curves: LoadCurves, speedup: float) -> float:
    means = [load_curves.value(name, speedup) for name in PARALLEL_SCHEDULERS]
    return max(means) / min(means) - 1


def l_15(runs: SchedulingRuns) -> Judgment:
    """The four parallelism-aware schedulers, compared with each other."""
    curves = list(_curves_by_sleds(runs).values())
    spreads = {
        speedup: max(_mean_spread(load_curves, speedup) for load_curves in curves)
        for speedup in curves[0].speedups
    }
    far = {speedup: spread for speedup, spread in spreads.items() if spread > NEAR}
    return judge_criterion(not far, 2 * len(far) < len(spreads)).with_numbers(
        near=len(spreads) - len(far),
        all=len(spreads),
        far=format_rows("{1:+0%} at {0:g}", far.items()) or "none",
        maximum=max(spreads.values()),
    )


def l_16(runs: SchedulingRuns) -> Judgment:
    """Differences at light load."""
    changes = {
        name: [
            _changes_from_sptf(load_curves, speedup)[name]
            for load_curves in _curves_by_sleds(runs).values()
            for speedup in LIGHT_SPEEDUPS
        ]
        for name in PARALLEL_SCHEDULERS
    }
    parts = format_rows("{:upper} {:spread}", changes.items())
    are_near = all(
        abs(change) <= (0.15 if name == "pa-sptf" else 0.10)
        for name, scheduler_changes in changes.items()
        for change in scheduler_changes
    )
    return judge_criterion(are_near).with_numbers(parts=parts)


def l_17(runs: SchedulingRuns) -> Judgment:
    """PA-SPTF's fairness."""
    ratios: dict[float, list[float]] = {}
    for load_curves in _curves_by_sleds(runs).values():
        for speedup in load_curves.speedups:
            min_other_scv = min(
                load_curves.value(name, speedup, "scv") for name in COMPARED_SCHEDULERS if name != "pa-sptf"
            )
            ratios.setdefault(speedup, []).append(
                load_curves.value("pa-sptf", speedup, "scv") / min_other_scv - 1
            )
    all_ratios = [ratio for sled_ratios in ratios.values() for ratio in sled_ratios]
    return judge_criterion(max(all_ratios) <= 0.2, max(ratios[MAX_SPEEDUP]) <= 0.2).with_numbers(
        measured=all_ratios, heaviest=ratios[MAX_SPEEDUP]
    )


def l_18(runs: SchedulingRuns) -> Judgment:
    """Fairness of the schedulers with zones, compared with all without."""
    parts, is_worse = [], {}
    for name in ("zpsptf", "zscan-psptf"):
        changes_by_other = {}
        for other_scheduler in ("pa-sptf", "p-sptf", "sptf"):
            changes_by_other[other_scheduler] = [
                load_curves.change(name, other_scheduler, speedup, "scv")
                for load_curves in _curves_by_sleds(runs).values()
                for speedup in heavy_speedups(load_curves, SATURATION_SPEEDUP)
            ]
        is_worse[name] = {
            other_scheduler: min(changes) > 0 for other_scheduler, changes in changes_by_other.items()
        }
        parts.append(
            f"{name.upper()} {format_rows('{1:spread} against {0:upper}', changes_by_other.items())}"
        )
    are_worse = [checked for changes in is_worse.values() for checked in changes.values()]
    return judge_criterion(all(are_worse), any(are_worse)).with_numbers(parts=parts)


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
MIN_CHANGE = 0.01
"""Relative changes smaller than this count as none."""


def l_19(runs: SchedulingRuns) -> Judgment:
    """Finer zones."""
    load_curves = runs.load_curves("lee2009-zone-sizes")
    names = [f"zscan-psptf:grid={grid}" for grid in GRIDS]
    details, scv_falls, mean_rises = [], True, True
    for speedup in load_curves.speedups:
        means, scvs = ([load_curves.value(name, speedup, m) for name in names] for m in ("mean_ms", "scv"))
        scv_falls &= all(b <= a * (1 + MIN_CHANGE) for a, b in pairwise(scvs))
        mean_rises &= all(b >= a * (1 - MIN_CHANGE) for a, b in pairwise(means))
        scv_text = format_rows("{:.3f}", scvs)
        mean_text = format_rows("{:figure}", means)
        details.append(f"factor {speedup:g}: SCV {scv_text}, mean {mean_text} ms")
    served_at_once, positioning_ms = (
        [load_curves.value(name, MAX_SPEEDUP, measure) for name in names]
        for measure in ("served_at_once", "positioning_ms")
    )
    # The paper has the mean rise because fewer requests are served at a time.
    is_less_parallel = served_at_once[-1] < served_at_once[0] * (1 - MIN_CHANGE)
    return judge_criterion(
        scv_falls and mean_rises and is_less_parallel, scv_falls or mean_rises
    ).with_numbers(
        grids=", ".join(GRIDS[:-1]),
        last=GRIDS[-1],
        details=details,
        minimum=min(served_at_once),
        maximum=max(served_at_once),
        positioning=positioning_ms,
        finest=positioning_ms[-1],
    )


def _max_stable_load(runs: SchedulingRuns) -> float:
    """The heaviest load at which none of the five is overloaded on one sled."""
    return max(
        runs.load_curves(FIGURE, 1).loads(("light", "moderate", "heavy"), *COMPARED_SCHEDULERS), default=0.0
    )


def l_20(runs: SchedulingRuns) -> Judgment:
    """The load at which each saturates."""
    gains = {
        depth: [_throughput_gain(runs, name, depth) for name in PARALLEL_SCHEDULERS]
        for depth in _run_depths(runs)
    }
    return judge_criterion(
        all(gain > 0 for values in gains.values() for gain in values),
        all(gain > 0 for gain in gains[max(gains)]),
    ).with_numbers(
        depths=_depths_text(runs, PARALLEL_SCHEDULERS),
        kept_up=_max_stable_load(runs),
        measured=[gain for values in gains.values() for gain in values],
    )


def l_22(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with SPTF."""
    mean_changes, scv_changes = [], []
    for load_curves in _curves_by_sleds(runs).values():
        stable_speedups = load_curves.loads(("moderate", "heavy"), "sptf", "zsptf")
        mean_changes += [load_curves.change("zsptf", "sptf", speedup) for speedup in stable_speedups]
        scv_changes += [
            load_curves.change("zsptf", "sptf", speedup, "scv")
            for speedup in heavy_speedups(load_curves, 9.0)
        ]
    return judge_criterion(
        max(mean_changes, default=1.0) <= 0.2 and max(scv_changes) < 0,
        max(scv_changes) < 0 or min(mean_changes) <= 0.2,
    ).with_numbers(mean=mean_changes, scv=scv_changes)


def l_24(runs: SchedulingRuns) -> Judgment:
    """Nothing to gain at light load."""
    gaps_in_intervals, loads = [], set()
    for load_curves in _curves_by_sleds(runs).values():
        for speedup in load_curves.speedups:
            if load_curves.value("sptf", speedup, "utilization") < 0.5:
                loads.add(speedup)
                for name in PARALLEL_SCHEDULERS:
                    gap_ms = load_curves.value(name, speedup) - load_curves.value("sptf", speedup)
                    half_interval_ms = load_curves.half_interval_ms(speedup, name, "sptf")
                    gaps_in_intervals.append(abs(gap_ms) / half_interval_ms if half_interval_ms else math.inf)
    load_texts = format_rows("{:g}", sorted(loads))
    return judge_criterion(max(gaps_in_intervals) <= 1, min(gaps_in_intervals) <= 1).with_numbers(
        factors=load_texts, maximum=max(gaps_in_intervals)
    )
