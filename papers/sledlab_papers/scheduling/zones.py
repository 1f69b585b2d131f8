"""Claims on zones: the order inside, their size, merging (Hong 2006, figures 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed, judge_range
from ..printed import PrintedNumber
from ..runs import HEAVY, MODERATE, LoadCurves
from ..wording import (
    all_above,
    cells,
    column_values,
    excess,
    format_rows,
    majority_above,
    number_table,
    spread_table,
)
from .effort import decision_ns
from .plan import ALL_LOADS, BUSY_LOADS, RUN_SHARES, STAND_INS, SchedulingRuns
from .throughput import gains_table

FINE, MEDIUM, COARSE = "zsptf:grid=40x4", "zsptf:grid=20x2", "zsptf:grid=10x1"
"""ZSPTF with 320, 80 and 20 zones."""
PYRAMIDS = (
    "zsptf-pyramid:threshold=1",
    "zsptf-pyramid:threshold=2",
    "zsptf-pyramid:threshold=4",
    "zsptf-pyramid:threshold=8",
    "zsptf-pyramid:threshold=32",
)

SEQUENTIAL, RANDOM = ("hplajw", "long files"), ("cello", "random")
"""Workloads of the experiment on layouts, sequential and random."""

PRINTED_GAIN = PrintedNumber("5 %")
"""Gain in throughput of 20 zones over 80 (section 4.2.2)."""

AVERAGED_LOADS = {"all": BUSY_LOADS, "moderate": (MODERATE,), "heavy": (HEAVY,)}
"""Loads that the printed average can be over."""

SIMILAR_THROUGHPUT, SIMILAR_SCV = 0.05, 0.15
"""Greatest relative differences of throughput and of SCVs that are similar on cello."""

SIMILAR_RESISTANCE = 0.25
"""Greatest relative difference of SCVs of gated and exhaustive visits that are similar on hplajw."""

MUCH, SIGNIFICANT = 0.10, 0.05
"""Relative gains in throughput that are much (H-36) and significant (H-42)."""

SCV_NOISE = 0.005
"""Relative rise of an SCV that counts as none."""

COST_DEPTH = 300
"""Requests queued at decisions whose cost is compared."""

STEP_NOISE = 0.005
"""Relative loss of throughput by a step of the threshold that counts as none."""

NOISE = 0.02
"""Relative difference of SCVs (H-34) and of throughput (H-78) that counts as none."""


def h_34(runs: SchedulingRuns) -> Judgment:
    """Pyramiding between ZSPTF and SPTF."""
    throughput_steps: list[float] = []
    scv_steps: list[float] = []
    rows = []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves("hong2006-figure-6", stand_in)
        for a, b in pairwise((*PYRAMIDS, "sptf")):
            throughput_steps += load_curves.gains(b, a, BUSY_LOADS).values()
            scv_steps += load_curves.changes(b, a, BUSY_LOADS, "scv").values()
        rows += _heaviest_load_rows(stand_in, load_curves)
    are_in_order = [
        *(step > -STEP_NOISE for step in throughput_steps),
        *(step > -NOISE for step in scv_steps),
    ]
    costs_ns = [decision_ns(name, COST_DEPTH) for name in ("zsptf", "zsptf-pyramid", "sptf")]
    judgment = judge_comparisons(are_in_order, rest_holds=costs_ns == sorted(costs_ns))
    return judgment.with_numbers(
        throughput=min(throughput_steps),
        scv=min(scv_steps),
        depth=COST_DEPTH,
        costs=format_rows("{:.2f}", (cost_ns / 1000 for cost_ns in costs_ns)),
    ).with_tables(
        number_table(
            "The heaviest load that is kept up with, by threshold (1: the finest grid)",
            "workload | mean, ms: 1 | 32 | SPTF | SCV: 1 | 32 | SPTF",
            rows,
        )
    )


def _heaviest_load_rows(stand_in: str, load_curves: LoadCurves) -> list[list[str]]:
    """Mean responses and SCVs of the least and the greatest threshold, and of SPTF; none without a load."""
    names = (PYRAMIDS[0], PYRAMIDS[-1], "sptf")
    values = [
        load_curves.value(name, speedup, measure)
        for speedup in load_curves.loads(BUSY_LOADS, *PYRAMIDS, "sptf")[-1:]
        for measure in ("mean_ms", "scv")
        for name in names
    ]
    template = "{} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.2f}"
    return [cells(template, stand_in, *values)] if values else []


def h_36(runs: SchedulingRuns) -> Judgment:
    """Order inside zones: SPTF compared with order of arrival."""
    curves = {name: runs.load_curves("hong2006-figure-7", name) for name in ("hplajw", "cello")}
    gains = {name: each.gains("zsptf", "zfcfs", BUSY_LOADS) for name, each in curves.items()}
    all_gains = [gain for by_level in gains.values() for gain in by_level.values()]
    judgment = judge_comparisons((gain > 0 for gain in all_gains), rest_holds=all_above(all_gains, MUCH))
    return judgment.with_numbers(
        **gains, heavy=curves["hplajw"].gains("zsptf", "zfcfs", (HEAVY,))
    ).with_tables(
        gains_table(
            {f"{name}, ZSPTF over ZFCFS": (each, "zsptf", "zfcfs") for name, each in curves.items()},
            BUSY_LOADS,
        )
    )


def h_37(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: throughput."""
    load_curves = runs.load_curves("hong2006-figure-7", "hplajw")
    gains = load_curves.gains("zsptf", "ztsptf", BUSY_LOADS)
    judgment = judge_printed(gains.values(), direction_holds=all_above(gains)).with_numbers(gains=gains)
    return judgment.with_tables(
        gains_table({"hplajw, ZSPTF over ZTSPTF": (load_curves, "zsptf", "ztsptf")}, BUSY_LOADS)
    )


