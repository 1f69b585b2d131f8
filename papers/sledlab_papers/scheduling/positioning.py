"""Claims on the schedulers by positioning time (Hong 2006, figure 9)."""

from __future__ import annotations

from ..claims import Judgement, judged
from ..runs import HEAVY, MODERATE, LoadCurves
from ..wording import all_above, each, most_above, overlaps, spread
from .plan import ALL, BUSY, RUN_SHARES, STAND_INS, Reading
from .zone_parity import note

FIGURE = "hong2006-figure-9"
FIVE = ("sptf", "asptf", "gsptf", "zsptf", "zsptf-pyramid")
ZSPTF, PYRAMID = "zsptf", "zsptf-pyramid"

PRINTED = (0.07, 0.10)
"""Relative gain in throughput of SPTF and ASPTF over ZSPTF at moderate load, least and greatest."""

HIGHER_SCV = 0.07
"""Largest relative excess of GSPTF's SCV on cello."""


def _races(runs: Reading) -> dict[str, LoadCurves]:
    return {stand_in: runs.race(FIGURE, stand_in) for stand_in in STAND_INS}


def h_48(runs: Reading) -> Judgement:
    """SPTF leads."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        leads = [lead for other in FIVE[1:] for lead in race.changes(other, "sptf", ALL).values()]
        measured += leads
        details.append(f"{stand_in}: {spread(leads)}")
    return judged(all_above(measured, -0.02), most_above(measured, -0.02)).saying(details=details)


def h_49(runs: Reading) -> Judgement:
    """GSPTF compared with ZSPTF on random requests."""
    gains = runs.race(FIGURE, "cello").gains("gsptf", ZSPTF, BUSY)
    return judged(all_above(gains, -0.05), most_above(gains.values(), -0.05)).saying(gains=gains)


def h_50(runs: Reading) -> Judgement:
    """SPTF and ASPTF at moderate load."""
    race = runs.race(FIGURE, "cello")
    gains = {name: race.gains(name, ZSPTF, (MODERATE,)) for name in ("sptf", "asptf")}
    measured = [gain for each in gains.values() for gain in each.values()]
    inside = sum(PRINTED[0] <= gain <= PRINTED[1] for gain in measured)
    return judged(all_above(measured) and 2 * inside > len(measured), all_above(measured)).saying(
        gains=each("{:upper} over ZSPTF on cello: {:levels}", gains.items(), "; "),
        inside=inside,
        compared=len(measured),
    )


def h_51(runs: Reading) -> Judgement:
    """Pyramiding compared with ZSPTF."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(PYRAMID, ZSPTF, ALL)
        measured += changes.values()
        details.append(f"{stand_in} {spread(changes)}")
    better = [-change for change in measured]
    return judged(all_above(better, -0.02), most_above(better)).saying(
        details=details, measured=measured, note=note(runs)
    )


def h_52(runs: Reading) -> Judgement:
    """ZSPTF compared with ASPTF at heavy load."""
    gains = runs.race(FIGURE, "cello").gains(ZSPTF, "asptf", (HEAVY,))
    return judged(
        all_above(gains) and overlaps(gains, 0.02, 0.15), any(gain > 0 for gain in gains.values())
    ).saying(gains=gains)


def h_54(runs: Reading) -> Judgement:
    """SPTF, ASPTF, GSPTF on sequential requests."""
    race = runs.race(FIGURE, "hplajw")
    gains = {name: race.gains(name, ZSPTF, BUSY) for name in ("sptf", "asptf", "gsptf")}
    measured = [gain for each in gains.values() for gain in each.values()]
    return judged(all_above(measured) and overlaps(measured, 0.03, 0.18), most_above(measured)).saying(
        gains=each("{:upper}: {:levels}", gains.items(), "; "), measured=measured
    )


def h_55(runs: Reading) -> Judgement:
    """ASPTF's fairness."""
    wins, points, fairer = 0, 0, 0
    for race in _races(runs).values():
        for speedup in race.loads(BUSY, *FIVE, "c-scan"):
            scv = {name: race.at(name, speedup, "scv") for name in (*FIVE, "c-scan")}
            points += 1
            wins += min(FIVE, key=lambda name: scv[name]) == "asptf"
            fairer += scv["asptf"] < scv["c-scan"]
    return judged(2 * wins > points, wins > 0).saying(wins=wins, points=points, fairer=fairer)


def h_56(runs: Reading) -> Judgement:
    """ZSPTF's fairness compared with ASPTF's."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(ZSPTF, "asptf", BUSY, "scv")
        measured += changes.values()
        details.append(f"{stand_in} {spread(changes)}")
    return judged(
        all_above(measured) and overlaps(measured, 0.05, 0.6),
        most_above(measured) or overlaps(measured, 0.05, 0.6),
    ).saying(details=details, measured=measured)


def h_57(runs: Reading) -> Judgement:
    """GSPTF's fairness on random requests."""
    changes = runs.race(FIGURE, "cello").changes("gsptf", ZSPTF, BUSY, "scv")
    near = [abs(change) <= 0.15 for change in changes.values()]
    higher = [change > 0 for change in changes.values()]
    holds = most_above(changes) and max(changes.values()) <= HIGHER_SCV
    return judged(holds, bool(near) and all(near)).saying(
        changes=changes, higher=sum(higher), compared=len(higher)
    )


def h_58(runs: Reading) -> Judgement:
    """GSPTF under a sequential stream."""
    changes = runs.race(FIGURE, "hplajw").changes("gsptf", ZSPTF, (MODERATE,), "scv")
    longer: list[float] = []
    for share in RUN_SHARES:
        race = runs.race("hong2006-sequentiality", share)
        longer += race.changes("gsptf", "zsptf:grid=20x2", (MODERATE,), "scv").values()
    return judged(all_above(changes, 0.02), True).saying(changes=changes, longer=longer)


def h_59(runs: Reading) -> Judgement:
    """Pyramiding's fairness."""
    details: list[str] = []
    above: list[float] = []
    below: list[float] = []
    for stand_in, race in _races(runs).items():
        up, down = (race.changes(*pair, ALL, "scv") for pair in ((PYRAMID, ZSPTF), ("sptf", PYRAMID)))
        above += up.values()
        below += down.values()
        details.append(f"{stand_in}: {spread(up)} against ZSPTF, SPTF {spread(down)} against it")
    return judged(
        all_above(above, -0.05) and all_above(below, -0.05),
        most_above(above, -0.05) and most_above(below, -0.05),
    ).saying(details=details)
