"""Claims on the cost of decisions."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import sledlab as sl

from ..claims import Judgment, judge_printed
from ..paths import PROJECT
from ..simulator import PARKED_START
from .plan import SchedulingRuns

DEPTHS = (100, 300, 1000)
"""Lengths of the queue that claims are judged by."""

PUBLISHED_NS = 1800
"""Cost per queued request in ns, on a Pentium IV of 2.6 GHz."""

ZONES_X, ZONES_Y = 20, 2
SPEEDUPS = {"cello": 40.0, "hplajw": 60.0}
"""Speed-ups at heavy loads below saturation."""


@cache
def _decisions() -> dict[tuple[str, int], dict[str, Any]]:
    """Return the measured costs of decisions by scheduler and length of the queue."""
    rows = json.loads((PROJECT / "benches" / "decisions.json").read_text(encoding="utf-8"))["rows"]
    return {(row["scheduler"], row["queue"]): row for row in rows}


def _cost_ns(scheduler: str, depth: int, *, exhaustive: bool = False) -> float:
    """Cost in ns of a decision with `depth` requests queued, with the index or by probing all of them."""
    return float(_decisions()[scheduler, depth]["search_ns" if exhaustive else "ns"] or 0)


def _zones(lbn: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The zones of first blocks on mems-g2, row-first: 2,700 blocks a cylinder, 540 a track, 20 a row."""
    cylinder, row = lbn // 2700, lbn % 540 // 20
    return (cylinder * ZONES_X // 2500 * ZONES_Y + row * ZONES_Y // 27) * 2 + cylinder % 2


def _waiting_requests(
    arrivals: npt.NDArray[np.uint64], starts: npt.NDArray[np.uint64], at: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Requests waiting at the times `at`, the one that is chosen then included."""
    return np.searchsorted(np.sort(arrivals), at, side="right") - np.searchsorted(
        np.sort(starts), at, side="left"
    )


@cache
def _queue_ratio(stand_in: str) -> tuple[float, float]:
    """Mean number of requests queued at decisions of ZSPTF: all, and those of the zone that it serves."""
    device = sl.device("mems-g2", direction="parity")
    run = sl.simulate(
        sl.workload(stand_in),
        device,
        scheduler="zsptf",
        speedup=SPEEDUPS[stand_in],
        settings=PARKED_START,
        requests=True,
    ).requests
    arrival, start, lbn = (run[name].to_numpy() for name in ("arrival_ns", "start_ns", "lbn"))
    zone, total, inside = _zones(lbn), _waiting_requests(arrival, start, start), np.zeros(len(start))
    for number in np.unique(zone):
        mine = zone == number
        inside[mine] = _waiting_requests(arrival[mine], start[mine], start[mine])
    return float(total.mean()), float(inside.mean())


def h_60(_: SchedulingRuns) -> Judgment:
    """Cost by length of the queue, and its reduction by zones."""
    probing = {depth: _cost_ns("sptf", depth, exhaustive=True) for depth in DEPTHS}
    growth = (probing[1000] / probing[100]) / (1000 / 100)
    indexed, asptf = (max(_cost_ns(name, depth) for depth in DEPTHS) for name in ("sptf", "asptf"))
    queues = {stand_in: _queue_ratio(stand_in) for stand_in in SPEEDUPS}
    ratios = {stand_in: total / inside for stand_in, (total, inside) in queues.items()}
    parts = ", ".join(
        f"{stand_in} x{SPEEDUPS[stand_in]:g}: {total:.0f} in all, {inside:.1f} in the zone served, "
        f"{ratios[stand_in]:.0f} times fewer"
        for stand_in, (total, inside) in queues.items()
    )
    linear = 0.5 < growth < 2
    each_us, decision_ms = probing[300] / 300 / 1e3, probing[300] / 1e6
    judged = judge_printed(ratios.values(), [each_us], [decision_ms], direction=linear, holds=linear)
    return judged.with_numbers(
        each_ns=probing[300] / 300,
        growth=growth,
        published_ns=PUBLISHED_NS,
        indexed_us=indexed / 1000,
        asptf_us=asptf / 1000,
        parts=parts,
    )


def l_21(runs: SchedulingRuns) -> Judgment:
    """Minimum spanning trees."""
    race = runs.load_curves("lee2009-spanning-tree")
    changes = {at: race.change("mst", "sptf", at) for at in race.speedups}
    queues = [race.value("mst", at, "queue_mean") for at in race.speedups]
    costs = [race.costs[name, race.speedups[-1]].decision_ns / 1000 for name in ("mst", "sptf")]
    costlier = costs[0] > costs[1]
    times = [1 + change for change in changes.values()]
    faster = 2 * sum(each < 1 for each in times) > len(times)
    return judge_printed(times, direction=faster, holds=costlier).with_numbers(
        changes=changes,
        queues=queues,
        longest=queues[-1],
        costs=costs,
        second=changes[race.speedups[1]],
        race=race,
    )
