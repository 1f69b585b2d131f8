"""Claims on zones: the order inside, their size, merging (paper 000, figures 6 and 7)."""

from __future__ import annotations

from itertools import pairwise

from ...markdown import percent
from ..claims import Verdict, verdict
from ..words import all_above, levels, most_above, overlaps, spread
from .runs import HEAVY, LIGHT, MODERATE, Race, Runs
from .split import note

BUSY = (MODERATE, HEAVY)
ALL = (LIGHT, MODERATE, HEAVY)
FINE, MEDIUM, COARSE = "zsptf:grid=40x4", "zsptf:grid=20x2", "zsptf:grid=10x1"
"""320, 80 and 20 zones."""
PYRAMIDS = (
    "zsptf-pyramid:threshold=1",
    "zsptf-pyramid:threshold=2",
    "zsptf-pyramid:threshold=4",
    "zsptf-pyramid:threshold=8",
    "zsptf-pyramid:threshold=32",
)
RUN_SHARES = (0.3, 0.65, 0.8)
"""Shares of sequential requests of `paper-000-sequentiality`."""

NOISE = 0.02
"""Means closer than this count as equal."""


def h_34(runs: Runs) -> Verdict:
    """Pyramiding between ZSPTF and SPTF."""
    rises = {"mean_ms": [0.0], "scv": [0.0]}
    said = []
    for stand_in in ("cello", "hplajw"):
        race = runs.race("paper-000-figure-6", stand_in)
        for speedup in race.loads(BUSY, *PYRAMIDS):
            for measure, sign in (("mean_ms", 1), ("scv", -1)):
                steps = [
                    race.at(b, speedup, measure) / race.at(a, speedup, measure) - 1
                    for a, b in pairwise(PYRAMIDS)
                ]
                rises[measure] += [sign * step for step in steps]
        said.append(f"{stand_in}: {_ends(race)}")
    ours = (
        "From threshold 1, the finest grid, to 32 at the heaviest load that is kept up with, "
        f"{'; '.join(said)}. Against the order claimed, a step moves the mean by up to "
        f"{percent(max(rises['mean_ms']), 1)} % and the SCV by up to {percent(max(rises['scv']), 1)} %."
    )
    monotone = [max(steps) < NOISE for steps in rises.values()]
    return verdict(ours, holds=all(monotone), partly=any(monotone), why=note(runs))


