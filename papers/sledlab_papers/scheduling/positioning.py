"""Claims on the schedulers by positioning time (Hong 2006, figure 9)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..runs import HEAVY, MODERATE, LoadCurves
from ..wording import all_above, format_rows, majority_above, spread
from .disk_schedulers import COMPARABLE_SCV
from .plan import ALL_LOADS, BUSY_LOADS, RUN_SHARES, STAND_INS, SchedulingRuns
from .zone_parity import parity_explanation

FIGURE = "hong2006-figure-9"
SCHEDULERS = ("sptf", "asptf", "gsptf", "zsptf", "zsptf-pyramid")
ZSPTF, PYRAMID = "zsptf", "zsptf-pyramid"

PUBLISHED_GAIN = (0.07, 0.10)
"""Relative gain in throughput of SPTF and ASPTF over ZSPTF at moderate load, least and greatest."""

NOISE = 0.02
"""Means that differ by less than this share count as equal."""


def _races(runs: SchedulingRuns) -> dict[str, LoadCurves]:
    return {stand_in: runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS}


def h_48(runs: SchedulingRuns) -> Judgment:
    """SPTF leads."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        leads = [lead for other in SCHEDULERS[1:] for lead in race.changes(other, "sptf", ALL_LOADS).values()]
        measured += leads
        details.append(f"{stand_in}: {spread(leads)}")
    return judge_comparisons(lead > -NOISE for lead in measured).with_numbers(details=details)


def h_49(runs: SchedulingRuns) -> Judgment:
    """GSPTF compared with ZSPTF on random requests."""
    gains = runs.load_curves(FIGURE, "cello").gains("gsptf", ZSPTF, BUSY_LOADS)
    return judge_comparisons(gain > 0 for gain in gains.values()).with_numbers(
        gains=gains, note=parity_explanation(runs)
    )


def h_50(runs: SchedulingRuns) -> Judgment:
    """SPTF and ASPTF at moderate load."""
    race = runs.load_curves(FIGURE, "cello")
    gains = {name: race.gains(name, ZSPTF, (MODERATE,)) for name in ("sptf", "asptf")}
    measured = [gain for each in gains.values() for gain in each.values()]
    inside = sum(PUBLISHED_GAIN[0] <= gain <= PUBLISHED_GAIN[1] for gain in measured)
    return judge_printed(measured, direction=all_above(measured)).with_numbers(
        gains=format_rows("{:upper} over ZSPTF on cello: {:levels}", gains.items(), "; "),
        inside=inside,
        compared=len(measured),
    )


def h_51(runs: SchedulingRuns) -> Judgment:
    """Pyramiding compared with ZSPTF."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(PYRAMID, ZSPTF, ALL_LOADS)
        measured += changes.values()
        details.append(f"{stand_in} {spread(changes)}")
    better = [-change for change in measured]
    return judge_criterion(all_above(better, -NOISE), majority_above(better)).with_numbers(
        details=details, measured=measured, note=parity_explanation(runs)
    )


def h_52(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with ASPTF at heavy load."""
    gains = runs.load_curves(FIGURE, "cello").gains(ZSPTF, "asptf", (HEAVY,))
    return judge_printed(gains.values(), direction=sum(gains.values()) > 0).with_numbers(gains=gains)


def h_54(runs: SchedulingRuns) -> Judgment:
    """SPTF, ASPTF, GSPTF on sequential requests."""
    race = runs.load_curves(FIGURE, "hplajw")
    gains = {name: race.gains(name, ZSPTF, BUSY_LOADS) for name in ("sptf", "asptf", "gsptf")}
    measured = [gain for each in gains.values() for gain in each.values()]
    return judge_printed(measured, direction=majority_above(measured)).with_numbers(
        gains=format_rows("{:upper}: {:levels}", gains.items(), "; "), measured=measured
    )


def h_55(runs: SchedulingRuns) -> Judgment:
    """ASPTF's fairness."""
    wins, points, fairer = 0, 0, 0
    for race in _races(runs).values():
        for speedup in race.loads(BUSY_LOADS, *SCHEDULERS, "c-scan"):
            scv = {name: race.value(name, speedup, "scv") for name in (*SCHEDULERS, "c-scan")}
            points += 1
            wins += min(SCHEDULERS, key=lambda name: scv[name]) == "asptf"
            fairer += scv["asptf"] < scv["c-scan"]
    return judge_criterion(2 * wins > points, wins > 0).with_numbers(wins=wins, points=points, fairer=fairer)


def h_56(runs: SchedulingRuns) -> Judgment:
    """ZSPTF's fairness compared with ASPTF's."""
    details: list[str] = []
    measured: list[float] = []
    for stand_in, race in _races(runs).items():
        changes = race.changes(ZSPTF, "asptf", BUSY_LOADS, "scv")
        measured += changes.values()
        details.append(f"{stand_in} {spread(changes)}")
    return judge_printed(measured, direction=majority_above(measured)).with_numbers(
        details=details, measured=measured
    )


def h_57(runs: SchedulingRuns) -> Judgment:
    """GSPTF's fairness on random requests."""
    changes = runs.load_curves(FIGURE, "cello").changes("gsptf", ZSPTF, BUSY_LOADS, "scv")
    higher = [change > 0 for change in changes.values()]
    is_higher = majority_above(changes)
    return judge_printed(changes.values(), direction=is_higher, holds=is_higher).with_numbers(
        changes=changes, higher=sum(higher), compared=len(higher)
    )


def h_58(runs: SchedulingRuns) -> Judgment:
    """GSPTF under a sequential stream."""
    changes = runs.load_curves(FIGURE, "hplajw").changes("gsptf", ZSPTF, (MODERATE,), "scv")
    longer: list[float] = []
    for share in RUN_SHARES:
        race = runs.load_curves("hong2006-sequentiality", share)
        longer += race.changes("gsptf", "zsptf:grid=20x2", (MODERATE,), "scv").values()
    return judge_criterion(all_above(changes, COMPARABLE_SCV), True).with_numbers(
        changes=changes, longer=longer
    )


def h_59(runs: SchedulingRuns) -> Judgment:
    """Pyramiding's fairness."""
    details: list[str] = []
    above: list[float] = []
    below: list[float] = []
    for stand_in, race in _races(runs).items():
        up, down = (race.changes(*pair, ALL_LOADS, "scv") for pair in ((PYRAMID, ZSPTF), ("sptf", PYRAMID)))
        above += up.values()
        below += down.values()
        details.append(f"{stand_in}: {spread(up)} against ZSPTF, SPTF {spread(down)} against it")
    return judge_criterion(
        all_above(above, -0.05) and all_above(below, -0.05),
        majority_above(above, -0.05) and majority_above(below, -0.05),
    ).with_numbers(details=details, above=above, below=below)
