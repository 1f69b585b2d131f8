"""Claims on ZSPTF and SPTF against the schedulers of disks (paper 000, figure 8)."""

from __future__ import annotations

from ...markdown import percent
from ..claims import Verdict, verdict
from ..words import all_above, levels, most_above, overlaps, spread
from .runs import HEAVY, MODERATE, Race, Runs
from .split import note

BUSY = (MODERATE, HEAVY)
STAND_INS = ("cello", "hplajw")
FIGURE = "paper-000-figure-8"
ZSPTF_80 = "zsptf:grid=20x2"


def h_28(runs: Runs) -> Verdict:
    """ZSPTF against what assumes a wrong cost of x."""
    said, all_changes = [], []
    for stand_in in STAND_INS:
        race = runs.race(FIGURE, stand_in)
        changes = {name: race.changes("zsptf", name, BUSY) for name in ("sstf", "c-scan", "sdf")}
        all_changes += [change for found in changes.values() for change in found.values()]
        parts = ", ".join(f"{name.upper()} {spread(found)}" for name, found in changes.items())
        said.append(f"on {stand_in} against {parts}")
    better = [-change for change in all_changes]
    wins = sum(b >= 0 for b in better)
    ours = (
        f"Mean of ZSPTF, moderate and heavy load, {'; '.join(said)}. It is lower in {wins} of "
        f"{len(better)} comparisons."
    )
    return verdict(ours, holds=wins == len(better), partly=most_above(better), why=note(runs))


