"""Claims of Wang 2005 beyond its figures: its conclusion, and a system that it names (sections 3 and 8)."""

from __future__ import annotations

import sledlab as sl

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_definition, judge_fitted
from ..markdown import table
from ..wording import format_rows, percent
from .names import ALL, CELLO, HPLAJW, MWB, TITLES, TPCC, WORKLOADS
from .singles import CACHING_DISK, REQUESTS, WRITE_BUFFER, simulate_on_disk
from .systems import OTHERS_SUFFIX, REPLACEMENT, SEGMENT_KB, HybridRuns, workload_table

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
"""The workloads with writes."""

LOG_BLOCKS = 256 * 2048
"""Blocks of the logs."""

FULL_SHARE = 0.9
"""Share of the logs in use from which on they are cleaned."""

GATHERING = ("hybrid.gather", True)
MEMS_LOG, GATHERED_LOG, DISK_LOG = "MWB", "MWB, gathering", "DCD"
LOGS = {
    MEMS_LOG: WRITE_BUFFER,
    GATHERED_LOG: (*WRITE_BUFFER, GATHERING),
    DISK_LOG: (*WRITE_BUFFER, GATHERING, ("front.startup_ms", 0)),
}
"""Settings of a log on MEMS, one that gathers writes, and one on a disk like that behind it."""


def w_56(runs: HybridRuns) -> Judgment:
    """Caching disk compared with write buffer on every workload; overload is worse than any response."""
    rows, are_better = {}, []
    for workload in WORKLOADS:
        caching_ms, is_overloaded = runs.mean(workload, ALL), runs.is_overloaded(workload, MWB)
        buffered_ms = float("inf") if is_overloaded else runs.mean(workload, MWB)
        are_better.append(caching_ms < buffered_ms)
        rows[workload] = [f"{caching_ms:.2f}", "overload" if is_overloaded else f"{buffered_ms:.2f}"]
    return (
        judge_criterion(sum(are_better) >= USUAL, any(are_better))
        .with_numbers(better=sum(are_better), compared=len(are_better))
        .with_tables(workload_table("Mean response, ms", "MCD ALL | MWB", rows))
    )


def w_57(runs: HybridRuns) -> Judgment:
    """Energy of a disk with MEMS in front of it, relative to that of the disk alone."""
    added_energies, overloaded = {}, []
    for workload in WORKLOADS:
        disk_run = simulate_on_disk(runs.disk, workload)
        caching_run = simulate_on_disk(
            runs.disk,
            workload,
            *CACHING_DISK,
            ("hybrid.segment_kb", SEGMENT_KB[workload]),
        )
        added_energies[workload] = caching_run.energy.total / disk_run.energy.total - 1
        if disk_run.summary["saturated"]:
            overloaded.append(TITLES[workload])
    return judge_fitted(max(added_energies.values()) <= MAX_ADDED_ENERGY).with_numbers(
        details=format_rows("{} {:+1%}", ((TITLES[name], share) for name, share in added_energies.items())),
        overloaded=", ".join(overloaded) or "no workload",
        requests=REQUESTS,
    )


def _simulate_log(disk: str, workload: str, log: str) -> sl.Result:
    front_settings = (("front.preset", disk),) if log == DISK_LOG else ()
    return simulate_on_disk(disk, workload, *LOGS[log], *front_settings)


def w_58(runs: HybridRuns) -> Judgment:
    """A log on MEMS compared with one on a disk: the data that reach the disk behind."""
    changes, filling_workloads = {}, []
    for workload in LOG_WORKLOADS:
        on_mems, on_disk = (
            _simulate_log(runs.disk, workload, log).summary["hybrid"] for log in (GATHERED_LOG, DISK_LOG)
        )
        changes[workload] = on_disk["destaged_blocks"] / on_mems["destaged_blocks"] - 1
        if on_mems["written_blocks"] > FULL_SHARE * LOG_BLOCKS:
            filling_workloads.append(TITLES[workload])
    are_near = [abs(change) <= MAX_DIFFERENCE for change in changes.values()]
    return judge_definition(all(are_near)).with_numbers(
        details=", ".join(f"{TITLES[name]} {percent(change, 1)} %" for name, change in changes.items()),
        filled=", ".join(filling_workloads),
        requests=REQUESTS,
    )


def w_59(runs: HybridRuns) -> Judgment:
    """Replacement policies compared with LRU."""
    changes = _changes_from_lru(runs)
    rows = {
        workload: [percent(changes[policy][workload], 1) for policy in POLICIES] for workload in WORKLOADS
    }
    are_near = [share <= NOISE for shares in changes.values() for share in shares.values()]
    return judge_comparisons(are_near).with_tables(
        workload_table("Mean response against LRU, %", " | ".join(POLICIES.values()), rows)
    )


def _changes_from_lru(runs: HybridRuns) -> dict[str, dict[str, float]]:
    """Mean response by policy and workload, relative to that with LRU and the same seeds."""
    changes: dict[str, dict[str, float]] = {policy: {} for policy in POLICIES}
    for workload in WORKLOADS:
        means = {
            policy: mean
            for name in (workload, f"{workload}{OTHERS_SUFFIX}")
            for policy, mean in runs.seed_means(REPLACEMENT, name).items()
        }
        for policy in POLICIES:
            mean = means[runs.lfuda if policy == "lfuda" else policy]
            changes[policy][workload] = runs.change_on_same_seeds(mean, workload, ALL)
    return changes


def log_table(runs: HybridRuns) -> str:
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


def replacement_table(runs: HybridRuns) -> str:
    """Mean responses of replacement policies, relative to LRU."""
    rows = [
        [POLICIES[policy], *(f"{percent(share, 1)}" for share in shares.values())]
        for policy, shares in _changes_from_lru(runs).items()
    ]
    return table(["against LRU, %", *(TITLES[workload] for workload in WORKLOADS)], rows)