def h_38(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: fairness."""
    changes = runs.load_curves("hong2006-figure-7", "hplajw").changes("ztsptf", "zsptf", ALL_LOADS, "scv")
    are_near = [excess(change) <= SIMILAR_RESISTANCE for change in changes.values()]
    return judge_comparisons(are_near).with_numbers(changes=changes)


def h_39(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits on random requests."""
    load_curves = runs.load_curves("hong2006-figure-7", "cello")
    gains = load_curves.gains("zsptf", "ztsptf", BUSY_LOADS)
    scv_changes = load_curves.changes("ztsptf", "zsptf", ALL_LOADS, "scv")
    judgment = judge_comparisons(_are_similar(gains.values(), scv_changes.values()))
    return judgment.with_numbers(gains=gains, scv=scv_changes)


def _are_similar(gains: Iterable[float], scv_changes: Iterable[float]) -> list[bool]:
    """Whether each gain in throughput, and each difference in SCV, is small."""
    return [
        *(excess(gain) <= SIMILAR_THROUGHPUT for gain in gains),
        *(excess(change) <= SIMILAR_SCV for change in scv_changes),
    ]


def h_41(runs: SchedulingRuns) -> Judgment:
    """Zone size on random requests."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "cello")
    rows = {
        label: (
            load_curves.gains(name, MEDIUM, BUSY_LOADS),
            load_curves.changes(name, MEDIUM, ALL_LOADS, "scv"),
        )
        for label, name in (("320", FINE), ("20", COARSE))
    }
    are_similar = [
        is_similar
        for gains, scv_changes in rows.values()
        for is_similar in _are_similar(gains.values(), scv_changes.values())
    ]
    return judge_comparisons(are_similar).with_tables(
        spread_table("Against 80 zones", "zones | throughput | SCV", rows)
    )


def h_42(runs: SchedulingRuns) -> Judgment:
    """The smallest zones: marginally fairer and significantly slower."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "hplajw")
    gains = load_curves.gains(FINE, MEDIUM, BUSY_LOADS)
    scv_changes = load_curves.changes(FINE, MEDIUM, BUSY_LOADS, "scv")
    are_slower = [gain < 0 for gain in gains.values()]
    are_fairer = [-SIMILAR_SCV <= change <= SCV_NOISE for change in scv_changes.values()]
    is_significant = all(gain < -SIGNIFICANT for gain in gains.values())
    judgment = judge_comparisons([*are_slower, *are_fairer], rest_holds=is_significant)
    return judgment.with_numbers(gains=gains, scv=scv_changes).with_tables(
        gains_table({"hplajw, 320 zones over 80": (load_curves, FINE, MEDIUM)}, BUSY_LOADS)
    )


def h_43(runs: SchedulingRuns) -> Judgment:
    """The largest zones: faster."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "hplajw")
    averages = {
        name: sum(gains) / max(len(gains), 1)
        for name, weights in AVERAGED_LOADS.items()
        for gains in [load_curves.gains(COARSE, MEDIUM, weights).values()]
    }
    are_met = [PRINTED_GAIN.is_met([average]) for average in averages.values()]
    judgment = judge_range(all(are_met), any(are_met), direction_holds=min(averages.values()) > 0)
    return (
        judgment.with_values([averages["all"]])
        .with_numbers(**averages)
        .with_tables(gains_table({"hplajw, 20 zones over 80": (load_curves, COARSE, MEDIUM)}, BUSY_LOADS))
    )


def h_44(runs: SchedulingRuns) -> Judgment:
    """The largest zones: less fair."""
    scv_changes = runs.load_curves("hong2006-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY_LOADS, "scv")
    stream_changes: list[float] = []
    for share in RUN_SHARES:
        stream_changes += (
            runs.load_curves("hong2006-sequentiality", share)
            .changes(COARSE, MEDIUM, BUSY_LOADS, "scv")
            .values()
        )
    return judge_printed(scv_changes.values(), direction_holds=majority_above(scv_changes)).with_numbers(
        scv=scv_changes, longer=stream_changes
    )


def h_80(runs: SchedulingRuns) -> Judgment:
    """Whether other sizes of zones are both faster and fairer than the medium one."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "hplajw")
    better_speedups: dict[str, list[float]] = {}
    for name in (FINE, COARSE):
        mean_changes, scv_changes = (
            load_curves.changes(name, MEDIUM, BUSY_LOADS, measure) for measure in ("mean_ms", "scv")
        )
        better_speedups[name] = [
            speedup for speedup in mean_changes if mean_changes[speedup] < 0 and scv_changes[speedup] < 0
        ]
    load_count = len(load_curves.loads(BUSY_LOADS, FINE, MEDIUM))
    beaten_speedups = {speedup for speedups in better_speedups.values() for speedup in speedups}
    return judge_criterion(not beaten_speedups, 2 * len(beaten_speedups) < load_count).with_numbers(
        fine=len(better_speedups[FINE]),
        coarse=len(better_speedups[COARSE]),
        beaten=len(beaten_speedups),
        loads=load_count,
    )


def h_78(runs: SchedulingRuns) -> Judgment:
    """A layout by zones compared with row-first: ZSPTF on both, and schedulers that go by block numbers."""
    rows: dict[str, list[dict[float, float]]] = {}
    disk_rows: dict[str, list[dict[float, float]]] = {}
    for workload in SEQUENTIAL + RANDOM:
        on_rows, on_zones = (
            runs.load_curves("hong2006-zone-layout", f"{workload}: {name}")
            for name in ("row-first", "zone-clustered")
        )
        rows[workload] = [on_zones.gains("zsptf", name, BUSY_LOADS, on_rows) for name in ("zsptf", "gsptf")]
        if workload in STAND_INS:
            disk_curves = runs.load_curves("hong2006-figure-8", workload)
            disk_rows[workload] = [
                on_zones.gains("zsptf", name, BUSY_LOADS, disk_curves) for name in ("c-scan", "sstf")
            ]
    gains_by_block = [
        *column_values({workload: rows[workload] for workload in SEQUENTIAL}, 1),
        *column_values({"hplajw": disk_rows["hplajw"]}),
    ]
    judgment = judge_criterion(all_above(gains_by_block, NOISE), majority_above(gains_by_block))
    title = "Gain in throughput of ZSPTF on the layout `zone-clustered`, over others on row-first"
    return judgment.with_numbers(
        agreeing=sum(gain > NOISE for gain in gains_by_block),
        compared=len(gains_by_block),
        hplajw=rows["hplajw"][0],
        longer=rows["long files"][0],
    ).with_tables(
        spread_table(title, "workload | ZSPTF | GSPTF", rows),
        spread_table(f"{title} (those of figure 8)", "workload | C-SCAN | SSTF", disk_rows),
    )
