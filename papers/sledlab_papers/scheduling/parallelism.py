"""Claims on the parallelism-aware schedulers (Lee 2009, section 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean, stdev

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..runs import HEAVY, LoadCurves
from ..wording import (
    all_above,
    format_number,
    format_rows,
    majority_above,
    number_table,
    percent,
    spread,
    spread_table,
)
from .plan import ALL_LOADS, SchedulingRuns

FIGURE = "lee2009-figure-2"
SLEDS = (1, 4, 10)
PARALLEL_SCHEDULERS = ("p-sptf", "pa-sptf", "zpsptf", "zscan-psptf")
COMPARED_SCHEDULERS = ("sptf", *PARALLEL_SCHEDULERS)
LIGHT_SPEEDUPS, MAX_SPEEDUP = (1.0, 2.0, 3.0), 30.0
PRINTED_SPEEDUPS = (*LIGHT_SPEEDUPS, 10.0, 20.0, MAX_SPEEDUP)
"""The factors of figures 4 to 7."""

SATURATION_SPEEDUP = 10.0
"""The load at which SPTF saturates with a base gap of 15 ms."""

LIGHT_UTILIZATION = 0.5
"""A load is light below this utilization of SPTF."""

SEEDS = (1, 2, 3, 4, 5)
"""Seeds that were also run each alone, with the same requests for all schedulers."""

STUDENT_T = 2.776
"""Student's t for a 95 % interval of the mean of five differences."""

LARGE = 0.10
"""Relative reduction of the mean response that is a large margin; at light load none differs by more."""

NEAR = 0.20
"""Largest relative difference of mean responses that is little, and of SCVs that are comparable."""

SLIGHT_LOSS = 0.20
"""Largest relative increase of the mean response that is slight."""

