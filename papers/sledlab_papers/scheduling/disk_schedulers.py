"""Claims on ZSPTF and SPTF, compared with the schedulers of disks (Hong 2006, figure 8)."""

from __future__ import annotations

from functools import cache
from math import inf

import sledlab as sl

from ..claims import NEARLY_ALL, Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import HEAVY, LoadCurves
from ..simulator import PARKED_START
from ..wording import all_above, format_rows, majority_above, percent, spread
from .plan import BUSY_LOADS, STAND_INS, SchedulingRuns
from .throughput import gains_text

FIGURE = "hong2006-figure-8"
ZSPTF_80 = "zsptf:grid=20x2"

COMPARED_SCHEDULERS = ("c-scan", "sstf")
"""Schedulers that ZSPTF has to beat."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""

COMPARABLE_SCV = 0.25
"""Greatest relative difference of SCVs that are similar."""

OUTSTANDING_REQUESTS = 1000
"""Requests outstanding, of single blocks, with which the printed margin is reached."""


def h_28(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with schedulers that assume a wrong cost of x."""
    details, all_changes = [], []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves(FIGURE, stand_in)
        changes = {name: load_curves.changes("zsptf", name, BUSY_LOADS) for name in ("sstf", "c-scan", "sdf")}
        all_changes += [
            change for changes_by_speedup in changes.values() for change in changes_by_speedup.values()
        ]
        change_texts = format_rows("{:upper} {:spread}", changes.items())
        details.append(f"on {stand_in} against {change_texts}")
    reductions = [-change for change in all_changes]
    win_count = sum(b >= 0 for b in reductions)
    return judge_comparisons(b >= 0 for b in reductions).with_numbers(
        details=details, wins=win_count, compared=len(reductions)
    )


