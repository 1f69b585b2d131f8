"""Claims on the cost of decisions."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import sledlab as sl

from ..claims import Judgment, judge_criterion, judge_printed
from ..paths import PROJECT
from ..runs import HEAVY
from ..simulator import PARKED_START
from ..wording import cells, majority_above, number_table
from .plan import STAND_INS, SchedulingRuns

DEPTHS = (100, 300, 1000)
"""Lengths of the queue that claims are judged by."""

ZONES_X, ZONES_Y = 20, 2


@cache
def _decisions() -> dict[tuple[str, int], dict[str, Any]]:
    """Return the measured costs of decisions by scheduler and length of the queue."""
    file = PROJECT / "validation" / "benches" / "decisions.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return {(row["scheduler"], row["queue"]): row for row in rows}


def decision_ns(scheduler: str, depth: int, *, exhaustive: bool = False) -> float:
    """Cost in ns of a decision with `depth` requests queued, with the index or by probing all of them."""
    return float(_decisions()[scheduler, depth]["search_ns" if exhaustive else "ns"] or 0)


def _zones(lbn: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The zones of first blocks on mems-g2, row-first: 2,700 blocks a cylinder, 540 a track, 20 a row."""
    cylinder, row = lbn // 2700, lbn % 540 // 20
    return (cylinder * ZONES_X // 2500 * ZONES_Y + row * ZONES_Y // 27) * 2 + cylinder % 2


def _waiting_requests(
    arrivals_ns: npt.NDArray[np.uint64], starts_ns: npt.NDArray[np.uint64], times_ns: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Requests waiting at the times `times_ns`, including the one that is chosen then."""
    return np.searchsorted(np.sort(arrivals_ns), times_ns, side="right") - np.searchsorted(
        np.sort(starts_ns), times_ns, side="left"
    )


@cache
def _queue_means(stand_in: str, speedup: float) -> tuple[float, float]:
    """Mean number of requests queued at decisions of ZSPTF: all, and those of the zone that it serves."""
    device = sl.device("mems-g2", direction="free")
    requests = sl.simulate(
        sl.workload(stand_in),
        device,
        scheduler="zsptf",
        speedup=speedup,
        settings=PARKED_START,
        requests=True,
    ).requests
    arrivals_ns, starts_ns, lbns = (requests[name].to_numpy() for name in ("arrival_ns", "start_ns", "lbn"))
    zones, waiting, waiting_in_zone = (
        _zones(lbns),
        _waiting_requests(arrivals_ns, starts_ns, starts_ns),
        np.zeros(len(starts_ns)),
    )
    for zone in np.unique(zones):
        is_in_zone = zones == zone
        waiting_in_zone[is_in_zone] = _waiting_requests(
            arrivals_ns[is_in_zone], starts_ns[is_in_zone], starts_ns[is_in_zone]
        )
    return float(waiting.mean()), float(waiting_in_zone.mean())


def h_60(runs: SchedulingRuns) -> Judgment:
    """Cost of a decision by probing the queue, and its reduction by zones."""
    probing_ns = {name: decision_ns(name, 300, exhaustive=True) for name in ("sptf", "asptf")}
    indexed_us = {name: max(decision_ns(name, depth) for depth in DEPTHS) / 1000 for name in probing_ns}
    queues = {
        (stand_in, speedup): _queue_means(stand_in, speedup)
        for stand_in in STAND_INS
        for speedup in runs.load_curves("hong2006-figure-8", stand_in).loads((HEAVY,), "zsptf")
    }
    ratios = [waiting / waiting_in_zone for waiting, waiting_in_zone in queues.values()]
    judgment = judge_printed(
        ratios,
        [ns / 300 / 1e3 for ns in probing_ns.values()],
        [ns / 1e6 for ns in probing_ns.values()],
        direction_holds=False,  # part of a queue is always shorter than the whole
    )
    return judgment.with_numbers(
        **{f"{name}_ns": ns / 300 for name, ns in probing_ns.items()},
        **{f"{name}_us": us for name, us in indexed_us.items()},
        fewest=min(ratios),
        most=max(ratios),
    ).with_tables(
        number_table(
            "Mean queue at decisions of ZSPTF with 80 zones, requests",
            "workload | factor | in all | in the zone served",
            [cells("{} | {:g} | {:.0f} | {:.1f}", *key, *means) for key, means in queues.items()],
        )
    )


def l_21(runs: SchedulingRuns) -> Judgment:
    """Minimum spanning trees."""
    load_curves = runs.load_curves("lee2009-spanning-tree")
    changes = {speedup: load_curves.change("mst", "sptf", speedup) for speedup in load_curves.speedups}
    queue_means = [load_curves.value("mst", speedup, "queue_mean") for speedup in load_curves.speedups]
    costs_us = [
        load_curves.costs[name, load_curves.speedups[-1]].decision_ns / 1000 for name in ("mst", "sptf")
    ]
    is_costlier = costs_us[0] > costs_us[1]
    is_faster = majority_above(-change for change in changes.values())
    return judge_criterion(is_faster and is_costlier, is_faster).with_numbers(
        changes=changes,
        queues=queue_means,
        longest=queue_means[-1],
        costs=costs_us,
        second=changes[load_curves.speedups[1]],
        race=load_curves,
    )
