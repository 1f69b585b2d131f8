"""Claims on ZSPTF and SPTF, compared with the schedulers of disks (Hong 2006, figure 8)."""

from __future__ import annotations

from functools import cache
from math import inf

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..printed import NEARLY_ALL
from ..runs import HEAVY, LoadCurves
from ..simulator import PARKED_START
from ..wording import all_above, format_rows, levels, majority_above, percent, spread
from .plan import BUSY_LOADS, STAND_INS, SchedulingRuns
from .zone_parity import parity_explanation

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
        race = runs.load_curves(FIGURE, stand_in)
        changes = {name: race.changes("zsptf", name, BUSY_LOADS) for name in ("sstf", "c-scan", "sdf")}
        all_changes += [change for measured in changes.values() for change in measured.values()]
        parts = format_rows("{:upper} {:spread}", changes.items())
        details.append(f"on {stand_in} against {parts}")
    better = [-change for change in all_changes]
    wins = sum(b >= 0 for b in better)
    return judge_comparisons(b >= 0 for b in better).with_numbers(
        details=details, wins=wins, compared=len(better), note=parity_explanation(runs)
    )


def h_29(runs: SchedulingRuns) -> Judgment:
    """SSTF and C-LOOK compared with shortest Euclidean distance."""
    details, all_changes = [], []
    for race, label in (
        (runs.load_curves("hong2006-random"), "random"),
        *((runs.load_curves(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
    ):
        parts = []
        for name in ("sstf", "c-scan"):
            moderate, heavy = (race.changes(name, "sdf", (weight,)) for weight in BUSY_LOADS)
            all_changes += [*moderate.values(), *heavy.values()]
            parts.append(f"{name.upper()} {spread(moderate)} and {spread(heavy)}")
        details.append(f"{label}: {', '.join(parts)}")
    better = [-change for change in all_changes]
    return judge_comparisons(b >= 0 for b in better).with_numbers(
        details=details, wins=sum(b >= 0 for b in better), compared=len(better)
    )


def h_30(runs: SchedulingRuns) -> Judgment:
    """SPTF is fastest, and unfair."""
    leads: list[float] = []
    gaps: list[float] = []
    beyond = 0
    for race in (
        runs.load_curves("hong2006-random"),
        *(runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS),
        *(runs.load_curves("hong2006-figure-9", stand_in) for stand_in in STAND_INS),
    ):
        for other in sorted({*race.schedulers} - {"sptf"}):
            leads += race.changes(other, "sptf", BUSY_LOADS).values()
            beyond += sum(
                not _is_within_interval(race, other, at) for at in race.loads(BUSY_LOADS, other, "sptf")
            )
        gaps += race.changes("sptf", "c-scan", BUSY_LOADS, "scv").values()
    usual = sum(lead >= -NOISE for lead in leads) >= NEARLY_ALL * len(leads)
    return judge_criterion(usual and all_above(gaps), usual).with_numbers(
        leads=leads,
        below=sum(lead < 0 for lead in leads),
        compared=len(leads),
        beyond=beyond,
        gaps=gaps,
        maximum=percent(-min(leads), 1)[1:],
    )


def _is_within_interval(race: LoadCurves, other: str, speedup: float) -> bool:
    """Whether a scheduler's mean is above SPTF's, or below it by at most the wider half interval."""
    gap = race.value("sptf", speedup) - race.value(other, speedup)
    return gap <= race.half_interval_ms(speedup, other, "sptf")


def h_45(runs: SchedulingRuns) -> Judgment:
    """All schedulers alike at light load."""
    details, widest, unfair = [], [], []
    for race, label in (
        *((runs.load_curves(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
        (runs.load_curves("hong2006-random"), "random (grade P)"),
    ):
        light = race.speedups[0]
        names = race.schedulers
        means, scvs = ([race.value(name, light, measure) for name in names] for measure in ("mean_ms", "scv"))
        widest.append(max(means) / min(means) - 1)
        unfair.append(max(scvs) / min(scvs) - 1)
        details.append(
            f"{label}: {min(means):.3f} to {max(means):.3f} ms, SCV {min(scvs):.3f} to {max(scvs):.3f}"
        )
    similar = max(widest) <= 0.05 and max(unfair) <= COMPARABLE_SCV
    return judge_criterion(similar, min(widest) <= 0.05).with_numbers(details=details)


def h_46(runs: SchedulingRuns) -> Judgment:
    """ZSPTF's throughput, the headline."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in in STAND_INS:
        race = runs.load_curves(FIGURE, stand_in)
        for other in COMPARED_SCHEDULERS:
            gains = race.gains("zsptf", other, BUSY_LOADS)
            measured += gains.values()
            details.append(f"{stand_in}, over {other.upper()}: {levels(gains)}")
    if size := runs.mark_value("blocks"):
        measured = [
            uniform_throughput_gain(other, blocks=int(size), free_direction=runs.has_free_direction)
            for other in COMPARED_SCHEDULERS
        ]
    return judge_printed(measured, direction=majority_above(measured)).with_numbers(
        details=details,
        measured=measured,
        limits=_limits(runs),
        anywhere=uniform_throughput_gain("c-scan", free_direction=runs.has_free_direction),
    )


@cache
def uniform_throughput_gain(other: str, *, free_direction: bool, blocks: int = 1) -> float:
    """Gain in throughput of ZSPTF over another scheduler, for reads of `blocks` blocks all over a sled."""
    device = sl.device("mems-g2", direction="free" if free_direction else "parity")
    workload, replay = sl.workload("uniform", read_share=1.0, blocks=blocks), f"closed:{OUTSTANDING_REQUESTS}"
    mine, its = (
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
        for name in ("zsptf", other)
    )
    return float(mine.summary["throughput_iops"] / its.summary["throughput_iops"]) - 1


def _limits(runs: SchedulingRuns) -> str:
    """A sentence: gains of schedulers where the queue is kept at a fixed depth."""
    parts = []
    for depth in (10, 100, 1000):
        race = runs.load_curves("hong2006-saturation", f"closed:{depth}")
        over = {name: race.change(name, "c-scan", 1.0, "throughput_iops") for name in (ZSPTF_80, "sptf")}
        parts.append(
            f"{100 * over[ZSPTF_80]:+.1f} % and {100 * over['sptf']:+.1f} % at {depth:,} outstanding"
        )
    return f"With a constant queue, ZSPTF and SPTF complete more than C-SCAN by {', '.join(parts)}."


def h_47(runs: SchedulingRuns) -> Judgment:
    """Fairness of ZSPTF, C-SCAN and SSTF."""
    details: list[str] = []
    measured: list[float] = []
    between: list[float] = []
    for stand_in in STAND_INS:
        race = runs.load_curves(FIGURE, stand_in)
        changes = {name: race.changes("sstf", name, (HEAVY,), "scv") for name in ("zsptf", "c-scan")}
        apart = race.changes("zsptf", "c-scan", (HEAVY,), "scv")
        measured += [change for each in changes.values() for change in each.values()]
        between += apart.values()
        details.append(
            f"{stand_in}: SCV of SSTF against ZSPTF {spread(changes['zsptf'])} and against C-SCAN "
            f"{spread(changes['c-scan'])}, of ZSPTF against C-SCAN {spread(apart)}"
        )
    higher = sum(change > 0 for change in measured)
    usual = higher >= NEARLY_ALL * len(measured)
    similar = max(map(abs, between), default=inf) <= COMPARABLE_SCV
    return judge_criterion(usual and similar, usual).with_numbers(
        details=details, higher=higher, compared=len(measured)
    )
