"""Claims on ZSPTF and SPTF, compared with the schedulers of disks (Hong 2006, figure 8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf

import sledlab as sl

from ..claims import NEARLY_ALL, Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import LIGHT, LoadCurves
from ..simulator import PARKED_START
from ..wording import (
    cells,
    column_values,
    excess,
    majority_above,
    number_table,
    percent,
    spread_table,
)
from .plan import BUSY_LOADS, RECORDED, STAND_INS, SchedulingRuns
from .throughput import gains_table

FIGURE = "hong2006-figure-8"
ZSPTF_80 = "zsptf:grid=20x2"

FIGURE_SCHEDULERS = ("fcfs", "c-scan", "sstf", "zsptf")
"""Schedulers that the paper draws in its figure 8."""

DISK_SCHEDULERS = ("sstf", "c-scan", "sdf")
"""Schedulers of disks, and that by Euclidean distance."""

FIGURE_8, FIGURE_9 = {*FIGURE_SCHEDULERS, "sdf"}, {"asptf", "gsptf", "zsptf-pyramid"}
"""Schedulers that are compared with SPTF, of each figure; figure 9 has the same runs of ZSPTF and C-SCAN."""

COMPARED_SCHEDULERS = ("c-scan", "sstf")
"""Schedulers that ZSPTF has to beat."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""

COMPARABLE_MEAN = 0.05
"""Greatest relative difference of means that are similar."""

COMPARABLE_SCV = 0.25
"""Greatest relative difference of SCVs that are similar."""

OUTSTANDING_REQUESTS = 1000
"""Requests outstanding, of single blocks, with which the printed margin is reached."""


