"""Claims on all strategies together and on starting later (paper 000, sections 5.3.4 and 7)."""

from __future__ import annotations

from ...markdown import percent
from ..claims import Verdict, verdict
from ..points import Points
from .runs import Runs

FIGURE, DELAYED = "paper-000-figure-12", "paper-000-delayed-spinup"
ALL, NONE, PARKING = "small: all", "small: none", "small: parking"
WHOLE, WHOLE_NONE = "whole: parking and merging", "whole: none"
AT_ONCE = "at once"
SCHEDULERS = ("fcfs", "sptf")
QUEUES = 10.0
"""The speed of the stand-in at which queues form now and then."""


def _along(points: Points, combined: str, none: str) -> str:
    """Changes of energy and response by speed."""
    return ", ".join(
        f"{percent(points.change(combined, none, speedup, 'energy_j'), 1)} % and "
        f"{points.at(combined, speedup, 'mean_ms') - points.at(none, speedup, 'mean_ms'):+.2f} ms at "
        f"{speedup:g}"
        for speedup in points.stable(combined, none)
    )


def h_74(runs: Runs) -> Verdict:
    """Energy and response of all three against none."""
    points = runs.points(FIGURE)
    saved = {s: -points.change(ALL, NONE, s, "energy_j") for s in points.stable(ALL, NONE)}
    added = {s: points.at(ALL, s, "mean_ms") - points.at(NONE, s, "mean_ms") for s in saved}
    cut = min(points.change(ALL, NONE, s, "mean_ms") for s in saved)
    best = max(saved, key=saved.__getitem__)
    parked = -points.change(PARKING, NONE, best, "energy_j")
    ours = (
        f"Metadata shrunk to its block: {_along(points, ALL, NONE)} times the speed (FCFS). Response falls "
        "by up to "
        f"{percent(-cut, 1)[1:]} %. Of the {percent(saved[best], 1)[1:]} % at {best:g}, parking alone saves "
        f"{percent(parked, 1)[1:]}. All requests whole, parking and merging only: "
        f"{_along(points, WHOLE, WHOLE_NONE)}."
    )
    low = min(saved)
    energy = 0.40 <= saved[low] <= 0.60
    turns = 0 < added[low] <= 0.55 and min(added.values()) < 0
    inside = [f"{speedup:g}" for speedup, share in saved.items() if 0.40 <= share <= 0.60]
    inactive = points.share(NONE, low, "inactive_j")
    why = (
        f"Response rises at low load and falls at heavy load as claimed. Energy falls by 40 to 60 % at "
        f"{', '.join(inside) or 'no'} times the speed. At the trace's own speed a timeout of one second "
        "already parks "
        f"the sled most of the time: {100 * inactive:.0f} % of the energy is that of the parked sled before "
        "anything is "
        "saved, and none of the strategies can lower that."
    )
    return verdict(ours, holds=energy and turns, partly=turns, why=why)


def h_76(runs: Runs) -> Verdict:
    """Starting later, with merging and without."""
    delayed = [v for v in runs.points(DELAYED).varied if not v.startswith(AT_ONCE) and "merging" not in v]
    energy, response, recovered = [], [], {}
    for scheduler in SCHEDULERS:
        points = runs.points(DELAYED, scheduler)
        for speedup in points.speedups:
            energy += [points.change(name, AT_ONCE, speedup, "energy_j") for name in delayed]
            response += [
                points.at(name, speedup, "mean_ms") - points.at(AT_ONCE, speedup, "mean_ms")
                for name in delayed
            ]
            recovered[scheduler, speedup] = [
                points.at(name, speedup, "mean_ms") - points.at(f"{name}, merging", speedup, "mean_ms")
                for name in delayed
            ]
    said = "; ".join(
        f"{min(found):+.3f} to {max(found):+.3f} ms under {scheduler.upper()} at {speedup:g}"
        for (scheduler, speedup), found in recovered.items()
    )
    ours = (
        f"Starting later changes the energy by {100 * min(energy):+.2f} to {100 * max(energy):+.2f} % and "
        "the mean "
        f"response by {min(response):+.1f} to {max(response):+.1f} ms. Merging lowers that by {said} "
        "times the speed."
    )
    down, up = max(energy) < 0, min(response) > 0
    gives = [gain > 0 for found in recovered.values() for gain in found]
    points, longest = runs.points(DELAYED), delayed[0]
    starts = [points.at(name, 1.0, "startups") for name in (longest, f"{longest}, merging")]
    busy = all(gain > 0 for (_, speedup), found in recovered.items() if speedup == QUEUES for gain in found)
    why = (
        "Energy falls and response rises with the delay everywhere. Merging gives back some of it in "
        f"{sum(gives)} of {len(gives)} "
        f"cases{f', among them all at {QUEUES:g} times the speed' if busy else ''}. "
        "At the speed of the trace the sled with merging is done sooner, parks, and the next request has to "
        "wait "
        f"for its start: {starts[1]:,.0f} start-ups instead of {starts[0]:,.0f} with {longest}."
    )
    return verdict(ours, holds=down and up and all(gives), partly=down and up, why=why)


CLAIMS = {"H-74": h_74, "H-76": h_76}
