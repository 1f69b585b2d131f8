"""Claims on the schedulers by positioning time (paper 000, figure 9)."""

from __future__ import annotations

from ..claims import Verdict, verdict
from ..words import all_above, levels, most_above, overlaps, spread
from .runs import HEAVY, LIGHT, MODERATE, Race, Runs
from .split import note

RUN_SHARES = (0.3, 0.65, 0.8)
BUSY = (MODERATE, HEAVY)
ALL = (LIGHT, MODERATE, HEAVY)
STAND_INS = ("cello", "hplajw")
FIGURE = "paper-000-figure-9"
FIVE = ("sptf", "asptf", "gsptf", "zsptf", "zsptf-pyramid")
ZSPTF, PYRAMID = "zsptf", "zsptf-pyramid"


def _races(runs: Runs) -> dict[str, Race]:
    return {stand_in: runs.race(FIGURE, stand_in) for stand_in in STAND_INS}


def h_48(runs: Runs) -> Verdict:
    """SPTF leads."""
    said: list[str] = []
    found: list[float] = []
    for stand_in, race in _races(runs).items():
        leads = [lead for other in FIVE[1:] for lead in race.changes(other, "sptf", ALL).values()]
        found += leads
        said.append(f"{stand_in}: {spread(leads)}")
    ours = f"Mean of the other four against SPTF over all loads, {'; '.join(said)}."
    return verdict(ours, holds=all_above(found, -0.02), partly=most_above(found, -0.02))


def h_49(runs: Runs) -> Verdict:
    """GSPTF against ZSPTF on random requests."""
    gains = runs.race(FIGURE, "cello").gains("gsptf", ZSPTF, BUSY)
    return verdict(
        f"cello, throughput of GSPTF over ZSPTF: {levels(gains)}.",
        holds=all_above(gains, -0.05),
        partly=most_above(gains.values(), -0.05),
    )


def h_50(runs: Runs) -> Verdict:
    """SPTF and ASPTF at moderate load."""
    race = runs.race(FIGURE, "cello")
    gains = {name: race.gains(name, ZSPTF, (MODERATE,)) for name in ("sptf", "asptf")}
    found = [gain for each in gains.values() for gain in each.values()]
    ours = "; ".join(f"{name.upper()} over ZSPTF on cello: {levels(each)}" for name, each in gains.items())
    why = "The sign holds, the margin is smaller."
    return verdict(
        f"{ours}.",
        holds=all_above(found) and overlaps(found, 0.03, 0.15),
        partly=all_above(found),
        why=why,
    )


def h_51(runs: Runs) -> Verdict:
    """Pyramiding against ZSPTF."""
    said: list[str] = []
    found: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(PYRAMID, ZSPTF, ALL)
        found += changes.values()
        said.append(f"{stand_in} {spread(changes)}")
    better = [-change for change in found]
    ours = f"Mean of pyramiding against ZSPTF over all loads: {', '.join(said)}."
    return verdict(ours, holds=all_above(better, -0.02), partly=most_above(better), why=note(runs))


def h_52(runs: Runs) -> Verdict:
    """ZSPTF against ASPTF at heavy load."""
    gains = runs.race(FIGURE, "cello").gains(ZSPTF, "asptf", (HEAVY,))
    return verdict(
        f"cello, throughput of ZSPTF over ASPTF: {levels(gains)}.",
        holds=all_above(gains) and overlaps(gains, 0.02, 0.15),
        partly=any(gain > 0 for gain in gains.values()),
        why="Sign and margin come with the load: ASPTF is SPTF until waits reach tens of milliseconds.",
    )


def h_54(runs: Runs) -> Verdict:
    """SPTF, ASPTF, GSPTF on sequential requests."""
    race = runs.race(FIGURE, "hplajw")
    gains = {name: race.gains(name, ZSPTF, BUSY) for name in ("sptf", "asptf", "gsptf")}
    found = [gain for each in gains.values() for gain in each.values()]
    ours = "; ".join(f"{name.upper()}: {levels(each)}" for name, each in gains.items())
    why = "SPTF and ASPTF gain at every level; GSPTF comes out level with ZSPTF but for the heaviest loads."
    return verdict(
        f"hplajw, throughput over ZSPTF. {ours}.",
        holds=all_above(found) and overlaps(found, 0.03, 0.18),
        partly=most_above(found),
        why=why,
    )


