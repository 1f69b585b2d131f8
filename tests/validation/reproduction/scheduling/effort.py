"""Claims on what decisions cost."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import numpy.typing as npt
import sledlab as sl

from ...markdown import percent
from ..claims import Verdict, verdict
from ..experiments import PROJECT
from ..words import figure, spread
from .runs import Runs

DECISIONS = PROJECT / "benches" / "decisions.json"
"""What `make bench` has measured."""

DEPTHS = (10, 100, 300, 1000)
PUBLISHED_NS = 1800
"""Per queued request, on a Pentium IV of 2.6 GHz."""

ZONES_X, ZONES_Y = 20, 2
SPEEDUPS = {"cello": 40.0, "hplajw": 60.0}
"""Heavy loads, below saturation."""


def _cost_ns(scheduler: str, depth: int, how: str = "ns") -> float:
    """A decision with so many queued, by the index (`ns`) or by probing them all (`scan_ns`)."""
    measured = json.loads(DECISIONS.read_text(encoding="utf-8"))
    return next(float(row[how]) for row in measured if (row["scheduler"], row["queue"]) == (scheduler, depth))


def _zones(lbn: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The zones of first blocks on mems-g2, row-first: 2,700 blocks a cylinder, 540 a track, 20 a row."""
    cylinder, row = lbn // 2700, lbn % 540 // 20
    return (cylinder * ZONES_X // 2500 * ZONES_Y + row * ZONES_Y // 27) * 2 + cylinder % 2


def _waiting(
    arrivals: npt.NDArray[np.uint64], starts: npt.NDArray[np.uint64], at: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """How many have arrived and not yet been chosen at some times, the one chosen then included."""
    return np.searchsorted(np.sort(arrivals), at, side="right") - np.searchsorted(
        np.sort(starts), at, side="left"
    )


@cache
def _queue_ratio(stand_in: str) -> tuple[float, float]:
    """Requests queued at decisions of ZSPTF, on average: all, and those of the zone it serves."""
    device = sl.device("mems-g2", direction="parity")
    run = sl.simulate(
        sl.workload(stand_in), device, scheduler="zsptf", speedup=SPEEDUPS[stand_in], requests=True
    ).requests
    arrival, start, lbn = (run[name].to_numpy() for name in ("arrival_ns", "start_ns", "lbn"))
    zone, total, inside = _zones(lbn), _waiting(arrival, start, start), np.zeros(len(start))
    for number in np.unique(zone):
        mine = zone == number
        inside[mine] = _waiting(arrival[mine], start[mine], start[mine])
    return float(total.mean()), float(inside.mean())


def h_60(_: Runs) -> Verdict:
    """Cost by queue length, and what zones make of it."""
    probing = {depth: _cost_ns("sptf", depth, "scan_ns") for depth in DEPTHS}
    growth = (probing[1000] / probing[100]) / (1000 / 100)
    indexed, asptf = (max(_cost_ns(name, depth) for depth in DEPTHS) for name in ("sptf", "asptf"))
    queues = {stand_in: _queue_ratio(stand_in) for stand_in in SPEEDUPS}
    ratios = {stand_in: total / inside for stand_in, (total, inside) in queues.items()}
    parts = ", ".join(
        f"{stand_in} x{SPEEDUPS[stand_in]:g}: {total:.0f} in all, {inside:.1f} in the zone served, "
        f"{ratios[stand_in]:.0f} times fewer"
        for stand_in, (total, inside) in queues.items()
    )
    ours = (
        f"Probing every queued request costs {probing[300] / 300:.0f} ns each at a queue of 300 and grows "
        f"{growth:.2f} times as fast as the queue from 100 to 1,000 (published: {PUBLISHED_NS:,} ns, "
        "linear; ours by `make bench`). By the index, a decision costs at "
        f"most {figure(indexed / 1000)} us for SPTF and {figure(asptf / 1000)} us for ASPTF at any of "
        "these queues: the reason to call them impractical is gone. Queues at decisions of ZSPTF with 80 "
        f"zones: {parts}."
    )
    near = all(10 <= ratio <= 100 for ratio in ratios.values())
    linear = 0.5 < growth < 2
    return verdict(ours, holds=near and linear, partly=near or linear)


def l_21(runs: Runs) -> Verdict:
    """Minimum spanning trees."""
    race = runs.race("paper-002-spanning-tree")
    changes = {at: race.at("mst", at) / race.at("sptf", at) - 1 for at in race.speedups}
    queues = [race.at("mst", at, "queue_mean") for at in race.speedups]
    costs = [race.costs[name, race.speedups[-1]]["decision_ns"] / 1000 for name in ("mst", "sptf")]
    ours = (
        f"Mean of MST against SPTF: {spread(changes)} with {figure(queues[0])} to {figure(queues[-1])} "
        f"requests waiting; a decision costs {figure(costs[0])} us against {figure(costs[1])} us at the "
        "longest queue."
    )
    why = (
        f"The two are level where queues are short ({percent(changes[race.speedups[1]], 1)} % at factor "
        f"{race.speedups[1]:g}). MST plans with one cost per pair of positions, the larger of both "
        "directions, and starts anew at every arrival; what the walk saves at its end is seldom reached."
    )
    costlier = costs[0] > costs[1]
    near = [-0.10 <= change <= 0.02 for change in changes.values()]
    return verdict(ours, holds=costlier and all(near), partly=costlier or any(near), why=why)


CLAIMS = {"H-60": h_60, "L-21": l_21}
