"""Ideas that the paper leaves for later: virtual segment managers and bypassing the MEMS (section 7)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..wording import percent
from .names import ALL, DISK, TITLES, TPCD, WORKLOADS
from .sizes import DEFAULT_MB, best_kb
from .systems import BYPASS, VIRTUAL, HybridRuns, workload_table

BYPASS_KB = 256
"""Length from which on a run of successive reads counts as a stream."""

MANAGED_KB = 8
"""Size of the segments that virtual managers group."""

NEAR_BEST, NEAR_DISK, UNCHANGED = 0.10, 0.05, 0.03


def w_53(runs: HybridRuns) -> Judgment:
    """Virtual managers compared with the best fixed size."""
    rows, changes = {}, {}
    for workload in WORKLOADS:
        best_size_kb = best_kb(runs, workload, DEFAULT_MB)
        (managed,) = runs.seed_means(VIRTUAL, workload).values()
        changes[workload] = managed.mean_ms / runs.grid(workload)[DEFAULT_MB, best_size_kb].mean_ms - 1
        rows[workload] = [f"{best_size_kb}", percent(changes[workload], 1)]
    return (
        judge_comparisons(share <= NEAR_BEST for share in changes.values())
        .with_numbers(managed_kb=MANAGED_KB)
        .with_tables(
            workload_table(
                "Mean response with managers against the best segment", "best segment, KB | change, %", rows
            )
        )
    )


def w_54(runs: HybridRuns) -> Judgment:
    """Streams that bypass the MEMS."""
    means = {workload: runs.seed_means(BYPASS, workload)[str(BYPASS_KB)] for workload in WORKLOADS}
    tpcd_mean = means[TPCD]
    change_from_disk = runs.change_on_same_seeds(tpcd_mean, TPCD, DISK)
    changes = {
        workload: runs.change_on_same_seeds(mean, workload, ALL)
        for workload, mean in means.items()
        if workload != TPCD
    }
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in changes.items())
    change_before = runs.change(TPCD, ALL, DISK)
    bypassed_share = tpcd_mean.mean("hybrid_bypassed") / tpcd_mean.mean("requests")
    fetches = round(tpcd_mean.mean("hybrid_back_reads") - tpcd_mean.mean("hybrid_bypassed"))
    are_unchanged = all(abs(share) <= UNCHANGED for share in changes.values())
    is_near, helps = change_from_disk <= NEAR_DISK, change_from_disk < change_before
    return judge_criterion(is_near and are_unchanged and helps, helps).with_numbers(
        bypass_kb=BYPASS_KB,
        to_disk=change_from_disk,
        before=change_before,
        details=details,
        past=bypassed_share,
        fetched=fetches,
    )
