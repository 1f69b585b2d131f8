"""Ideas that the paper leaves for later: virtual segment managers and bypassing the MEMS (section 7)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..wording import percent
from .names import ALL, DISK, TITLES, TPCD, WORKLOADS
from .sizes import DEFAULT_MB, best_kb
from .systems import BYPASS, SEGMENT_KB, SIZES, VIRTUAL, HybridRuns, kind_of_size

BYPASS_KB = 256
"""Length from which on a run of successive reads counts as a stream."""

MANAGED_KB = 8
"""Size of the segments that virtual managers group."""

NEAR_BEST, NEAR_DISK, UNCHANGED = 0.10, 0.05, 0.03


def w_53(runs: HybridRuns) -> Judgment:
    """Virtual managers compared with the best fixed size."""
    details, changes = [], {}
    for workload in WORKLOADS:
        best_size_kb = best_kb(runs, workload, DEFAULT_MB)
        (row,) = runs.rows(VIRTUAL, workload).values()
        fixed_run = runs.rows(SIZES, workload)[kind_of_size(DEFAULT_MB, best_size_kb)]
        changes[workload] = row.mean_ms / fixed_run.mean_ms - 1
        details.append(f"{TITLES[workload]} {percent(changes[workload], 1)} % ({best_size_kb} KB)")
    are_near = [share <= NEAR_BEST for share in changes.values()]
    return judge_comparisons(are_near).with_numbers(
        managed_kb=MANAGED_KB, details=details, far=_far_text(runs, changes)
    )


def _far_text(runs: HybridRuns, changes: dict[str, float]) -> str:
    far_workloads = [TITLES[workload] for workload, share in changes.items() if share > NEAR_BEST]
    return (
        f"Not near enough: {', '.join(far_workloads) or 'none'}. Managers choose the size of fetches "
        "that keeps the disk least busy, which is not the one with the shortest responses: large fetches "
        "keep others waiting. Segments stay as small as they are, each with its header."
    )


def w_54(runs: HybridRuns) -> Judgment:
    """Streams that bypass the MEMS."""
    rows = {workload: runs.rows(BYPASS, workload)[str(BYPASS_KB)] for workload in WORKLOADS}
    bypass_run = rows[TPCD]
    change_from_disk = bypass_run.mean_ms / runs.row(TPCD, DISK).mean_ms - 1
    changes = {
        workload: row.mean_ms / runs.row(workload, ALL).mean_ms - 1
        for workload, row in rows.items()
        if workload != TPCD
    }
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in changes.items())
    change_before = runs.row(TPCD, ALL).mean_ms / runs.row(TPCD, DISK).mean_ms - 1
    bypassed_share = bypass_run.hybrid_bypassed / bypass_run.requests
    fetches = int(bypass_run.hybrid_back_reads - bypass_run.hybrid_bypassed)
    are_unchanged = all(abs(share) <= UNCHANGED for share in changes.values())
    is_near, helps = change_from_disk <= NEAR_DISK, change_from_disk < change_before
    return judge_criterion(
        is_near and are_unchanged and helps, are_unchanged and (is_near or helps)
    ).with_numbers(
        bypass_kb=BYPASS_KB,
        to_disk=change_from_disk,
        before=change_before,
        details=details,
        past=bypassed_share,
        fetched=fetches,
        segment_kb=SEGMENT_KB[TPCD],
    )
