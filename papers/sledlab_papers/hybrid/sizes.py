"""Claims on the sizes of the MEMS and of its segments (section 6.3; figure 5)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..markdown import table
from ..wording import figure, format_rows, percent
from .names import CELLO, HPLAJW, TITLES, TPCC, TPCD, WORKLOADS
from .systems import SEGMENTS_KB, SIZES_MB, Systems

INFINITE_KB = 128
"""The best segment for hplajw where all data fit into the MEMS, as printed."""

DEFAULT_MB, SMALL_MB, LARGE_MB = 256, 64, 3072
PLATEAU = 0.10
PUBLISHED_KB, MUCH_LARGER_KB, MUCH_WORSE = 8, 64, 1.5

EXTENTS = (
    "Places of the stand-in are popular by extents of 64 KB, so that neighbors of a block are read "
    "as often as the block itself, and fetching it along pays. The locality of the trace within 64 KB is not "
    "published; it must have been less."
)


def curve(runs: Systems, workload: str, mb: int) -> dict[int, float]:
    """Mean response by the size of segments; overloaded ones are omitted."""
    grid = runs.grid(workload)
    return {kb: grid[mb, kb].mean_ms for kb in SEGMENTS_KB if not grid[mb, kb].saturated}


def best_kb(runs: Systems, workload: str, mb: int) -> int:
    """The best segment."""
    measured = curve(runs, workload, mb)
    return min(measured, key=lambda kb: measured[kb])


def _response_list(runs: Systems, workload: str, mb: int) -> str:
    measured = curve(runs, workload, mb)
    return ", ".join(f"{figure(measured[kb])} ms" if kb in measured else "overload" for kb in SEGMENTS_KB)


def w_24(runs: Systems) -> Judgment:
    """TPCD over sizes of the MEMS."""
    grid = runs.grid(TPCD)
    sizes = [mb for mb in SIZES_MB if mb != LARGE_MB]
    spreads, drops = {}, {}
    for kb in SEGMENTS_KB:
        means = [grid[mb, kb].mean_ms for mb in sizes]
        spreads[kb] = max(means) / min(means) - 1
        drops[kb] = 1 - grid[LARGE_MB, kb].mean_ms / means[-1]
    details = format_rows("{1:1%} with {0} KB", spreads.items())
    flat = [share <= PLATEAU for share in spreads.values()]
    return judge_comparisons(flat, also=min(drops.values()) > PLATEAU).with_numbers(
        sizes=sizes,
        largest=sizes[-1],
        details=details,
        minimum=100 * min(drops.values()),
        maximum=max(drops.values()),
    )


def w_25(runs: Systems) -> Judgment:
    """TPCD from 8 to 64 KB."""
    measured = curve(runs, TPCD, DEFAULT_MB)
    factor = measured[8] / measured[64]
    return judge_printed([factor], direction=factor > 1).with_numbers(measured=measured, factor=factor)


def w_26(runs: Systems) -> Judgment:
    """TPCC and cello over sizes of segments."""
    details, right, fastest = [], {}, []
    for workload in (TPCC, CELLO):
        measured = curve(runs, workload, DEFAULT_MB)
        best = best_kb(runs, workload, DEFAULT_MB)
        fastest.append(f"{TITLES[workload]} {best} KB")
        large = runs.grid(workload)[DEFAULT_MB, MUCH_LARGER_KB]
        worse = large.mean_ms / measured[best]
        right[workload] = best in (4, PUBLISHED_KB) and (large.saturated or worse >= MUCH_WORSE)
        cost = "is overload" if large.saturated else f"takes {worse:.2f} times as long"
        details.append(
            f"{TITLES[workload]} {_response_list(runs, workload, DEFAULT_MB)}, best with {best} KB "
            f"({percent(measured[PUBLISHED_KB] / measured[best] - 1, 1)} % with {PUBLISHED_KB} KB), "
            f"{MUCH_LARGER_KB} KB {cost}"
        )
    sizes = f"{SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB"
    return judge_criterion(all(right.values()), any(right.values())).with_numbers(
        sizes=sizes, details=details, fastest=", ".join(fastest), extents=EXTENTS
    )


def w_28(runs: Systems) -> Judgment:
    """The workload hplajw with little MEMS."""
    best = best_kb(runs, HPLAJW, SMALL_MB)
    is_inside = best not in (SEGMENTS_KB[0], SEGMENTS_KB[-1])
    hits = {kb: runs.grid(HPLAJW)[SMALL_MB, kb].read_hits for kb in (8, best, 64, 256)}
    return judge_criterion(best == 64, is_inside).with_numbers(
        segments_kb=SEGMENTS_KB,
        longest=SEGMENTS_KB[-1],
        listed=_response_list(runs, HPLAJW, SMALL_MB),
        best=best,
        hits=", ".join(f"{100 * hits[kb]:.0f} % with {kb} KB" for kb in hits),
    )


def w_29(runs: Systems) -> Judgment:
    """The workload hplajw with room for all data."""
    large, small = best_kb(runs, HPLAJW, LARGE_MB), best_kb(runs, HPLAJW, SMALL_MB)
    return judge_criterion(large == INFINITE_KB, large >= small).with_numbers(
        segments_kb=SEGMENTS_KB,
        longest=SEGMENTS_KB[-1],
        listed=_response_list(runs, HPLAJW, LARGE_MB),
        large=large,
        small=small,
    )


def w_42(runs: Systems) -> Judgment:
    """The effect of the size of segments with 256 MB."""
    spreads = {}
    for workload in WORKLOADS:
        measured = curve(runs, workload, DEFAULT_MB)
        spreads[workload] = (
            max(measured.values()) / min(measured.values())
            if len(measured) == len(SEGMENTS_KB)
            else float("inf")
        )
    details = ", ".join(
        f"{TITLES[workload]} " + (f"{factor:.1f}" if factor < float("inf") else "overload")
        for workload, factor in spreads.items()
    )
    below = [workload for workload in (TPCD, TPCC) if spreads[HPLAJW] < spreads[workload]]
    return judge_criterion(len(below) == 2, bool(below)).with_numbers(details=details)


def tables(runs: Systems) -> str:
    """Figure 5: one table for each workload."""
    head = ["MEMS", *(f"{kb} KB" for kb in SEGMENTS_KB)]
    parts = []
    for workload in WORKLOADS:
        grid = runs.grid(workload)
        rows = []
        for mb in dict.fromkeys(mb for mb, _ in grid):
            cells = [grid[mb, kb] for kb in SEGMENTS_KB]
            means = ["overload" if row.saturated else f"{row.mean_ms:.2f}" for row in cells]
            rows.append([f"{mb} MB" if mb < 1024 else f"{mb // 1024} GB", *means])
        parts.append(f"{TITLES[workload]}:\n\n{table(head, rows)}")
    return "\n".join(parts)
