"""Claims on zones: the order inside, their size, merging (Hong 2006, figures 6 and 7)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import HEAVY, LoadCurves
from ..wording import all_above, majority_above
from .plan import ALL_LOADS, BUSY_LOADS, RUN_SHARES, SchedulingRuns
from .throughput import gains_text

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

PUBLISHED_GAIN = (0.07, 0.13)
"""Relative gain in throughput of ZSPTF over ZTSPTF, least and greatest, as printed."""

SIMILAR_SCV = 0.15
"""Greatest relative difference of SCVs that are similar on cello, as in H-39."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""


def h_34(runs: SchedulingRuns) -> Judgment:
    """Pyramiding between ZSPTF and SPTF."""
    rises = {"mean_ms": [0.0], "scv": [0.0]}
    details = []
    for stand_in in ("cello", "hplajw"):
        load_curves = runs.load_curves("hong2006-figure-6", stand_in)
        for speedup in load_curves.loads(BUSY_LOADS, *PYRAMIDS):
            for measure, sign in (("mean_ms", 1), ("scv", -1)):
                steps = [load_curves.change(b, a, speedup, measure) for a, b in pairwise(PYRAMIDS)]
                rises[measure] += [sign * step for step in steps]
        details.append(f"{stand_in}: {_ends_text(load_curves)}")
    are_monotone = [max(steps) < NOISE for steps in rises.values()]
    return judge_criterion(all(are_monotone), any(are_monotone)).with_numbers(
        details=details, mean=max(rises["mean_ms"]), scv=max(rises["scv"])
    )


def _ends_text(load_curves: LoadCurves) -> str:
    speedups = load_curves.loads(BUSY_LOADS, *PYRAMIDS, "sptf")
    if not speedups:
        return "no load in this range"
    speedup = speedups[-1]
    means = " to ".join(f"{load_curves.value(name, speedup):.1f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    scvs = " to ".join(
        f"{load_curves.value(name, speedup, 'scv'):.2f}" for name in (PYRAMIDS[0], PYRAMIDS[-1])
    )
    mean_ms, scv = load_curves.value("sptf", speedup), load_curves.value("sptf", speedup, "scv")
    return f"mean {means} ms, SCV {scvs} (SPTF {mean_ms:.1f} ms, {scv:.2f})"


def h_36(runs: SchedulingRuns) -> Judgment:
    """Order inside zones: SPTF compared with order of arrival."""
    load_curves = runs.load_curves("hong2006-figure-7", "hplajw")
    heavy_changes = load_curves.changes("zfcfs", "zsptf", (HEAVY,))
    gains = gains_text(load_curves, "zsptf", "zfcfs", BUSY_LOADS)
    reached_speedup = next(
        (f"{speedup:g}" for speedup, change in heavy_changes.items() if change >= 0.1), "none"
    )
    return judge_criterion(all_above(heavy_changes, 0.1), all_above(heavy_changes)).with_numbers(
        heavy=heavy_changes, gains=gains, reached=reached_speedup
    )


