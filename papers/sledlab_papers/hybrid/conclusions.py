"""Claims of Wang 2005 beyond its figures: its conclusion, and a system that it names (sections 3 and 8)."""

from __future__ import annotations

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_definition
from ..markdown import table
from ..wording import format_rows, percent
from .names import ALL, CELLO, HPLAJW, MWB, TITLES, TPCC, WORKLOADS
from .singles import REQUESTS, simulate_on_disk
from .systems import OTHERS_SUFFIX, REPLACEMENT, SEGMENT_KB, Systems

USUAL = 3
"""Number of the four workloads from which on something is usual."""

MAX_ADDED_ENERGY = 0.1
"""Share of the energy of a disk that a device of low power adds at most: an order of magnitude."""

MAX_DIFFERENCE = 0.1
"""Relative difference of the data destaged by systems of the same architecture."""

POLICIES = {"lfuda": "LFUDA", "slru": "S-LRU", "arc": "ARC"}
NOISE = 0.02
"""Means that differ by less than this share count as equal."""

LOG_WORKLOADS = (TPCC, CELLO, HPLAJW)

BUFFER = ("hybrid.kind", "write-buffer")
GATHERING = ("hybrid.gather", True)
MEMS_LOG, GATHERED_LOG, DISK_LOG = "MWB", "MWB, gathering", "DCD"
LOGS = {
    MEMS_LOG: (BUFFER,),
    GATHERED_LOG: (BUFFER, GATHERING),
    DISK_LOG: (BUFFER, GATHERING, ("front.startup_ms", 0)),
}
"""Settings of a log on MEMS, one that gathers writes, and one on a disk like that behind it."""


def w_56(runs: Systems) -> Judgment:
    """Caching disk compared with write buffer on every workload; overload is worse than any response."""
    details, better = [], []
    for workload in WORKLOADS:
        cached, over = runs.mean(workload, ALL), runs.is_overloaded(workload, MWB)
        buffered = float("inf") if over else runs.mean(workload, MWB)
        better.append(cached < buffered)
        text = "overload" if over else f"{buffered:.2f} ms"
        details.append(f"{TITLES[workload]} {cached:.2f} ms and {text}")
    return judge_criterion(sum(better) >= USUAL, any(better)).with_numbers(
        details=details, better=sum(better), compared=len(better)
    )


def w_57(runs: Systems) -> Judgment:
    """Energy of a disk with MEMS in front of it, relative to that of the disk alone."""
    added = {}
    for workload in WORKLOADS:
        cached = simulate_on_disk(
            runs.disk,
            workload,
            ("hybrid.kind", "caching-disk"),
            ("hybrid.segment_kb", SEGMENT_KB[workload]),
        )
        added[workload] = cached.energy.total / simulate_on_disk(runs.disk, workload).energy.total - 1
    low = [share <= MAX_ADDED_ENERGY for share in added.values()]
    return judge_criterion(all(low), any(low)).with_numbers(
        details=format_rows("{} {:+1%}", ((TITLES[name], share) for name, share in added.items())),
        requests=REQUESTS,
    )


def _simulate_log(disk: str, workload: str, log: str) -> sl.Result:
    front = (("front.preset", disk),) if log == DISK_LOG else ()
    return simulate_on_disk(disk, workload, *LOGS[log], *front)


def w_58(runs: Systems) -> Judgment:
    """A log on MEMS compared with one on a disk: the data that reach the disk behind."""
    changes = {}
    for workload in LOG_WORKLOADS:
        mems, disk = (
            _simulate_log(runs.disk, workload, log).summary["hybrid"]["destaged_blocks"]
            for log in (GATHERED_LOG, DISK_LOG)
        )
        changes[workload] = disk / mems - 1
    near = [abs(change) <= MAX_DIFFERENCE for change in changes.values()]
    return judge_definition(all(near)).with_numbers(
        details=", ".join(f"{TITLES[name]} {percent(change, 1)} %" for name, change in changes.items()),
        requests=REQUESTS,
    )


def w_59(runs: Systems) -> Judgment:
    """Replacement policies compared with LRU."""
    above = _above_lru(runs)
    details = "; ".join(
        f"{POLICIES[policy]} {format_rows('{} {:+1%}', ((TITLES[name], s) for name, s in shares.items()))}"
        for policy, shares in above.items()
    )
    near = [share <= NOISE for shares in above.values() for share in shares.values()]
    return judge_comparisons(near).with_numbers(details=details, near=sum(near), compared=len(near))


def _above_lru(runs: Systems) -> dict[str, dict[str, float]]:
    """Mean response by policy and workload, relative to that with LRU and the same seed."""
    above: dict[str, dict[str, float]] = {policy: {} for policy in POLICIES}
    for workload in WORKLOADS:
        rows = runs.rows(REPLACEMENT, workload) | runs.rows(REPLACEMENT, f"{workload}{OTHERS_SUFFIX}")
        lru = runs.row(workload, ALL).mean_ms
        for policy in POLICIES:
            above[policy][workload] = rows[policy].mean_ms / lru - 1
    return above


def log_table(runs: Systems) -> str:
    """Mean responses of logs on MEMS and on a disk."""
    rows = [
        [
            log,
            *(
                f"{_simulate_log(runs.disk, workload, log).response_time.mean:.2f}"
                for workload in LOG_WORKLOADS
            ),
        ]
        for log in LOGS
    ]
    return table(["mean response, ms", *(TITLES[workload] for workload in LOG_WORKLOADS)], rows)


def replacement_table(runs: Systems) -> str:
    """Mean responses of replacement policies, relative to LRU."""
    rows = [
        [POLICIES[policy], *(f"{percent(share, 1)}" for share in shares.values())]
        for policy, shares in _above_lru(runs).items()
    ]
    return table(["against LRU, %", *(TITLES[workload] for workload in WORKLOADS)], rows)
