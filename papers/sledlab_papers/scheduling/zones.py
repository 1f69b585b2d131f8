"""Claims on zones: the order inside, their size, merging (Hong 2006, figures 6 and 7)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import HEAVY, LoadCurves
from ..wording import all_above, majority_above
from .plan import ALL_LOADS, BUSY_LOADS, RUN_SHARES, SchedulingRuns
from .zone_parity import parity_explanation

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

NOISE = 0.02
"""Means that differ by less than this share count as equal."""


def h_34(runs: SchedulingRuns) -> Judgment:
    """Pyramiding between ZSPTF and SPTF."""
    rises = {"mean_ms": [0.0], "scv": [0.0]}
    details = []
    for stand_in in ("cello", "hplajw"):
        race = runs.load_curves("hong2006-figure-6", stand_in)
        for speedup in race.loads(BUSY_LOADS, *PYRAMIDS):
            for measure, sign in (("mean_ms", 1), ("scv", -1)):
                steps = [race.change(b, a, speedup, measure) for a, b in pairwise(PYRAMIDS)]
                rises[measure] += [sign * step for step in steps]
        details.append(f"{stand_in}: {_ends(race)}")
    monotone = [max(steps) < NOISE for steps in rises.values()]
    return judge_criterion(all(monotone), any(monotone)).with_numbers(
        details=details, mean=max(rises["mean_ms"]), scv=max(rises["scv"]), note=parity_explanation(runs)
    )


def _ends(race: LoadCurves) -> str:
    speedups = race.loads(BUSY_LOADS, *PYRAMIDS, "sptf")
    if not speedups:
        return "no load in this range"
    at = speedups[-1]
    means = " to ".join(f"{race.value(name, at):.1f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    scvs = " to ".join(f"{race.value(name, at, 'scv'):.2f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    mean_ms, scv = race.value("sptf", at), race.value("sptf", at, "scv")
    return f"mean {means} ms, SCV {scvs} (SPTF {mean_ms:.1f} ms, {scv:.2f})"


def h_36(runs: SchedulingRuns) -> Judgment:
    """Order inside zones: SPTF compared with order of arrival."""
    race = runs.load_curves("hong2006-figure-7", "hplajw")
    heavy = race.changes("zfcfs", "zsptf", (HEAVY,))
    gains = race.gains("zsptf", "zfcfs", BUSY_LOADS)
    reached = next((f"{speedup:g}" for speedup, change in heavy.items() if change >= 0.1), "none")
    return judge_criterion(all_above(heavy, 0.1), all_above(heavy)).with_numbers(
        heavy=heavy, gains=gains, reached=reached
    )


def h_37(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: throughput."""
    gains = runs.load_curves("hong2006-figure-7", "hplajw").gains("zsptf", "ztsptf", BUSY_LOADS)
    inside = sum(PUBLISHED_GAIN[0] <= gain <= PUBLISHED_GAIN[1] for gain in gains.values())
    return judge_printed(gains.values(), direction=all_above(gains)).with_numbers(
        gains=gains, inside=inside, compared=len(gains)
    )