def h_37(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: throughput."""
    load_curves = runs.load_curves("hong2006-figure-7", "hplajw")
    gains = load_curves.gains("zsptf", "ztsptf", BUSY_LOADS)
    inside_count = sum(PUBLISHED_GAIN[0] <= gain <= PUBLISHED_GAIN[1] for gain in gains.values())
    return judge_printed(gains.values(), direction_holds=all_above(gains)).with_numbers(
        gains=gains_text(load_curves, "zsptf", "ztsptf", BUSY_LOADS),
        inside=inside_count,
        compared=len(gains),
    )


def h_38(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: fairness."""
    changes = runs.load_curves("hong2006-figure-7", "hplajw").changes("ztsptf", "zsptf", ALL_LOADS, "scv")
    are_near = [abs(change) <= 0.25 for change in changes.values()]
    return judge_criterion(all(are_near), any(are_near)).with_numbers(changes=changes)


def h_39(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits on random requests."""
    load_curves = runs.load_curves("hong2006-figure-7", "cello")
    mean_changes, scv_changes = (
        load_curves.changes("ztsptf", "zsptf", ALL_LOADS, measure) for measure in ("mean_ms", "scv")
    )
    are_near = [
        all(abs(change) <= band for change in changes.values())
        for changes, band in ((mean_changes, 0.05), (scv_changes, 0.15))
    ]
    return judge_criterion(all(are_near), any(are_near)).with_numbers(mean=mean_changes, scv=scv_changes)


def h_41(runs: SchedulingRuns) -> Judgment:
    """Zone size on random requests."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "cello")
    changes = {name: load_curves.changes(name, MEDIUM, ALL_LOADS) for name in (FINE, COARSE)}
    scv_changes = [
        change
        for name in (FINE, COARSE)
        for change in load_curves.changes(name, MEDIUM, ALL_LOADS, "scv").values()
    ]
    are_near = [
        abs(change) <= 0.05
        for changes_by_speedup in changes.values()
        for change in changes_by_speedup.values()
    ]
    are_similar = [*are_near, *(abs(change) <= SIMILAR_SCV for change in scv_changes)]
    return judge_comparisons(are_similar).with_numbers(
        scv=scv_changes,
        fine=changes[FINE],
        coarse=changes[COARSE],
        within=sum(are_near),
        compared=len(are_near),
    )


def h_42(runs: SchedulingRuns) -> Judgment:
    """The smallest zones: fairer and slower."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "hplajw")
    mean_changes, scv_changes = (
        load_curves.changes(FINE, MEDIUM, BUSY_LOADS, measure) for measure in ("mean_ms", "scv")
    )
    is_slower, is_fairer = all_above(mean_changes), all(change <= 0.005 for change in scv_changes.values())
    is_mostly_fairer = majority_above(-change for change in scv_changes.values())
    return judge_criterion(is_slower and is_fairer, is_slower or is_fairer or is_mostly_fairer).with_numbers(
        mean=mean_changes, scv=scv_changes
    )


def h_43(runs: SchedulingRuns) -> Judgment:
    """The largest zones: faster."""
    load_curves = runs.load_curves("hong2006-zone-sizes", "hplajw")
    gains = load_curves.gains(COARSE, MEDIUM, BUSY_LOADS)
    mean_gain = sum(gains.values()) / max(len(gains), 1)
    return judge_printed([mean_gain], direction_holds=mean_gain > 0).with_numbers(
        gains=gains_text(load_curves, COARSE, MEDIUM, BUSY_LOADS), average=mean_gain
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
        fine=len(better_speedups[FINE]), coarse=len(better_speedups[COARSE]), loads=load_count
    )


def h_78(runs: SchedulingRuns) -> Judgment:
    """A layout by zones compared with row-first: ZSPTF on both, and schedulers that go by block numbers."""
    place = "hong2006-zone-layout"
    changes: dict[str, dict[float, float]] = {}
    changes_from_gsptf: list[float] = []
    gsptf_changes: list[float] = []
    for workload in SEQUENTIAL + RANDOM:
        row_curves, zone_curves = (
            runs.load_curves(place, f"{workload}: {name}") for name in ("row-first", "zone-clustered")
        )
        zone_speedups = zone_curves.loads(ALL_LOADS, "zsptf", "gsptf")
        mean_ms = {
            speedup: zone_curves.value("zsptf", speedup)
            for speedup in row_curves.loads(BUSY_LOADS, "zsptf", "gsptf")
            if speedup in zone_speedups
        }
        changes[workload] = {
            speedup: ms / row_curves.value("zsptf", speedup) - 1 for speedup, ms in mean_ms.items()
        }
        if workload in SEQUENTIAL:
            changes_from_gsptf += [
                ms / row_curves.value("gsptf", speedup) - 1 for speedup, ms in mean_ms.items()
            ]
            gsptf_changes += [zone_curves.change("gsptf", "zsptf", speedup) for speedup in mean_ms]
    gains = [-change for workload in SEQUENTIAL for change in changes[workload].values()]
    is_faster = all(change < 0 for change in changes_from_gsptf) and all_above(gsptf_changes, NOISE)
    return judge_criterion(all_above(gains) and is_faster, majority_above(gains)).with_numbers(
        hplajw=changes["hplajw"],
        longer=changes["long files"],
        cello=changes["cello"],
        random=changes["random"],
        gsptf=changes_from_gsptf,
        alike=gsptf_changes,
    )
