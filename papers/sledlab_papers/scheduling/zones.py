"""Claims on zones: the order inside, their size, merging (Hong 2006, figures 6 and 7)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgement, judged
from ..runs import HEAVY, LIGHT, LoadCurves
from ..wording import all_above, most_above
from .plan import ALL, BUSY, RUN_SHARES, Reading
from .zone_parity import note

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

PRINTED = (0.07, 0.13)
"""Relative gain in throughput of ZSPTF over ZTSPTF, least and greatest, as printed."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""


def h_34(runs: Reading) -> Judgement:
    """Pyramiding between ZSPTF and SPTF."""
    rises = {"mean_ms": [0.0], "scv": [0.0]}
    details = []
    for stand_in in ("cello", "hplajw"):
        race = runs.race("hong2006-figure-6", stand_in)
        for speedup in race.loads(BUSY, *PYRAMIDS):
            for measure, sign in (("mean_ms", 1), ("scv", -1)):
                steps = [race.against(b, a, speedup, measure) for a, b in pairwise(PYRAMIDS)]
                rises[measure] += [sign * step for step in steps]
        details.append(f"{stand_in}: {_ends(race)}")
    monotone = [max(steps) < NOISE for steps in rises.values()]
    return judged(all(monotone), any(monotone)).saying(
        details=details, mean=max(rises["mean_ms"]), scv=max(rises["scv"]), note=note(runs)
    )


