"""Claims on the parallelism-aware schedulers (Lee 2009, section 4)."""

from __future__ import annotations

import math
from itertools import pairwise

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..runs import LoadCurves
from ..wording import (
    all_above,
    column_values,
    format_number,
    format_rows,
    number_table,
    percent,
    spread,
    spread_table,
)
from .plan import SchedulingRuns

FIGURE = "lee2009-figure-2"
SLEDS = (1, 4, 10)
PARALLEL_SCHEDULERS = ("p-sptf", "pa-sptf", "zpsptf", "zscan-psptf")
COMPARED_SCHEDULERS = ("sptf", *PARALLEL_SCHEDULERS)
LIGHT_SPEEDUPS, MAX_SPEEDUP = (1.0, 2.0, 3.0), 30.0
SATURATION_SPEEDUP = 10.0
"""The load that SPTF just sustains; loads from it on are heavy."""

LARGE = 0.10
"""Relative reduction of the mean response that is a large margin; at light load none differs by more."""

NEAR = 0.20
"""Largest relative difference of mean responses that is little, and of SCVs that are comparable."""

DEPTHS = (100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"
JOINT_SCHEDULERS = (*PARALLEL_SCHEDULERS, JOINT_SPTF)
"""Schedulers that serve all requests at a position at once."""


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
    judgment = judge_comparisons((each < 0 for each in measured), rest_holds=min(measured) <= -LARGE)
    return judgment.with_numbers(
        measured=measured,
        fastest=list(map(min, changes)),
        slowest=list(map(max, changes)),
    ).with_tables(
        number_table(
            "Mean response at factor 30 against SPTF's by length of the run, %",
            _columns("requests", "waiting"),
            (_run_length_row(runs, requests) for requests in LENGTHS),
        )
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
        far=f"from factor {min(far):g} to {max(far):g}" if far else "nowhere",
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
    return judge_comparisons(ratio <= NEAR for ratio in all_ratios).with_numbers(
        measured=all_ratios, heaviest=ratios[MAX_SPEEDUP]
    )


def l_18(runs: SchedulingRuns) -> Judgment:
    """Fairness of the schedulers with zones, compared with all without."""
    curves = list(_curves_by_sleds(runs).values())
    rows = {
        name.upper(): [
            [
                load_curves.change(name, other_scheduler, speedup, "scv")
                for load_curves in curves
                for speedup in heavy_speedups(load_curves, SATURATION_SPEEDUP)
            ]
            for other_scheduler in ("pa-sptf", "p-sptf", "sptf")
        ]
        for name in ("zpsptf", "zscan-psptf")
    }
    are_worse = [min(changes) > 0 for row in rows.values() for changes in row]
    judgment = judge_comparisons(are_worse).with_numbers(
        ageing=column_values(rows, 0), others=column_values(rows, 1, 2)
    )
    return judgment.with_tables(
        spread_table(
            "SCV at factors 10 to 30", "scheduler | against PA-SPTF | against P-SPTF | against SPTF", rows
        )
    )


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
MIN_CHANGE = 0.01
"""Relative changes smaller than this count as none."""


def l_19(runs: SchedulingRuns) -> Judgment:
    """Finer zones."""
    load_curves = runs.load_curves("lee2009-zone-sizes")
    names = [f"zscan-psptf:grid={grid}" for grid in GRIDS]
    columns_of_scv, columns_of_means, scv_falls, mean_rises = [], [], True, True
    for speedup in load_curves.speedups:
        means, scvs = ([load_curves.value(name, speedup, m) for name in names] for m in ("mean_ms", "scv"))
        scv_falls &= all(b <= a * (1 + MIN_CHANGE) for a, b in pairwise(scvs))
        mean_rises &= all(b >= a * (1 - MIN_CHANGE) for a, b in pairwise(means))
        columns_of_scv.append([f"{scv:.3f}" for scv in scvs])
        columns_of_means.append([format_number(mean_ms) for mean_ms in means])
    served_at_once, positioning_ms = (
        [load_curves.value(name, MAX_SPEEDUP, measure) for name in names]
        for measure in ("served_at_once", "positioning_ms")
    )
    # The paper has the mean rise because fewer requests are served at a time.
    is_less_parallel = served_at_once[-1] < served_at_once[0] * (1 - MIN_CHANGE)
    judgment = judge_criterion(scv_falls and mean_rises and is_less_parallel, scv_falls or mean_rises)
    factors = [f"{speedup:g}" for speedup in load_curves.speedups]
    heads = ("zones", f"SCV: x{factors[0]}", *factors[1:], f"mean, ms: x{factors[0]}", *factors[1:])
    return judgment.with_numbers(
        minimum=min(served_at_once),
        maximum=max(served_at_once),
        coarsest=positioning_ms[0],
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
    return judge_comparisons(gap <= 1 for gap in gaps_in_intervals).with_numbers(
        heaviest=max(loads), maximum=max(gaps_in_intervals)
    )