def h_29(runs: Runs) -> Verdict:
    """SSTF and C-LOOK against Euclidean distance."""
    said, all_changes = [], []
    for race, label in (
        (runs.race("paper-000-random"), "random"),
        *((runs.race(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
    ):
        parts = []
        for name in ("sstf", "c-scan"):
            moderate, heavy = (race.changes(name, "sdf", (weight,)) for weight in BUSY)
            all_changes += [*moderate.values(), *heavy.values()]
            parts.append(f"{name.upper()} {spread(moderate)} and {spread(heavy)}")
        said.append(f"{label}: {', '.join(parts)}")
    better = [-change for change in all_changes]
    why = (
        "It holds for random requests at moderate load. Where queues are long, SDF finds what is near in x "
        "and y, and SSTF and C-SCAN, which look at tracks alone, do not."
    )
    ours = f"Mean against SDF at moderate and at heavy load, {'; '.join(said)}."
    return verdict(ours, holds=all(b >= 0 for b in better), partly=any(b > 0 for b in better), why=why)


def h_30(runs: Runs) -> Verdict:
    """SPTF: fastest, and unfair."""
    leads: list[float] = []
    gaps: list[float] = []
    beyond = 0
    for race in (
        runs.race("paper-000-random"),
        *(runs.race(FIGURE, stand_in) for stand_in in STAND_INS),
        *(runs.race("paper-000-figure-9", stand_in) for stand_in in STAND_INS),
    ):
        for other in sorted({name for name, _ in race.curves} - {"sptf"}):
            leads += race.changes(other, "sptf", BUSY).values()
            beyond += sum(not _within_interval(race, other, at) for at in race.loads(BUSY, other, "sptf"))
        gaps += race.changes("sptf", "c-scan", BUSY, "scv").values()
    ours = (
        "Mean of all others against SPTF on the random workload (grade P) and both stand-ins: "
        f"{spread(leads)}. {sum(lead < 0 for lead in leads)} of {len(leads)} are below SPTF, {beyond} of "
        "them by more than the half width of the 95 % interval. SPTF's SCV against C-SCAN's: "
        f"{spread(gaps)}."
    )
    lowest = all(lead >= 0 for lead in leads)
    why = (
        "The criterion has no tolerance. Where another scheduler comes out ahead it is by "
        f"{percent(-min(leads), 1)[1:]} % at most."
    )
    return verdict(
        ours, holds=lowest and all_above(gaps), partly=most_above(leads) and most_above(gaps), why=why
    )


def _within_interval(race: Race, other: str, speedup: float) -> bool:
    """Whether a scheduler's mean is above SPTF's, or below it by less than the interval of either."""
    gap = race.at("sptf", speedup) - race.at(other, speedup)
    return gap <= max(race.at(name, speedup, "mean_ci95_ms") for name in (other, "sptf"))


def h_45(runs: Runs) -> Verdict:
    """Light load: all alike."""
    said, widest, unfair = [], [], []
    for race, label in (
        *((runs.race(FIGURE, stand_in), stand_in) for stand_in in STAND_INS),
        (runs.race("paper-000-random"), "random (grade P)"),
    ):
        light = race.speedups[0]
        names = sorted({name for name, _ in race.curves})
        means, scvs = ([race.at(name, light, measure) for name in names] for measure in ("mean_ms", "scv"))
        widest.append(max(means) / min(means) - 1)
        unfair.append(max(scvs) - min(scvs))
        said.append(
            f"{label}: {min(means):.3f} to {max(means):.3f} ms, SCV {min(scvs):.3f} to {max(scvs):.3f}"
        )
    ours = f"At factor 1, {'; '.join(said)}."
    return verdict(ours, holds=max(widest) <= 0.05, partly=min(widest) <= 0.05)


def h_46(runs: Runs) -> Verdict:
    """ZSPTF's throughput: the headline."""
    said: list[str] = []
    found: list[float] = []
    for stand_in in STAND_INS:
        race = runs.race(FIGURE, stand_in)
        for other in ("c-scan", "sstf"):
            gains = race.gains("zsptf", other, BUSY)
            found += gains.values()
            said.append(f"{stand_in}, over {other.upper()}: {levels(gains)}")
    ours = f"Throughput of ZSPTF at equal mean response: {'; '.join(said)}. {_limits(runs)}"
    why = (
        "The sign holds at most levels, the margin does not. It is out of reach: ZSPTF stays behind SPTF, "
        "and SPTF itself, with the places and sizes of cello, completes no more than the last figures "
        "above C-SCAN."
    )
    return verdict(
        ours,
        holds=all_above(found) and overlaps(found, 0.10, 0.40),
        partly=most_above(found),
        why=why,
    )


def _limits(runs: Runs) -> str:
    """What order is worth where the queue is kept at a depth."""
    parts = []
    for depth in (10, 100, 1000):
        race = runs.race("paper-000-saturation", f"closed:{depth}")
        over = {
            name: race.at(name, 1.0, "throughput_iops") / race.at("c-scan", 1.0, "throughput_iops") - 1
            for name in (ZSPTF_80, "sptf")
        }
        parts.append(
            f"{100 * over[ZSPTF_80]:+.1f} % and {100 * over['sptf']:+.1f} % at {depth:,} outstanding"
        )
    return f"With a constant queue, ZSPTF and SPTF complete more than C-SCAN by {', '.join(parts)}."


def h_47(runs: Runs) -> Verdict:
    """Fairness of ZSPTF, C-SCAN and SSTF."""
    said: list[str] = []
    found: list[float] = []
    for stand_in in STAND_INS:
        race = runs.race(FIGURE, stand_in)
        changes = {name: race.changes("sstf", name, (HEAVY,), "scv") for name in ("zsptf", "c-scan")}
        apart = race.changes("zsptf", "c-scan", (HEAVY,), "scv")
        found += [change for each in changes.values() for change in each.values()]
        said.append(
            f"{stand_in}: SCV of SSTF against ZSPTF {spread(changes['zsptf'])} and against C-SCAN "
            f"{spread(changes['c-scan'])}, of ZSPTF against C-SCAN {spread(apart)}"
        )
    higher = sum(change > 0 for change in found)
    why = f"SSTF's SCV is the higher one in {higher} of {len(found)} comparisons."
    return verdict(
        f"At heavy load, {'; '.join(said)}.", holds=all_above(found), partly=most_above(found), why=why
    )


CLAIMS = {
    "H-28": h_28,
    "H-29": h_29,
    "H-30": h_30,
    "H-45": h_45,
    "H-46": h_46,
    "H-47": h_47,
}