def _ends(race: LoadCurves) -> str:
    speedups = race.loads(BUSY, *PYRAMIDS, "sptf")
    if not speedups:
        return "no load in this range"
    at = speedups[-1]
    means = " to ".join(f"{race.at(name, at):.1f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    scvs = " to ".join(f"{race.at(name, at, 'scv'):.2f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    return (
        f"mean {means} ms, SCV {scvs} (SPTF {race.at('sptf', at):.1f} ms, {race.at('sptf', at, 'scv'):.2f})"
    )


def h_36(runs: Reading) -> Judgement:
    """Order inside zones: SPTF compared with order of arrival."""
    race = runs.race("hong2006-figure-7", "hplajw")
    heavy = race.changes("zfcfs", "zsptf", (HEAVY,))
    gains = race.gains("zsptf", "zfcfs", BUSY)
    reached = next((f"{speedup:g}" for speedup, change in heavy.items() if change >= 0.1), "none")
    return judged(all_above(heavy, 0.1), all_above(heavy)).saying(heavy=heavy, gains=gains, reached=reached)


def h_37(runs: Reading) -> Judgement:
    """Gated compared with exhaustive visits: throughput."""
    gains = runs.race("hong2006-figure-7", "hplajw").gains("zsptf", "ztsptf", BUSY)
    inside = sum(PRINTED[0] <= gain <= PRINTED[1] for gain in gains.values())
    holds = all_above(gains) and 2 * inside > len(gains)
    return judged(holds, all_above(gains)).saying(gains=gains, inside=inside, compared=len(gains))


def h_38(runs: Reading) -> Judgement:
    """Gated compared with exhaustive visits: fairness."""
    changes = runs.race("hong2006-figure-7", "hplajw").changes("ztsptf", "zsptf", ALL, "scv")
    near = [abs(change) <= 0.25 for change in changes.values()]
    return judged(all(near), any(near)).saying(changes=changes)


def h_39(runs: Reading) -> Judgement:
    """Gated compared with exhaustive visits on random requests."""
    race = runs.race("hong2006-figure-7", "cello")
    mean, scv = (race.changes("ztsptf", "zsptf", ALL, measure) for measure in ("mean_ms", "scv"))
    near = [
        all(abs(change) <= band for change in measured.values())
        for measured, band in ((mean, 0.05), (scv, 0.15))
    ]
    return judged(all(near), any(near)).saying(mean=mean, scv=scv)


def h_41(runs: Reading) -> Judgement:
    """Zone size on random requests."""
    race = runs.race("hong2006-zone-sizes", "cello")
    changes = {name: race.changes(name, MEDIUM, ALL) for name in (FINE, COARSE)}
    near = [abs(change) <= 0.05 for measured in changes.values() for change in measured.values()]
    light = [abs(c) <= 0.05 for name in changes for c in race.changes(name, MEDIUM, (LIGHT,)).values()]
    return judged(all(near), all(light)).saying(
        fine=changes[FINE], coarse=changes[COARSE], within=sum(near), compared=len(near), note=note(runs)
    )


def h_42(runs: Reading) -> Judgement:
    """The smallest zones: fairer and slower."""
    race = runs.race("hong2006-zone-sizes", "hplajw")
    mean, scv = (race.changes(FINE, MEDIUM, BUSY, measure) for measure in ("mean_ms", "scv"))
    slower, fairer = all_above(mean), all(change <= 0.005 for change in scv.values())
    fair = most_above(-change for change in scv.values())
    return judged(slower and fairer, slower or fairer or fair).saying(mean=mean, scv=scv, note=note(runs))


def h_43(runs: Reading) -> Judgement:
    """The largest zones: faster."""
    mean = runs.race("hong2006-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY)
    average = -sum(mean.values()) / max(len(mean), 1)
    return judged(0 < average <= 0.12, average > 0).saying(mean=mean, change=-average, note=note(runs))


def h_44(runs: Reading) -> Judgement:
    """The largest zones: less fair."""
    scv = runs.race("hong2006-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY, "scv")
    maximum = max(scv.values(), default=0.0)
    longer: list[float] = []
    for share in RUN_SHARES:
        longer += runs.race("hong2006-sequentiality", share).changes(COARSE, MEDIUM, BUSY, "scv").values()
    return judged(all_above(scv) and 0.3 <= maximum <= 2.5, most_above(scv.values())).saying(
        scv=scv, longer=longer
    )


def h_80(runs: Reading) -> Judgement:
    """Whether other sizes of zones are both faster and fairer than the medium one."""
    race = runs.race("hong2006-zone-sizes", "hplajw")
    better: dict[str, list[float]] = {}
    for name in (FINE, COARSE):
        mean, scv = (race.changes(name, MEDIUM, BUSY, measure) for measure in ("mean_ms", "scv"))
        better[name] = [at for at in mean if mean[at] < 0 and scv[at] < 0]
    loads = len(race.loads(BUSY, FINE, MEDIUM))
    beaten = {at for measured in better.values() for at in measured}
    return judged(not beaten, 2 * len(beaten) < loads).saying(
        fine=len(better[FINE]), coarse=len(better[COARSE]), loads=loads
    )


def h_78(runs: Reading) -> Judgement:
    """A layout by zones compared with row-first: ZSPTF on both, and schedulers that go by block numbers."""
    place = "hong2006-zone-layout"
    changes: dict[str, dict[float, float]] = {}
    against_gsptf: list[float] = []
    alike: list[float] = []
    for workload in SEQUENTIAL + RANDOM:
        rows, zones = (runs.race(place, f"{workload}: {name}") for name in ("row-first", "zone-clustered"))
        cached = zones.loads(ALL, "zsptf", "gsptf")
        mean_ms = {at: zones.at("zsptf", at) for at in rows.loads(BUSY, "zsptf", "gsptf") if at in cached}
        changes[workload] = {at: ms / rows.at("zsptf", at) - 1 for at, ms in mean_ms.items()}
        if workload in SEQUENTIAL:
            against_gsptf += [ms / rows.at("gsptf", at) - 1 for at, ms in mean_ms.items()]
            alike += [zones.against("gsptf", "zsptf", at) for at in mean_ms]
    gains = [-change for workload in SEQUENTIAL for change in changes[workload].values()]
    return judged(all_above(gains), most_above(gains)).saying(
        hplajw=changes["hplajw"],
        longer=changes["long files"],
        cello=changes["cello"],
        random=changes["random"],
        gsptf=against_gsptf,
        alike=alike,
    )