def _ends(race: Race) -> str:
    speedups = race.loads(BUSY, *PYRAMIDS, "sptf")
    if not speedups:
        return "no load in this range"
    at = speedups[-1]
    means = " to ".join(f"{race.at(name, at):.1f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    scvs = " to ".join(f"{race.at(name, at, 'scv'):.2f}" for name in (PYRAMIDS[0], PYRAMIDS[-1]))
    return (
        f"mean {means} ms, SCV {scvs} (SPTF {race.at('sptf', at):.1f} ms, {race.at('sptf', at, 'scv'):.2f})"
    )


def h_36(runs: Runs) -> Verdict:
    """Order inside zones: SPTF against arrival."""
    race = runs.race("paper-000-figure-7", "hplajw")
    heavy = race.changes("zfcfs", "zsptf", (HEAVY,))
    gains = race.gains("zsptf", "zfcfs", BUSY)
    ours = (
        f"Mean of ZFCFS against ZSPTF at heavy load: {spread(heavy)}. Throughput of ZSPTF over ZFCFS: "
        f"{levels(gains)}."
    )
    reached = next((f"{speedup:g}" for speedup, change in heavy.items() if change >= 0.1), "none")
    why = (
        "The sign holds at every load; the margin grows with the queues and reaches 10 % at factor "
        f"{reached}."
    )
    return verdict(ours, holds=all_above(heavy, 0.1), partly=all_above(heavy), why=why)


def h_37(runs: Runs) -> Verdict:
    """Gated against exhaustive visits: throughput."""
    gains = runs.race("paper-000-figure-7", "hplajw").gains("zsptf", "ztsptf", BUSY)
    return verdict(
        f"Throughput of ZSPTF over ZTSPTF: {levels(gains)}.",
        holds=all_above(gains) and overlaps(gains, 0.03, 0.18),
        partly=all_above(gains),
        why="The sign holds; the margin shrinks as the load grows.",
    )


def h_38(runs: Runs) -> Verdict:
    """Gated against exhaustive visits: fairness."""
    changes = runs.race("paper-000-figure-7", "hplajw").changes("ztsptf", "zsptf", ALL, "scv")
    near = [abs(change) <= 0.25 for change in changes.values()]
    return verdict(
        f"SCV of ZTSPTF against ZSPTF over all loads: {spread(changes)}.", holds=all(near), partly=any(near)
    )


def h_39(runs: Runs) -> Verdict:
    """Gated against exhaustive visits on random requests."""
    race = runs.race("paper-000-figure-7", "cello")
    mean, scv = (race.changes("ztsptf", "zsptf", ALL, measure) for measure in ("mean_ms", "scv"))
    near = [
        all(abs(change) <= band for change in found.values()) for found, band in ((mean, 0.05), (scv, 0.15))
    ]
    return verdict(
        f"ZTSPTF against ZSPTF over all loads: mean {spread(mean)}, SCV {spread(scv)}.",
        holds=all(near),
        partly=any(near),
    )


def h_41(runs: Runs) -> Verdict:
    """Zone size on random requests."""
    race = runs.race("paper-000-zone-sizes", "cello")
    changes = {name: race.changes(name, MEDIUM, ALL) for name in (FINE, COARSE)}
    near = [abs(change) <= 0.05 for found in changes.values() for change in found.values()]
    light = [abs(c) <= 0.05 for name in changes for c in race.changes(name, MEDIUM, (LIGHT,)).values()]
    ours = (
        f"Mean against that with 80 zones over all loads: {spread(changes[FINE])} with 320, "
        f"{spread(changes[COARSE])} with 20; {sum(near)} of {len(near)} differences are within 5 %."
    )
    why = f"It matters where queues are long. {note(runs)}"
    return verdict(ours, holds=all(near), partly=all(light), why=why)


def h_42(runs: Runs) -> Verdict:
    """The smallest zones: fairer and slower."""
    race = runs.race("paper-000-zone-sizes", "hplajw")
    mean, scv = (race.changes(FINE, MEDIUM, BUSY, measure) for measure in ("mean_ms", "scv"))
    slower, fairer = all_above(mean), all(change <= 0.005 for change in scv.values())
    ours = f"320 zones against 80, moderate and heavy load: mean {spread(mean)}, SCV {spread(scv)}."
    fair = most_above(-change for change in scv.values())
    return verdict(ours, holds=slower and fairer, partly=slower or fairer or fair, why=note(runs))


def h_43(runs: Runs) -> Verdict:
    """The largest zones: faster."""
    mean = runs.race("paper-000-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY)
    average = -sum(mean.values()) / max(len(mean), 1)
    ours = (
        f"20 zones against 80, moderate and heavy load: mean {spread(mean)}, {percent(-average, 1)} % on "
        "average."
    )
    return verdict(ours, holds=0 < average <= 0.12, partly=average > 0, why=note(runs))


def h_44(runs: Runs) -> Verdict:
    """The largest zones: less fair."""
    scv = runs.race("paper-000-zone-sizes", "hplajw").changes(COARSE, MEDIUM, BUSY, "scv")
    most = max(scv.values(), default=0.0)
    ours = f"20 zones against 80, moderate and heavy load: SCV {spread(scv)}."
    longer: list[float] = []
    for share in RUN_SHARES:
        longer += runs.race("paper-000-sequentiality", share).changes(COARSE, MEDIUM, BUSY, "scv").values()
    why = (
        "The sign holds at most loads, the size does not, and it is not for want of sequential requests: "
        f"with files of 2 MB and 30 to 80 % of requests in them the SCV differs by {spread(longer)}. What "
        "made it rise by 142 % in the trace is not published."
    )
    return verdict(
        ours, holds=all_above(scv) and 0.3 <= most <= 2.5, partly=most_above(scv.values()), why=why
    )


CLAIMS = {
    "H-34": h_34,
    "H-36": h_36,
    "H-37": h_37,
    "H-38": h_38,
    "H-39": h_39,
    "H-41": h_41,
    "H-42": h_42,
    "H-43": h_43,
    "H-44": h_44,
}