def h_38(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits: fairness."""
    changes = runs.load_curves("hong2006-figure-7", "hplajw").changes("ztsptf", "zsptf", ALL_LOADS, "scv")
    near = [abs(change) <= 0.25 for change in changes.values()]
    return judge_criterion(all(near), any(near)).with_numbers(changes=changes)


def h_39(runs: SchedulingRuns) -> Judgment:
    """Gated compared with exhaustive visits on random requests."""
    race = runs.load_curves("hong2006-figure-7", "cello")
    mean, scv = (race.changes("ztsptf", "zsptf", ALL_LOADS, measure) for measure in ("mean_ms", "scv"))
    near = [
        all(abs(change) <= band for change in measured.values())
        for measured, band in ((mean, 0.05), (scv, 0.15))
    ]
    return judge_criterion(all(near), any(near)).with_numbers(mean=mean, scv=scv)


def h_41(runs: SchedulingRuns) -> Judgment:
    """Zone size on random requests."""
    race = runs.load_curves("hong2006-zone-sizes", "cello")
    changes = {name: race.changes(name, MEDIUM, ALL_LOADS) for name in (FINE, COARSE)}
    near = [abs(change) <= 0.05 for measured in changes.values() for change in measured.values()]
    return judge_comparisons(near).with_numbers(
        fine=changes[FINE],
        coarse=changes[COARSE],
        within=sum(near),
        compared=len(near),
        note=parity_explanation(runs),
    )


def h_42(runs: SchedulingRuns) -> Judgment:
    """The smallest zones: fairer and slower."""
    race = runs.load_curves("hong2006-zone-sizes", "hplajw")
    mean, scv = (race.changes(FINE, MEDIUM, BUSY_LOADS, measure) for measure in ("mean_ms", "scv"))
    slower, fairer = all_above(mean), all(change <= 0.005 for change in scv.values())
    fair = majority_above(-change for change in scv.values())
    return judge_criterion(slower and fairer, slower or fairer or fair).with_numbers(
        mean=mean, scv=scv, note=parity_explanation(runs)
    )


def h_43(runs: SchedulingRuns) -> Judgment:
    """The largest zones: faster."""
    mean = runs.load_curves("hong2006-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY_LOADS)
    average = -sum(mean.values()) / max(len(mean), 1)
    return judge_printed([average], direction=average > 0).with_numbers(
        mean=mean, change=-average, note=parity_explanation(runs)
    )


def h_44(runs: SchedulingRuns) -> Judgment:
    """The largest zones: less fair."""
    scv = runs.load_curves("hong2006-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY_LOADS, "scv")
    longer: list[float] = []
    for share in RUN_SHARES:
        longer += (
            runs.load_curves("hong2006-sequentiality", share)
            .changes(COARSE, MEDIUM, BUSY_LOADS, "scv")
            .values()
        )
    return judge_printed(scv.values(), direction=majority_above(scv)).with_numbers(scv=scv, longer=longer)


def h_80(runs: SchedulingRuns) -> Judgment:
    """Whether other sizes of zones are both faster and fairer than the medium one."""
    race = runs.load_curves("hong2006-zone-sizes", "hplajw")
    better: dict[str, list[float]] = {}
    for name in (FINE, COARSE):
        mean, scv = (race.changes(name, MEDIUM, BUSY_LOADS, measure) for measure in ("mean_ms", "scv"))
        better[name] = [at for at in mean if mean[at] < 0 and scv[at] < 0]
    loads = len(race.loads(BUSY_LOADS, FINE, MEDIUM))
    beaten = {at for measured in better.values() for at in measured}
    return judge_criterion(not beaten, 2 * len(beaten) < loads).with_numbers(
        fine=len(better[FINE]), coarse=len(better[COARSE]), loads=loads
    )


def h_78(runs: SchedulingRuns) -> Judgment:
    """A layout by zones compared with row-first: ZSPTF on both, and schedulers that go by block numbers."""
    place = "hong2006-zone-layout"
    changes: dict[str, dict[float, float]] = {}
    against_gsptf: list[float] = []
    alike: list[float] = []
    for workload in SEQUENTIAL + RANDOM:
        rows, zones = (
            runs.load_curves(place, f"{workload}: {name}") for name in ("row-first", "zone-clustered")
        )
        cached = zones.loads(ALL_LOADS, "zsptf", "gsptf")
        mean_ms = {
            at: zones.value("zsptf", at) for at in rows.loads(BUSY_LOADS, "zsptf", "gsptf") if at in cached
        }
        changes[workload] = {at: ms / rows.value("zsptf", at) - 1 for at, ms in mean_ms.items()}
        if workload in SEQUENTIAL:
            against_gsptf += [ms / rows.value("gsptf", at) - 1 for at, ms in mean_ms.items()]
            alike += [zones.change("gsptf", "zsptf", at) for at in mean_ms]
    gains = [-change for workload in SEQUENTIAL for change in changes[workload].values()]
    faster = all(change < 0 for change in against_gsptf) and all_above(alike, NOISE)
    return judge_criterion(all_above(gains) and faster, majority_above(gains)).with_numbers(
        hplajw=changes["hplajw"],
        longer=changes["long files"],
        cello=changes["cello"],
        random=changes["random"],
        gsptf=against_gsptf,
        alike=alike,
    )