def h_28(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with schedulers that assume a wrong cost of x."""
    gains = gains_over_disk_schedulers(runs)
    judgment = judge_comparisons(gain >= 0 for gain in column_values(gains))
    return judgment.with_numbers(sdf=gains["hplajw"][-1]).with_tables(
        spread_table(
            "Gain of ZSPTF in throughput at equal response, moderate and heavy load",
            "workload | over SSTF | over C-SCAN | over SDF",
            gains,
        )
    )


def gains_over_disk_schedulers(runs: SchedulingRuns) -> dict[str, list[dict[float, float]]]:
    """Gains of ZSPTF in throughput over each of `DISK_SCHEDULERS`, by level of mean response."""
    return {
        stand_in: [
            runs.load_curves(FIGURE, stand_in).gains("zsptf", name, BUSY_LOADS) for name in DISK_SCHEDULERS
        ]
        for stand_in in STAND_INS
    }


def h_29(runs: SchedulingRuns) -> Judgment:
    """SSTF and C-LOOK compared with shortest Euclidean distance."""
    rows = {
        workload: [
            load_curves.changes(name, "sdf", (weight,))
            for name in ("sstf", "c-scan")
            for weight in BUSY_LOADS
        ]
        for workload, load_curves in _all_curves(runs).items()
    }
    return judge_comparisons(change <= 0 for change in column_values(rows)).with_tables(
        spread_table(
            "Mean response against SDF's, by load",
            "workload | SSTF, moderate | SSTF, heavy | C-SCAN, moderate | C-SCAN, heavy",
            rows,
        )
    )


def _all_curves(runs: SchedulingRuns) -> dict[str, LoadCurves]:
    """Load curves of the random workload and of figure 8."""
    return {
        "random (grade P)": runs.load_curves("hong2006-random"),
        **{stand_in: runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS},
    }


def h_30(runs: SchedulingRuns) -> Judgment:
    """SPTF is fastest, and unfair."""
    leads: list[float] = []
    gaps: list[float] = []
    beyond_count = 0
    has_intervals = not runs.mark_value(RECORDED)  # those of the recorded hour are not saved
    for load_curves, others in (
        (runs.load_curves("hong2006-random"), FIGURE_8 | FIGURE_9),
        *((runs.load_curves(FIGURE, stand_in), FIGURE_8) for stand_in in STAND_INS),
        *((runs.load_curves("hong2006-figure-9", stand_in), FIGURE_9) for stand_in in STAND_INS),
    ):
        for other_scheduler in sorted(others.intersection(load_curves.schedulers)):
            leads += load_curves.changes(other_scheduler, "sptf", BUSY_LOADS).values()
            beyond_count += sum(
                has_intervals and not _is_within_interval(load_curves, other_scheduler, speedup)
                for speedup in load_curves.loads(BUSY_LOADS, other_scheduler, "sptf")
            )
        if others != FIGURE_9:
            gaps += load_curves.changes("sptf", "c-scan", BUSY_LOADS, "scv").values()
    is_usual = sum(lead >= -NOISE for lead in leads) >= NEARLY_ALL * len(leads)
    are_unfair = sum(gap > 0 for gap in gaps) >= NEARLY_ALL * len(gaps)
    return judge_criterion(is_usual and are_unfair, is_usual).with_numbers(
        leads=leads,
        below=sum(lead < 0 for lead in leads),
        compared=len(leads),
        beyond=beyond_count,
        gaps=gaps,
        maximum=percent(-min(leads), 1)[1:],
    )


def _is_within_interval(load_curves: LoadCurves, other_scheduler: str, speedup: float) -> bool:
    """Whether a scheduler's mean is above SPTF's, or below it by at most the wider half interval."""
    gap = load_curves.value("sptf", speedup) - load_curves.value(other_scheduler, speedup)
    return gap <= load_curves.half_interval_ms(speedup, other_scheduler, "sptf")


def h_45(runs: SchedulingRuns) -> Judgment:
    """All schedulers of figure 8 alike at every light load."""
    rows, are_similar, other_spreads = [], [], []
    for workload, load_curves in _all_curves(runs).items():
        for speedup in load_curves.loads((LIGHT,), *FIGURE_SCHEDULERS):
            spreads = [_spread(load_curves, FIGURE_SCHEDULERS, speedup, each) for each in ("mean_ms", "scv")]
            are_similar.append(spreads[0] <= COMPARABLE_MEAN and spreads[1] <= COMPARABLE_SCV)
            other_spreads.append(_spread(load_curves, FIGURE_SCHEDULERS[1:], speedup))
            rows.append(cells("{} | {:g} | {:%1} | {:%1}", workload, speedup, *spreads))
    judgment = judge_comparisons(are_similar).with_numbers(others=max(other_spreads))
    return judgment.with_tables(
        number_table("Greatest over least of the schedulers, %", "workload | factor | mean | SCV", rows)
    )


def _spread(
    load_curves: LoadCurves, schedulers: Sequence[str], speedup: float, measure: str = "mean_ms"
) -> float:
    """By how much the greatest value of schedulers exceeds the least, relative to it."""
    values = [load_curves.value(name, speedup, measure) for name in schedulers]
    return max(values) / min(values) - 1


def h_46(runs: SchedulingRuns) -> Judgment:
    """ZSPTF's throughput, the headline."""
    curves = {stand_in: runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS}
    gains = {
        name: {stand_in: each.gains("zsptf", name, BUSY_LOADS) for stand_in, each in curves.items()}
        for name in COMPARED_SCHEDULERS
    }
    all_gains = [gain for row in gains.values() for by_level in row.values() for gain in by_level.values()]
    if blocks := runs.mark_value("blocks"):
        all_gains = [
            uniform_throughput_gain(other_scheduler, blocks=int(blocks), direction=runs.direction)
            for other_scheduler in COMPARED_SCHEDULERS
        ]
    judgment = judge_printed(all_gains, direction_holds=majority_above(all_gains)).with_numbers(
        over_scan=gains["c-scan"],
        over_sstf=gains["sstf"],
        measured=all_gains,
        constant=_constant_queue_gains(runs),
        anywhere=uniform_throughput_gain("c-scan", direction=runs.direction),
    )
    comparisons = {
        f"{stand_in}, ZSPTF over {name.upper()}": (each, "zsptf", name)
        for stand_in, each in curves.items()
        for name in COMPARED_SCHEDULERS
    }
    return judgment.with_tables(gains_table(comparisons, BUSY_LOADS))


@cache
def uniform_throughput_gain(other_scheduler: str, *, direction: str, blocks: int = 1) -> float:
    """Gain in throughput of ZSPTF over another scheduler, for reads of `blocks` blocks all over a sled."""
    device = sl.device("mems-g2", direction=direction)
    workload, replay = sl.workload("uniform", read_share=1.0, blocks=blocks), f"closed:{OUTSTANDING_REQUESTS}"
    zsptf_run, other_run = (
        sl.simulate(
            workload,
            device,
            scheduler=name,
            replay=replay,
            limit=25_000,
            warmup=5_000,
            seed=1,
            settings=PARKED_START,
        )
        for name in ("zsptf", other_scheduler)
    )
    return float(zsptf_run.summary["throughput_iops"] / other_run.summary["throughput_iops"]) - 1


def _constant_queue_gains(runs: SchedulingRuns) -> list[float]:
    """Gains in throughput of ZSPTF over C-SCAN where 10, 100 and 1,000 requests are outstanding."""
    return [
        runs.load_curves("hong2006-saturation", f"closed:{depth}").change(
            ZSPTF_80, "c-scan", 1.0, "throughput_iops"
        )
        for depth in (10, 100, OUTSTANDING_REQUESTS)
    ]


def h_47(runs: SchedulingRuns) -> Judgment:
    """Fairness of ZSPTF, C-SCAN and SSTF at moderate and heavy load."""
    pairs = (("sstf", "zsptf"), ("sstf", "c-scan"), ("zsptf", "c-scan"))
    rows = {
        stand_in: [runs.load_curves(FIGURE, stand_in).changes(*pair, BUSY_LOADS, "scv") for pair in pairs]
        for stand_in in STAND_INS
    }
    sstf_changes, zsptf_changes = column_values(rows, 0, 1), column_values(rows, 2)
    higher_count = sum(change > 0 for change in sstf_changes)
    is_usual = higher_count >= NEARLY_ALL * len(sstf_changes)
    is_similar = max(map(excess, zsptf_changes), default=inf) <= COMPARABLE_SCV
    judgment = judge_criterion(is_usual and is_similar, is_usual).with_numbers(
        higher=higher_count, compared=len(sstf_changes), zsptf=zsptf_changes
    )
    return judgment.with_tables(
        spread_table(
            "SCV at moderate and heavy load",
            "workload | SSTF against ZSPTF | SSTF against C-SCAN | ZSPTF against C-SCAN",
            rows,
        )
    )
