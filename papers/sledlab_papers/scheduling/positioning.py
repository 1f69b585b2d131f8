"""Claims on the schedulers by positioning time (Hong 2006, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import HEAVY, MODERATE, LoadCurves
from ..wording import (
    all_above,
    cells,
    column_values,
    majority_above,
    number_table,
    spread,
    spread_table,
)
from .disk_schedulers import COMPARABLE_SCV
from .plan import ALL_LOADS, BUSY_LOADS, RUN_SHARES, STAND_INS, SchedulingRuns
from .throughput import gains_table

FIGURE = "hong2006-figure-9"
SCHEDULERS = ("sptf", "asptf", "gsptf", "zsptf", "zsptf-pyramid")
ZSPTF, PYRAMID = "zsptf", "zsptf-pyramid"

SATURATION = "hong2006-saturation"
SATURATION_DEPTHS = (4, 10, 30, 100, 1000)
"""Numbers of requests outstanding in that experiment."""

SLIGHT = 0.06
"""Relative gain in throughput below which it is slight: the least that section 4.3 prints as a number."""

NEAR_SCV = 0.05
"""Relative difference by which an SCV may miss the range of two others."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""


def _curves_by_stand_in(runs: SchedulingRuns) -> dict[str, LoadCurves]:
    return {stand_in: runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS}


def _gains_over_zsptf(
    stand_in: str, load_curves: LoadCurves, schedulers: Sequence[str], weights: Sequence[str]
) -> NumberTable:
    comparisons = {
        f"{stand_in}, {name.upper()} over ZSPTF": (load_curves, name, ZSPTF) for name in schedulers
    }
    return gains_table(comparisons, weights)


def h_48(runs: SchedulingRuns) -> Judgment:
    """SPTF leads."""
    details: list[str] = []
    all_leads: list[float] = []
    for stand_in, load_curves in _curves_by_stand_in(runs).items():
        leads = [
            lead
            for other_scheduler in SCHEDULERS[1:]
            for lead in load_curves.changes(other_scheduler, "sptf", ALL_LOADS).values()
        ]
        all_leads += leads
        details.append(f"{stand_in}: {spread(leads)}")
    return judge_comparisons(lead > -NOISE for lead in all_leads).with_numbers(details=details)


def h_49(runs: SchedulingRuns) -> Judgment:
    """GSPTF compared with ZSPTF on random requests."""
    load_curves = runs.load_curves(FIGURE, "cello")
    gains = load_curves.gains("gsptf", ZSPTF, BUSY_LOADS)
    is_slight = max(gains.values(), default=0.0) < SLIGHT
    judgment = judge_comparisons((gain > 0 for gain in gains.values()), rest_holds=is_slight)
    judgment = judgment.with_numbers(measured=gains)
    return judgment.with_tables(_gains_over_zsptf("cello", load_curves, ("gsptf",), BUSY_LOADS))


def h_50(runs: SchedulingRuns) -> Judgment:
    """SPTF and ASPTF at moderate load."""
    load_curves = runs.load_curves(FIGURE, "cello")
    names = ("sptf", "asptf")
    gains = {name: load_curves.gains(name, ZSPTF, (MODERATE,)) for name in names}
    all_gains = [gain for each in gains.values() for gain in each.values()]
    judgment = judge_printed(all_gains, direction_holds=all_above(all_gains)).with_numbers(measured=all_gains)
    return judgment.with_tables(_gains_over_zsptf("cello", load_curves, names, (MODERATE,)))


def h_51(runs: SchedulingRuns) -> Judgment:
    """Pyramiding compared with ZSPTF."""
    details: list[str] = []
    all_changes: list[float] = []
    for stand_in, load_curves in _curves_by_stand_in(runs).items():
        changes = load_curves.changes(PYRAMID, ZSPTF, ALL_LOADS)
        all_changes += changes.values()
        details.append(f"{stand_in} {spread(changes)}")
    return judge_comparisons(change < NOISE for change in all_changes).with_numbers(
        details=details, measured=all_changes
    )