DEPTHS = (10, 100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"
JOINT_SCHEDULERS = (*PARALLEL_SCHEDULERS, JOINT_SPTF)
"""Schedulers that serve all requests at a position at once."""


def _curves_by_sleds(runs: SchedulingRuns) -> dict[int, LoadCurves]:
    """Load curves by number of sleds that were run; sleds move together, so one number can stand for all."""
    curves_by_sleds = {sleds: runs.load_curves(FIGURE, sleds) for sleds in SLEDS}
    return {sleds: load_curves for sleds, load_curves in curves_by_sleds.items() if load_curves.curves}


def _run_depths(runs: SchedulingRuns) -> tuple[int, ...]:
    """Numbers of requests outstanding that were run."""
    return (int(depth),) if (depth := runs.mark_value("depth")) else DEPTHS


def _changes_from_sptf(load_curves: LoadCurves, speedup: float, measure: str = "mean_ms") -> dict[str, float]:
    return {name: load_curves.change(name, "sptf", speedup, measure) for name in PARALLEL_SCHEDULERS}


def _throughput_gain(runs: SchedulingRuns, name: str, depth: int) -> float:
    """Throughput with `depth` requests outstanding, as a relative difference from SPTF's."""
    load_curves = runs.load_curves("lee2009-saturation", f"closed:{depth}")
    return load_curves.change(name, "sptf", 1.0, "throughput_iops")


def label(scheduler: str) -> str:
    """The name of a scheduler in tables."""
    return "SPTF, joint service" if scheduler == JOINT_SPTF else scheduler.upper()


def _columns(*heads: str) -> str:
    """Heads of the columns of a table with one for each scheduler that serves requests jointly."""
    return " | ".join((*heads, *map(label, JOINT_SCHEDULERS)))


def _run_length_row(runs: SchedulingRuns, requests: int) -> list[str]:
    """Requests waiting on average, and mean responses relative to SPTF's, at the heaviest load."""
    load_curves = runs.load_curves("lee2009-run-length", requests)
    changes = [percent(load_curves.change(name, "sptf", MAX_SPEEDUP), 1) for name in JOINT_SCHEDULERS]
    return [f"{requests:,}", f"{load_curves.value('sptf', MAX_SPEEDUP, 'queue_mean'):,.0f}", *changes]


def l_14(runs: SchedulingRuns) -> Judgment:
    """The margin over SPTF in overload."""
    changes = [_changes_from_sptf(each, MAX_SPEEDUP).values() for each in _curves_by_sleds(runs).values()]
    measured = [change for each in changes for change in each]
    judgment = judge_criterion(max(measured) <= -LARGE, majority_above(-change for change in measured))
    return judgment.with_numbers(
        measured=measured,
        fastest=list(map(min, changes)),
        slowest=list(map(max, changes)),
    ).with_tables(
        number_table(
            "Mean response at factor 30 against SPTF's by length of a run without warm-up, %",
            _columns("requests", "waiting"),
            (_run_length_row(runs, requests) for requests in LENGTHS),
        )
    )


def _mean_spread(load_curves: LoadCurves, speedup: float) -> float:
    means = [load_curves.value(name, speedup) for name in PARALLEL_SCHEDULERS]
    return max(means) / min(means) - 1


def l_15(runs: SchedulingRuns) -> Judgment:
    """The four parallelism-aware schedulers, compared with each other at the loads that the paper names."""
    curves = list(_curves_by_sleds(runs).values())
    spreads = {
        speedup: max(_mean_spread(load_curves, speedup) for load_curves in curves)
        for speedup in curves[0].speedups
    }
    printed_spreads = [spreads[speedup] for speedup in PRINTED_SPEEDUPS]
    far = [speedup for speedup, spread in spreads.items() if spread > NEAR]
    return judge_comparisons(spread <= NEAR for spread in printed_spreads).with_numbers(
        maximum=max(printed_spreads), far=f"from factor {min(far):g} to {max(far):g}" if far else "nowhere"
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
    are_near = [
        abs(change) <= (0.15 if name == "pa-sptf" else LARGE)
        for name, scheduler_changes in changes.items()
        for change in scheduler_changes
    ]
    judgment = judge_comparisons(are_near).with_numbers(
        parts=format_rows("{:upper} {:spread}", changes.items()),
        maximum=max(abs(change) for scheduler_changes in changes.values() for change in scheduler_changes),
    )
    columns = " | ".join(("factors", *map(label, changes)))
    row = ("1 to 3", *map(spread, changes.values()))
    return judgment.with_tables(number_table("Mean response against SPTF's", columns, [row]))


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
    far_speedups = [s for s, sled_ratios in ratios.items() if max(map(abs, sled_ratios)) > NEAR]
    far_text = f"factors {min(far_speedups):g} to {max(far_speedups):g}" if far_speedups else "no factor"
    return judge_criterion(not far_speedups, max(all_ratios) <= NEAR).with_numbers(
        measured=all_ratios, heaviest=ratios[MAX_SPEEDUP], far=far_text
    )


def l_18(runs: SchedulingRuns) -> Judgment:
    """Fairness of the schedulers with zones, compared with all without, at all loads."""
    curves = list(_curves_by_sleds(runs).values())
    others = ("pa-sptf", "p-sptf", "sptf")

    def changes(name: str, *compared: str, low: float = 0.0, high: float = math.inf) -> list[float]:
        """Differences of the SCV at loads from `low` to below `high`."""
        return [
            load_curves.change(name, other, speedup, "scv")
            for load_curves in curves
            for speedup in load_curves.speedups
            for other in compared
            if low <= speedup < high
        ]

    ageing = [*changes("zpsptf", "pa-sptf"), *changes("zscan-psptf", "pa-sptf")]
    by_rest = {name: changes(name, "p-sptf", "sptf") for name in ("zpsptf", "zscan-psptf")}
    rows = {
        f"{label(name)}, {factors}": [changes(name, other, low=low, high=high) for other in others]
        for name in by_rest
        for factors, low, high in (
            ("factors 1 to 9", 0.0, SATURATION_SPEEDUP),
            ("factors 10 to 30", SATURATION_SPEEDUP, math.inf),
        )
    }
    is_less_fair_than_ageing = all_above(ageing)
    judgment = judge_criterion(
        is_less_fair_than_ageing and all(map(all_above, by_rest.values())), is_less_fair_than_ageing
    )
    zpsptf, zscan = (sum(change > 0 for change in each) for each in by_rest.values())
    return judgment.with_numbers(
        ageing=ageing, zpsptf=zpsptf, zscan=zscan, compared=len(by_rest["zpsptf"])
    ).with_tables(spread_table("SCV", "scheduler | against PA-SPTF | against P-SPTF | against SPTF", rows))


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
FINER_GRIDS = GRIDS[2:]
"""The grid of the figures and finer ones."""

MIN_CHANGE = 0.01
"""Relative changes smaller than this count as none."""


def _steps(values: Sequence[float]) -> list[float]:
    """Relative differences of each value from the one before."""
    return [b / a - 1 for a, b in pairwise(values)]


def l_19(runs: SchedulingRuns) -> Judgment:
    """Zones finer than those of the figures."""
    load_curves = runs.load_curves("lee2009-zone-sizes")
    speedups = load_curves.speedups

    def values(measure: str, speedup: float, grids: Sequence[str] = GRIDS) -> list[float]:
        return [load_curves.value(f"zscan-psptf:grid={grid}", speedup, measure) for grid in grids]

    def steps(measure: str) -> list[float]:
        """Relative differences between adjacent grids from 25x3 on, at all loads."""
        return [step for speedup in speedups for step in _steps(values(measure, speedup, FINER_GRIDS))]

    scv_steps, mean_steps = steps("scv"), steps("mean_ms")
    served_at_once, positioning_ms, scvs, means = (
        values(measure, MAX_SPEEDUP, FINER_GRIDS)
        for measure in ("served_at_once", "positioning_ms", "scv", "mean_ms")
    )
    # The paper has the mean rise because fewer requests are served at a time.
    are_in_order = [
        *(step <= MIN_CHANGE for step in scv_steps),
        *(step >= -MIN_CHANGE for step in mean_steps),
    ]
    is_less_parallel = served_at_once[-1] < served_at_once[0] * (1 - MIN_CHANGE)
    judgment = judge_comparisons(are_in_order, rest_holds=is_less_parallel)
    factors = [f"{speedup:g}" for speedup in speedups]
    heads = ("zones", f"SCV: x{factors[0]}", *factors[1:], f"mean, ms: x{factors[0]}", *factors[1:])
    columns_of_scv = [[f"{scv:.3f}" for scv in values("scv", speedup)] for speedup in speedups]
    columns_of_means = [
        [format_number(mean_ms) for mean_ms in values("mean_ms", speedup)] for speedup in speedups
    ]
    return judgment.with_numbers(
        minimum=min(served_at_once),
        maximum=max(served_at_once),
        printed=positioning_ms[0],
        finest=positioning_ms[-1],
        scv=scvs[-1] / scvs[0] - 1,
        mean=means[-1] / means[0] - 1,
    ).with_tables(
        number_table(
            "ZSCAN-PSPTF by factor",
            " | ".join(heads),
            zip(GRIDS, *columns_of_scv, *columns_of_means, strict=True),
        )
    )


def _max_stable_load(runs: SchedulingRuns) -> float:
    """The heaviest load at which none of the five is overloaded on one sled."""
    return max(
        runs.load_curves(FIGURE, 1).loads(("light", "moderate", "heavy"), *COMPARED_SCHEDULERS), default=0.0
    )


def l_20(runs: SchedulingRuns) -> Judgment:
    """The load at which each saturates."""
    gains = {
        depth: [_throughput_gain(runs, name, depth) for name in JOINT_SCHEDULERS]
        for depth in _run_depths(runs)
    }
    measured = [gain for values in gains.values() for gain in values[:-1]]
    longest = gains[max(gains)][:-1]
    judgment = judge_criterion(all_above(measured), all_above(longest)).with_numbers(
        kept_up=_max_stable_load(runs), measured=measured, longest=longest
    )
    rows = [
        (f"{depth:,}", *(percent(gain, 1) for gain in depth_gains)) for depth, depth_gains in gains.items()
    ]
    return judgment.with_tables(
        number_table("Throughput against SPTF's with a constant queue, %", _columns("queue"), rows)
    )


def l_22(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with SPTF."""
    mean_changes: list[float] = []
    scv_changes: list[float] = []
    for load_curves in _curves_by_sleds(runs).values():
        mean_changes += load_curves.changes("zsptf", "sptf", ALL_LOADS).values()
        scv_changes += [
            load_curves.change("zsptf", "sptf", speedup, "scv")
            for speedup in load_curves.speedups
            if load_curves.weight(speedup) == HEAVY
        ]
    is_fairer = max(scv_changes) < 0
    return judge_criterion(is_fairer and max(mean_changes) <= SLIGHT_LOSS, is_fairer).with_numbers(
        mean=mean_changes, scv=scv_changes
    )


def _gain_is_significant(seeds: Sequence[LoadCurves], name: str, speedup: float) -> bool:
    """Whether the mean response is below SPTF's by the 95 % interval of the differences by seed."""
    changes = [load_curves.change(name, "sptf", speedup) for load_curves in seeds]
    return mean(changes) + STUDENT_T * stdev(changes) / math.sqrt(len(changes)) < 0


def l_24(runs: SchedulingRuns) -> Judgment:
    """No gain at light load, by seeds of the set of assumptions, and a gain of all at the heaviest."""
    seeds = [replace(runs, readings=(f"-seed-{seed}",)).load_curves(FIGURE, 1) for seed in SEEDS]
    all_seeds = replace(runs, readings=()).load_curves(FIGURE, 1)
    light_speedups = [
        speedup
        for speedup in seeds[0].speedups
        if all_seeds.value("sptf", speedup, "utilization") < LIGHT_UTILIZATION
    ]
    gains = [
        name
        for name in PARALLEL_SCHEDULERS
        for speedup in light_speedups
        if _gain_is_significant(seeds, name, speedup)
    ]
    heaviest = [
        change
        for load_curves in _curves_by_sleds(runs).values()
        for change in _changes_from_sptf(load_curves, MAX_SPEEDUP).values()
    ]
    light_changes = [
        mean(each.change(name, "sptf", speedup) for each in seeds)
        for name in PARALLEL_SCHEDULERS
        for speedup in light_speedups
    ]
    return judge_criterion(
        not gains and max(heaviest) < 0, not gains or majority_above(-change for change in heaviest)
    ).with_numbers(
        light=max(light_speedups),
        changes=light_changes,
        gains=len(gains),
        compared=len(light_changes),
        heaviest=heaviest,
    )
