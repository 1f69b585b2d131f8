"""Claims that Hong 2006 (sections 4.1 and 4.3) and Lee 2009 (section 4) make in passing."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..runs import LIGHT, LoadCurves
from ..wording import format_rows, majority_above, spread
from . import disk_schedulers, parallelism
from .plan import ALL_LOADS, BUSY_LOADS, ONCE, RECOMPUTATION, SERVERS, STAND_INS, SchedulingRuns

SIMILAR = 0.05
"""Relative difference of means that are similar."""

MIN_GAIN = 0.1
"""Relative reduction of the mean response that counts as effective."""

SERVER_NAMES = ("web", "multimedia")


def h_81(runs: SchedulingRuns) -> Judgment:
    """FCFS compared with all other schedulers of figure 8, by load."""
    light: list[float] = []
    kept_up: list[float] = []
    slowest: list[bool] = []
    for stand_in in STAND_INS:
        race = runs.load_curves(disk_schedulers.FIGURE, stand_in)
        light += race.changes("fcfs", "sptf", (LIGHT,)).values()
        for speedup in race.speedups:
            if race.weight(speedup) not in BUSY_LOADS:
                continue
            others = [race.value(name, speedup) for name in race.schedulers if name != "fcfs"]
            mean_ms, over = race.value("fcfs", speedup), race.curves["fcfs", speedup].saturated
            slowest.append(over or mean_ms > max(others))
            kept_up += [] if over else [mean_ms / min(others) - 1]
    alike = max(map(abs, light)) <= SIMILAR
    return judge_criterion(alike and all(slowest), majority_above(map(float, slowest))).with_numbers(
        light=light, kept_up=kept_up, slowest=sum(slowest), busy=len(slowest)
    )


def h_82(runs: SchedulingRuns) -> Judgment:
    """ZSPTF with positioning times computed once."""
    races = [runs.load_curves(RECOMPUTATION.place, stand_in) for stand_in in STAND_INS]
    # Names are shortened in readings.
    once = next(name for name in races[0].schedulers if ONCE.startswith(name))
    mean, scv = (
        [change for race in races for change in race.changes(once, "zsptf", ALL_LOADS, measure).values()]
        for measure in ("mean_ms", "scv")
    )
    near = [abs(change) <= SIMILAR for change in mean]
    return judge_criterion(all(near), any(near)).with_numbers(mean=mean, scv=scv, loads=len(mean))


def l_25(runs: SchedulingRuns) -> Judgment:
    """Parallelism-aware schedulers on streams of servers in overload."""
    details, joint, measured = [], [], []
    for server in SERVER_NAMES:
        race = runs.load_curves(SERVERS, server)
        changes = _overload_changes(race, parallelism.PARALLEL_SCHEDULERS)
        measured += changes
        details.append(f"{server} {spread(changes)}")
        joint.append(f"{server} {spread(_overload_changes(race, (parallelism.JOINT_SPTF,)))}")
    effective = [change < -MIN_GAIN for change in measured]
    return judge_criterion(all(effective), majority_above(-change for change in measured)).with_numbers(
        details="; ".join(details), joint=format_rows("{}", joint), measured=measured
    )


def _overload_changes(race: LoadCurves, schedulers: tuple[str, ...]) -> list[float]:
    """Relative differences of means from that of SPTF, at the loads that overload it."""
    over = [speedup for speedup in race.speedups if race.curves["sptf", speedup].saturated]
    return [race.change(name, "sptf", speedup) for name in schedulers for speedup in over]