def h_55(runs: Runs) -> Verdict:
    """ASPTF's fairness."""
    wins, points, fairer = 0, 0, 0
    for race in _races(runs).values():
        for speedup in race.loads(BUSY, *FIVE, "c-scan"):
            scv = {name: race.at(name, speedup, "scv") for name in (*FIVE, "c-scan")}
            points += 1
            wins += min(FIVE, key=lambda name: scv[name]) == "asptf"
            fairer += scv["asptf"] < scv["c-scan"]
    ours = (
        f"ASPTF has the lowest SCV of the five at {wins} of {points} loads, moderate and heavy, and a "
        f"lower one than C-SCAN at {fairer}."
    )
    why = "At moderate load ASPTF still is SPTF, and unfair; it turns fair as waits reach seconds."
    return verdict(ours, holds=2 * wins > points, partly=wins > 0, why=why)


def h_56(runs: Runs) -> Verdict:
    """ZSPTF's fairness against ASPTF's."""
    said: list[str] = []
    found: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(ZSPTF, "asptf", BUSY, "scv")
        found += changes.values()
        said.append(f"{stand_in} {spread(changes)}")
    return verdict(
        f"ZSPTF's SCV against ASPTF's: {', '.join(said)}.",
        holds=all_above(found) and overlaps(found, 0.05, 0.60),
        partly=most_above(found) or overlaps(found, 0.05, 0.60),
        why="The sign turns at moderate load: waits are too short for ASPTF to be other than SPTF.",
    )


def h_57(runs: Runs) -> Verdict:
    """GSPTF's fairness on random requests."""
    changes = runs.race(FIGURE, "cello").changes("gsptf", ZSPTF, BUSY, "scv")
    near = [abs(change) <= 0.15 for change in changes.values()]
    return verdict(
        f"cello, GSPTF's SCV against ZSPTF's: {spread(changes)}.",
        holds=bool(near) and all(near),
        partly=any(near),
    )


def h_58(runs: Runs) -> Verdict:
    """GSPTF under a sequential stream."""
    changes = runs.race(FIGURE, "hplajw").changes("gsptf", ZSPTF, (MODERATE,), "scv")
    ours = (
        f"hplajw, GSPTF's SCV against ZSPTF's at moderate load: {spread(changes)}. A single endless "
        "sequential stream starves everything else under GSPTF and nothing under ZSPTF: "
        "`a_sequential_stream_holds_regions_of_blocks_but_not_zones`."
    )
    longer: list[float] = []
    for share in RUN_SHARES:
        race = runs.race("paper-000-sequentiality", share)
        longer += race.changes("gsptf", "zsptf:grid=20x2", (MODERATE,), "scv").values()
    why = (
        "The mechanism is there, its effect on the stand-in small; with files of 2 MB and 30 to 80 % of "
        f"requests in them, the difference is {spread(longer)}. It takes a stream that never ends."
    )
    return verdict(ours, holds=all_above(changes, 0.02), partly=True, why=why)


def h_59(runs: Runs) -> Verdict:
    """Pyramiding's fairness."""
    said: list[str] = []
    above: list[float] = []
    below: list[float] = []
    for stand_in, race in _races(runs).items():
        up, down = (race.changes(*pair, ALL, "scv") for pair in ((PYRAMID, ZSPTF), ("sptf", PYRAMID)))
        above += up.values()
        below += down.values()
        said.append(f"{stand_in}: {spread(up)} against ZSPTF, SPTF {spread(down)} against it")
    return verdict(
        f"Pyramiding's SCV, {'; '.join(said)}.",
        holds=all_above(above, -0.05) and all_above(below, -0.05),
        partly=most_above(above, -0.05) and most_above(below, -0.05),
    )


CLAIMS = {
    "H-48": h_48,
    "H-49": h_49,
    "H-50": h_50,
    "H-51": h_51,
    "H-52": h_52,
    "H-54": h_54,
    "H-55": h_55,
    "H-56": h_56,
    "H-57": h_57,
    "H-58": h_58,
    "H-59": h_59,
}