def h_52(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with ASPTF at heavy load."""
    load_curves = runs.load_curves(FIGURE, "cello")
    gains = load_curves.gains(ZSPTF, "asptf", (HEAVY,))
    are_faster = [
        load_curves.curves["asptf", speedup].saturated or load_curves.change(ZSPTF, "asptf", speedup) < 0
        for speedup in load_curves.loads((HEAVY,), ZSPTF)
    ]
    judgment = judge_printed(gains.values(), direction_holds=2 * sum(are_faster) > len(are_faster))
    return judgment.with_numbers(
        measured=gains, agreeing=sum(are_faster), compared=len(are_faster)
    ).with_tables(gains_table({"cello, ZSPTF over ASPTF": (load_curves, ZSPTF, "asptf")}, (HEAVY,)))


def h_53(runs: SchedulingRuns) -> Judgment:
    """ASPTF compared with FCFS as more requests are outstanding: the throughput, and the fairness."""
    rows = [_aging_row(runs.load_curves(SATURATION, f"closed:{depth}")) for depth in SATURATION_DEPTHS]
    leads, asptf_scv, fcfs_scv = zip(*rows, strict=True)
    differences = [abs(a - b) for a, b in zip(asptf_scv, fcfs_scv, strict=True)]
    nears = [all(a > b for a, b in pairwise(distances)) for distances in (leads, differences)]
    judgment = judge_criterion(all(nears), any(nears)).with_numbers(
        leads=leads, first_scv=asptf_scv[0], last_scv=asptf_scv[-1], fcfs_scv=max(fcfs_scv)
    )
    return judgment.with_tables(
        number_table(
            "ASPTF and FCFS with a constant number of requests of cello outstanding",
            "outstanding | throughput over FCFS, % | SCV of ASPTF | SCV of FCFS",
            [
                cells("{:,} | {:+%1} | {:.3f} | {:.3f}", depth, *row)
                for depth, row in zip(SATURATION_DEPTHS, rows, strict=True)
            ],
        )
    )


def _aging_row(load_curves: LoadCurves) -> tuple[float, float, float]:
    """Lead of ASPTF over FCFS in throughput, and the SCV of both."""
    asptf_scv, fcfs_scv = (load_curves.value(name, 1.0, "scv") for name in ("asptf", "fcfs"))
    return load_curves.change("asptf", "fcfs", 1.0, "throughput_iops"), asptf_scv, fcfs_scv


def h_54(runs: SchedulingRuns) -> Judgment:
    """SPTF, ASPTF, GSPTF on sequential requests."""
    load_curves = runs.load_curves(FIGURE, "hplajw")
    names = ("sptf", "asptf", "gsptf")
    gains = {name: load_curves.gains(name, ZSPTF, BUSY_LOADS) for name in names}
    all_gains = [gain for each in gains.values() for gain in each.values()]
    judgment = judge_printed(all_gains, direction_holds=majority_above(all_gains)).with_numbers(
        measured=all_gains
    )
    return judgment.with_tables(_gains_over_zsptf("hplajw", load_curves, names, BUSY_LOADS))


def h_55(runs: SchedulingRuns) -> Judgment:
    """ASPTF's fairness."""
    asptf_wins, case_count, fairer_count = 0, 0, 0
    for load_curves in _curves_by_stand_in(runs).values():
        for speedup in load_curves.loads(ALL_LOADS, *SCHEDULERS, "c-scan"):
            scv_by_scheduler = {
                name: load_curves.value(name, speedup, "scv") for name in (*SCHEDULERS, "c-scan")
            }
            case_count += 1
            asptf_wins += min(SCHEDULERS, key=lambda name: scv_by_scheduler[name]) == "asptf"
            fairer_count += scv_by_scheduler["asptf"] < scv_by_scheduler["c-scan"]
    is_fairest, is_fairer = 2 * asptf_wins > case_count, 2 * fairer_count > case_count
    return judge_criterion(is_fairest and is_fairer, is_fairest or is_fairer).with_numbers(
        wins=asptf_wins, points=case_count, fairer=fairer_count
    )


def h_56(runs: SchedulingRuns) -> Judgment:
    """ZSPTF's fairness compared with ASPTF's, at all loads: the paper names none."""
    rows: dict[str, list[dict[float, float]]] = {}
    for stand_in, load_curves in _curves_by_stand_in(runs).items():
        rows[stand_in] = [load_curves.changes(ZSPTF, "asptf", (weight,), "scv") for weight in ALL_LOADS]
    all_changes = column_values(rows)
    judgment = judge_printed(all_changes, direction_holds=majority_above(all_changes)).with_numbers(
        measured=all_changes
    )
    return judgment.with_tables(
        spread_table("SCV of ZSPTF against ASPTF's", f"workload | {' | '.join(ALL_LOADS)}", rows)
    )


def h_57(runs: SchedulingRuns) -> Judgment:
    """GSPTF's fairness on random requests."""
    changes = runs.load_curves(FIGURE, "cello").changes("gsptf", ZSPTF, ALL_LOADS, "scv")
    are_higher = [change > 0 for change in changes.values()]
    is_higher = majority_above(changes)
    return judge_printed(changes.values(), direction_holds=is_higher, rest_holds=is_higher).with_numbers(
        changes=changes, higher=sum(are_higher), compared=len(are_higher)
    )


def h_58(runs: SchedulingRuns) -> Judgment:
    """GSPTF under a sequential stream."""
    changes = runs.load_curves(FIGURE, "hplajw").changes("gsptf", ZSPTF, (MODERATE,), "scv")
    stream_changes: list[float] = []
    for share in RUN_SHARES:
        load_curves = runs.load_curves("hong2006-sequentiality", share)
        stream_changes += load_curves.changes("gsptf", "zsptf:grid=20x2", (MODERATE,), "scv").values()
    return judge_criterion(all_above(changes, COMPARABLE_SCV), majority_above(changes)).with_numbers(
        changes=changes, longer=stream_changes
    )


def h_59(runs: SchedulingRuns) -> Judgment:
    """Pyramiding's fairness."""
    rows = {
        stand_in: [
            load_curves.changes(*pair, ALL_LOADS, "scv") for pair in ((PYRAMID, ZSPTF), ("sptf", PYRAMID))
        ]
        for stand_in, load_curves in _curves_by_stand_in(runs).items()
    }
    above_changes, below_changes = column_values(rows, 0), column_values(rows, 1)
    are_between = [
        load_curves.change(PYRAMID, ZSPTF, speedup, "scv") > -NEAR_SCV
        and load_curves.change("sptf", PYRAMID, speedup, "scv") > -NEAR_SCV
        for load_curves in _curves_by_stand_in(runs).values()
        for speedup in load_curves.loads(ALL_LOADS, ZSPTF, PYRAMID, "sptf")
    ]
    judgment = judge_comparisons(are_between).with_numbers(above=above_changes, below=below_changes)
    return judgment.with_tables(
        spread_table(
            "SCV over all loads", "workload | pyramiding against ZSPTF | SPTF against pyramiding", rows
        )
    )
