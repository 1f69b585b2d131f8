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
LIGHT_SPEEDUPS, HEAVY_SPEEDUPS, MAX_SPEEDUP = (1.0, 2.0, 3.0), (10.0, 20.0, 30.0), 30.0
DEPTHS = (100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"


def _races(runs: SchedulingRuns) -> dict[int, LoadCurves]:
    """Races by number of sleds, as far as they were run: sleds move together, so one stands for all."""
    measured = {sleds: runs.load_curves(FIGURE, sleds) for sleds in SLEDS}
    return {sleds: race for sleds, race in measured.items() if race.curves}


def _run_depths(runs: SchedulingRuns) -> tuple[int, ...]:
    """Numbers of requests outstanding that were run."""
    return (int(depth),) if (depth := runs.mark_value("depth")) else DEPTHS


def _changes_from_sptf(race: LoadCurves, speedup: float, measure: str = "mean_ms") -> dict[str, float]:
    return {name: race.change(name, "sptf", speedup, measure) for name in PARALLEL_SCHEDULERS}


def _throughput_gain(runs: SchedulingRuns, name: str, depth: int) -> float:
    """Throughput with `depth` requests outstanding, as a relative difference from SPTF's."""
    race = runs.load_curves("lee2009-saturation", f"closed:{depth}")
    return race.change(name, "sptf", 1.0, "throughput_iops")


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
        race = runs.load_curves("lee2009-run-length", requests)
        waiting = race.value("sptf", MAX_SPEEDUP, "queue_mean")
        changes = ", ".join(
            f"{_label(name)} {percent(race.change(name, 'sptf', MAX_SPEEDUP), 1)} %"
            for name in (*PARALLEL_SCHEDULERS, JOINT_SPTF)
        )
        parts.append(f"{requests:,} requests ({waiting:,.0f} waiting on average): {changes}")
    return "; ".join(parts)


def l_14(runs: SchedulingRuns) -> Judgment:
    """The margin over SPTF in overload."""
    details: list[str] = []
    measured: dict[str, list[float]] = {name: [] for name in PARALLEL_SCHEDULERS}
    for sleds, race in _races(runs).items():
        changes = _changes_from_sptf(race, MAX_SPEEDUP)
        for name, change in changes.items():
            measured[name].append(change)
        parts = format_rows("{:upper} {:+1%}", changes.items())
        details.append(f"{sleds} sled{'s' if sleds > 1 else ''}: {parts}")
    waiting = runs.load_curves(FIGURE, 1).value("sptf", MAX_SPEEDUP, "queue_mean")
    best = min(change for changes in measured.values() for change in changes)
    signs = all(change < 0 for changes in measured.values() for change in changes)
    return judge_criterion(signs and best <= -0.1, best < 0).with_numbers(
        details=details,
        measured=[change for changes in measured.values() for change in changes],
        waiting=waiting,
        lengths=_run_length_text(runs),
        depths=_depths_text(runs, (*PARALLEL_SCHEDULERS, JOINT_SPTF)),
    )


def _mean_spread(race: LoadCurves, speedup: float) -> float:
    means = [race.value(name, speedup) for name in PARALLEL_SCHEDULERS]
    return max(means) / min(means) - 1


def l_15(runs: SchedulingRuns) -> Judgment:
    """The four parallelism-aware schedulers, compared with each other."""
    measured = {
        speedup: [_mean_spread(race, speedup) for race in _races(runs).values()] for speedup in HEAVY_SPEEDUPS
    }
    parts = format_rows("{1:spread} at factor {0:g}", measured.items())
    near = [max(values) <= 0.20 for values in measured.values()]
    return judge_criterion(all(near), any(near)).with_numbers(
        parts=parts, maximum=max(max(values) for values in measured.values())
    )


def l_16(runs: SchedulingRuns) -> Judgment:
    """Differences at light load."""
    changes = {
        name: [
            _changes_from_sptf(race, speedup)[name]
            for race in _races(runs).values()
            for speedup in LIGHT_SPEEDUPS
        ]
        for name in PARALLEL_SCHEDULERS
    }
    parts = format_rows("{:upper} {:spread}", changes.items())
    near = all(
        abs(change) <= (0.15 if name == "pa-sptf" else 0.10)
        for name, measured in changes.items()
        for change in measured
    )
    return judge_criterion(near).with_numbers(parts=parts)


def l_17(runs: SchedulingRuns) -> Judgment:
    """PA-SPTF's fairness."""
    ratios: dict[float, list[float]] = {}
    for race in _races(runs).values():
        for speedup in race.speedups:
            others = min(
                race.value(name, speedup, "scv") for name in COMPARED_SCHEDULERS if name != "pa-sptf"
            )
            ratios.setdefault(speedup, []).append(race.value("pa-sptf", speedup, "scv") / others - 1)
    measured = [ratio for values in ratios.values() for ratio in values]
    return judge_criterion(max(measured) <= 0.2, max(ratios[MAX_SPEEDUP]) <= 0.2).with_numbers(
        measured=measured, heaviest=ratios[MAX_SPEEDUP]
    )


def l_18(runs: SchedulingRuns) -> Judgment:
    """Fairness of the schedulers with zones, compared with all without."""
    parts, signs = [], {}
    for name in ("zpsptf", "zscan-psptf"):
        over = {}
        for other in ("pa-sptf", "p-sptf", "sptf"):
            over[other] = [
                race.change(name, other, speedup, "scv")
                for race in _races(runs).values()
                for speedup in HEAVY_SPEEDUPS
            ]
        signs[name] = {other: min(measured) > 0 for other, measured in over.items()}
        parts.append(f"{name.upper()} {format_rows('{1:spread} against {0:upper}', over.items())}")
    worse = [checked for measured in signs.values() for checked in measured.values()]
    return judge_criterion(all(worse), any(worse)).with_numbers(parts=parts)


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
MIN_CHANGE = 0.01
"""Relative changes smaller than this count as none."""


def l_19(runs: SchedulingRuns) -> Judgment:
    """Finer zones."""
    race = runs.load_curves("lee2009-zone-sizes")
    names = [f"zscan-psptf:grid={grid}" for grid in GRIDS]
    details, scv_falls, mean_rises = [], True, True
    for speedup in race.speedups:
        means, scvs = ([race.value(name, speedup, m) for name in names] for m in ("mean_ms", "scv"))
        scv_falls &= all(b <= a * (1 + MIN_CHANGE) for a, b in pairwise(scvs))
        mean_rises &= all(b >= a * (1 - MIN_CHANGE) for a, b in pairwise(means))
        scv_text = format_rows("{:.3f}", scvs)
        mean_text = format_rows("{:figure}", means)
        details.append(f"factor {speedup:g}: SCV {scv_text}, mean {mean_text} ms")
    at_once, positioning = (
        [race.value(name, MAX_SPEEDUP, measure) for name in names]
        for measure in ("served_at_once", "positioning_ms")
    )
    # The paper has the mean rise because fewer requests are served at a time.
    less_parallel = at_once[-1] < at_once[0] * (1 - MIN_CHANGE)
    return judge_criterion(scv_falls and mean_rises and less_parallel, scv_falls or mean_rises).with_numbers(
        grids=", ".join(GRIDS[:-1]),
        last=GRIDS[-1],
        details=details,
        minimum=min(at_once),
        maximum=max(at_once),
        positioning=positioning,
        finest=positioning[-1],
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
    mean, scv = [], []
    for race in _races(runs).values():
        steady = race.loads(("moderate", "heavy"), "sptf", "zsptf")
        mean += [race.change("zsptf", "sptf", at) for at in steady]
        scv += [race.change("zsptf", "sptf", at, "scv") for at in (9.0, *HEAVY_SPEEDUPS)]
    return judge_criterion(
        max(mean, default=1.0) <= 0.2 and max(scv) < 0, max(scv) < 0 or min(mean) <= 0.2
    ).with_numbers(mean=mean, scv=scv)


def l_24(runs: SchedulingRuns) -> Judgment:
    """Nothing to gain at light load."""
    apart, loads = [], set()
    for race in _races(runs).values():
        for speedup in race.speedups:
            if race.value("sptf", speedup, "utilization") < 0.5:
                loads.add(speedup)
                for name in PARALLEL_SCHEDULERS:
                    gap = race.value(name, speedup) - race.value("sptf", speedup)
                    width = race.half_interval_ms(speedup, name, "sptf")
                    apart.append(abs(gap) / width if width else math.inf)
    factors = format_rows("{:g}", sorted(loads))
    return judge_criterion(max(apart) <= 1, min(apart) <= 1).with_numbers(factors=factors, maximum=max(apart))