def h_29(runs: SchedulingRuns) -> Judgment:
    """SSTF and C-LOOK compared with shortest Euclidean distance."""
    details, all_changes = [], []
    for load_curves, label in (
        (runs.load_curves("hong2006-random"), "random"),
        *((runs.load_curves(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
    ):
        parts = []
        for name in ("sstf", "c-scan"):
            moderate_changes, heavy_changes = (
                load_curves.changes(name, "sdf", (weight,)) for weight in BUSY_LOADS
            )
            all_changes += [*moderate_changes.values(), *heavy_changes.values()]
            parts.append(f"{name.upper()} {spread(moderate_changes)} and {spread(heavy_changes)}")
        details.append(f"{label}: {', '.join(parts)}")
    reductions = [-change for change in all_changes]
    return judge_comparisons(b >= 0 for b in reductions).with_numbers(
        details=details, wins=sum(b >= 0 for b in reductions), compared=len(reductions)
    )


def h_30(runs: SchedulingRuns) -> Judgment:
    """SPTF is fastest, and unfair."""
    leads: list[float] = []
    gaps: list[float] = []
    beyond_count = 0
    for load_curves in (
        runs.load_curves("hong2006-random"),
        *(runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS),
        *(runs.load_curves("hong2006-figure-9", stand_in) for stand_in in STAND_INS),
    ):
        for other_scheduler in sorted({*load_curves.schedulers} - {"sptf"}):
            leads += load_curves.changes(other_scheduler, "sptf", BUSY_LOADS).values()
            beyond_count += sum(
                not _is_within_interval(load_curves, other_scheduler, speedup)
                for speedup in load_curves.loads(BUSY_LOADS, other_scheduler, "sptf")
            )
        gaps += load_curves.changes("sptf", "c-scan", BUSY_LOADS, "scv").values()
    is_usual = sum(lead >= -NOISE for lead in leads) >= NEARLY_ALL * len(leads)
    return judge_criterion(is_usual and all_above(gaps), is_usual).with_numbers(
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
    """All schedulers alike at light load."""
    details, mean_spreads, scv_spreads = [], [], []
    for load_curves, label in (
        *((runs.load_curves(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
        (runs.load_curves("hong2006-random"), "random (grade P)"),
    ):
        lightest_speedup = load_curves.speedups[0]
        names = load_curves.schedulers
        means, scvs = (
            [load_curves.value(name, lightest_speedup, measure) for name in names]
            for measure in ("mean_ms", "scv")
        )
        mean_spreads.append(max(means) / min(means) - 1)
        scv_spreads.append(max(scvs) / min(scvs) - 1)
        details.append(
            f"{label}: {min(means):.3f} to {max(means):.3f} ms, SCV {min(scvs):.3f} to {max(scvs):.3f}"
        )
    is_similar = max(mean_spreads) <= 0.05 and max(scv_spreads) <= COMPARABLE_SCV
    return judge_criterion(is_similar, min(mean_spreads) <= 0.05).with_numbers(details=details)


def h_46(runs: SchedulingRuns) -> Judgment:
    """ZSPTF's throughput, the headline."""
    details: list[str] = []
    all_gains: list[float] = []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves(FIGURE, stand_in)
        for other_scheduler in COMPARED_SCHEDULERS:
            gains = load_curves.gains("zsptf", other_scheduler, BUSY_LOADS)
            all_gains += gains.values()
            text = gains_text(load_curves, "zsptf", other_scheduler, BUSY_LOADS)
            details.append(f"{stand_in}, over {other_scheduler.upper()}: {text}")
    if blocks := runs.mark_value("blocks"):
        all_gains = [
            uniform_throughput_gain(other_scheduler, blocks=int(blocks), direction=runs.direction)
            for other_scheduler in COMPARED_SCHEDULERS
        ]
    return judge_printed(all_gains, direction_holds=majority_above(all_gains)).with_numbers(
        details=details,
        measured=all_gains,
        limits=_saturation_text(runs),
        anywhere=uniform_throughput_gain("c-scan", direction=runs.direction),
    )


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


def _saturation_text(runs: SchedulingRuns) -> str:
    """A sentence: gains of schedulers where the queue is kept at a fixed depth."""
    parts = []
    for depth in (10, 100, 1000):
        load_curves = runs.load_curves("hong2006-saturation", f"closed:{depth}")
        gains = {
            name: load_curves.change(name, "c-scan", 1.0, "throughput_iops") for name in (ZSPTF_80, "sptf")
        }
        parts.append(
            f"{100 * gains[ZSPTF_80]:+.1f} % and {100 * gains['sptf']:+.1f} % at {depth:,} outstanding"
        )
    return f"With a constant queue, ZSPTF and SPTF complete more than C-SCAN by {', '.join(parts)}."


def h_47(runs: SchedulingRuns) -> Judgment:
    """Fairness of ZSPTF, C-SCAN and SSTF."""
    details: list[str] = []
    sstf_changes: list[float] = []
    zsptf_changes: list[float] = []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves(FIGURE, stand_in)
        changes = {name: load_curves.changes("sstf", name, (HEAVY,), "scv") for name in ("zsptf", "c-scan")}
        zsptf_to_scan = load_curves.changes("zsptf", "c-scan", (HEAVY,), "scv")
        sstf_changes += [change for each in changes.values() for change in each.values()]
        zsptf_changes += zsptf_to_scan.values()
        details.append(
            f"{stand_in}: SCV of SSTF against ZSPTF {spread(changes['zsptf'])} and against C-SCAN "
            f"{spread(changes['c-scan'])}, of ZSPTF against C-SCAN {spread(zsptf_to_scan)}"
        )
    higher_count = sum(change > 0 for change in sstf_changes)
    is_usual = higher_count >= NEARLY_ALL * len(sstf_changes)
    is_similar = max(map(abs, zsptf_changes), default=inf) <= COMPARABLE_SCV
    return judge_criterion(is_usual and is_similar, is_usual).with_numbers(
        details=details, higher=higher_count, compared=len(sstf_changes)
    )
