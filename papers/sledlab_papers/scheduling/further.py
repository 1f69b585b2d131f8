"""Claims that Hong 2006 (sections 4.1 and 4.3) and Lee 2009 (section 4) make in passing."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons
from ..runs import LIGHT, LoadCurves
from ..wording import column_values, excess, spread_table
from . import disk_schedulers, parallelism
from .plan import BUSY_LOADS, ONCE, RECOMPUTATION, SERVERS, STAND_INS, SchedulingRuns

SIMILAR = 0.05
"""Relative difference of means that are similar."""

MIN_GAIN = 0.1
"""Relative reduction of the mean response that counts as effective."""

SERVER_NAMES = ("web", "multimedia")


def h_81(runs: SchedulingRuns) -> Judgment:
    """FCFS compared with all other schedulers of figure 8, by load."""
    light_changes: list[float] = []
    stable_changes: list[float] = []
    are_slowest: list[bool] = []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves(disk_schedulers.FIGURE, stand_in)
        light_changes += load_curves.changes("fcfs", "sptf", (LIGHT,)).values()
        for speedup in load_curves.speedups:
            if load_curves.weight(speedup) not in BUSY_LOADS:
                continue
            others_ms = [load_curves.value(name, speedup) for name in _others(load_curves)]
            mean_ms, is_overloaded = (
                load_curves.value("fcfs", speedup),
                load_curves.curves["fcfs", speedup].saturated,
            )
            are_slowest.append(is_overloaded or mean_ms > max(others_ms))
            stable_changes += [] if is_overloaded else [mean_ms / min(others_ms) - 1]
    are_alike = max(map(excess, light_changes)) <= SIMILAR
    return judge_comparisons(are_slowest, rest_holds=are_alike).with_numbers(
        light=light_changes, kept_up=stable_changes
    )


def _others(load_curves: LoadCurves) -> set[str]:
    """The schedulers that FCFS is compared with; SDF was not run on the recorded hour."""
    return {"sptf", "c-scan", "sstf", "zsptf", "sdf"} & {*load_curves.schedulers}


def h_82(runs: SchedulingRuns) -> Judgment:
    """ZSPTF with positioning times computed once."""
    curves_by_stand_in = [runs.load_curves(RECOMPUTATION.place, stand_in) for stand_in in STAND_INS]
    # Names are shortened in readings.
    once_scheduler = next(name for name in curves_by_stand_in[0].schedulers if ONCE.startswith(name))
    rows = {
        stand_in: [
            curves.changes(once_scheduler, "zsptf", BUSY_LOADS, measure) for measure in ("mean_ms", "scv")
        ]
        for stand_in, curves in zip(STAND_INS, curves_by_stand_in, strict=True)
    }
    changes = column_values(rows, 0)
    judgment = judge_comparisons(excess(change) <= SIMILAR for change in changes)
    return judgment.with_numbers(changes=changes).with_tables(
        spread_table("Times computed once, against ZSPTF", "workload | mean response | SCV", rows)
    )


def l_25(runs: SchedulingRuns) -> Judgment:
    """Parallelism-aware schedulers on streams of servers in overload."""
    curves = [runs.load_curves(SERVERS, server) for server in SERVER_NAMES]
    rows = {
        parallelism.label(name): [_overload_changes(each, name) for each in curves]
        for name in parallelism.JOINT_SCHEDULERS
    }
    all_changes = [change for row in list(rows.values())[:-1] for changes in row for change in changes]
    judgment = judge_comparisons(change < -MIN_GAIN for change in all_changes)
    return judgment.with_numbers(measured=all_changes).with_tables(
        spread_table("Mean response against SPTF in overload", " | ".join(("scheduler", *SERVER_NAMES)), rows)
    )


def _overload_changes(load_curves: LoadCurves, scheduler: str) -> list[float]:
    """Relative differences of a mean from that of SPTF, at the loads that overload SPTF."""
    return [
        load_curves.change(scheduler, "sptf", speedup)
        for speedup in load_curves.speedups
        if load_curves.curves["sptf", speedup].saturated
    ]
