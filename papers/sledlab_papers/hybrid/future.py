"""Ideas that the paper leaves for later: virtual segment managers and bypassing the MEMS (section 7)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..wording import percent
from .names import ALL, DISK, TITLES, TPCD, WORKLOADS
from .sizes import DEFAULT_MB, best_kb
from .systems import BYPASS, SEGMENT_KB, SIZES, VIRTUAL, Systems, kind_of_size

BYPASS_KB = 256
"""Length from which on a run of successive reads counts as a stream."""

MANAGED_KB = 8
"""Size of the segments that virtual managers group."""

NEAR_BEST, NEAR_DISK, UNCHANGED = 0.10, 0.05, 0.03


def w_53(runs: Systems) -> Judgment:
    """Virtual managers compared with the best fixed size."""
    details, above = [], {}
    for workload in WORKLOADS:
        best = best_kb(runs, workload, DEFAULT_MB)
        (row,) = runs.rows(VIRTUAL, workload).values()
        fixed = runs.rows(SIZES, workload)[kind_of_size(DEFAULT_MB, best)]
        above[workload] = row.mean_ms / fixed.mean_ms - 1
        details.append(f"{TITLES[workload]} {percent(above[workload], 1)} % ({best} KB)")
    near = [share <= NEAR_BEST for share in above.values()]
    return judge_comparisons(near).with_numbers(managed_kb=MANAGED_KB, details=details, far=_far(runs, above))


def _far(runs: Systems, above: dict[str, float]) -> str:
    far = [TITLES[workload] for workload, share in above.items() if share > NEAR_BEST]
    return (
        f"Not near enough: {', '.join(far) or 'none'}. Managers choose the size of fetches that keeps the "
        "disk least busy, which is not the one with the shortest responses: large fetches keep others "
        "waiting. Segments stay as small as they are, each with its header."
    )


def w_54(runs: Systems) -> Judgment:
    """Streams that bypass the MEMS."""
    rows = {workload: runs.rows(BYPASS, workload)[str(BYPASS_KB)] for workload in WORKLOADS}
    mine = rows[TPCD]
    to_disk = mine.mean_ms / runs.row(TPCD, DISK).mean_ms - 1
    changes = {
        workload: row.mean_ms / runs.row(workload, ALL).mean_ms - 1
        for workload, row in rows.items()
        if workload != TPCD
    }
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in changes.items())
    before = runs.row(TPCD, ALL).mean_ms / runs.row(TPCD, DISK).mean_ms - 1
    past = mine.hybrid_bypassed / mine.requests
    fetched = mine.hybrid_back_reads - mine.hybrid_bypassed
    still = all(abs(share) <= UNCHANGED for share in changes.values())
    near, helps = to_disk <= NEAR_DISK, to_disk < before
    return judge_criterion(near and still and helps, still and (near or helps)).with_numbers(
        bypass_kb=BYPASS_KB,
        to_disk=to_disk,
        before=before,
        details=details,
        past=past,
        fetched=fetched,
        segment_kb=SEGMENT_KB[TPCD],
    )
