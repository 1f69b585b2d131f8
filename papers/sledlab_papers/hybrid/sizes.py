"""Claims on the sizes of the MEMS and of its segments (section 6.3; figure 5)."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..markdown import table
from ..wording import cells, format_number, number_table
from .names import CELLO, HPLAJW, TITLES, TPCC, TPCD, WORKLOADS
from .systems import SEGMENTS_KB, SIZES_MB, HybridRuns

INFINITE_KB = 128
"""The best segment for hplajw where all data fit into the MEMS, as printed."""

DEFAULT_MB, SMALL_MB, LARGE_MB = 256, 64, 3072
PLATEAU = 0.10
PUBLISHED_KB, MUCH_LARGER_KB, MUCH_WORSE = 8, 64, 1.5
"""The best segment, one that hurts badly, and how many times as long as the best that takes."""


def curve(runs: HybridRuns, workload: str, mb: int) -> dict[int, float]:
    """Mean response by the size of segments; overloaded ones are omitted."""
    grid = runs.grid(workload)
    return {kb: grid[mb, kb].mean_ms for kb in SEGMENTS_KB if not grid[mb, kb].saturated}


def best_kb(runs: HybridRuns, workload: str, mb: int) -> int:
    """The best segment."""
    means_ms = curve(runs, workload, mb)
    return min(means_ms, key=lambda kb: means_ms[kb])


def swept_sizes_mb(runs: HybridRuns, workload: str) -> list[int]:
    """The sizes of the MEMS in figure 5 of a workload."""
    return list(dict.fromkeys(mb for mb, _ in runs.grid(workload)))


def size_text(mb: int) -> str:
    """A size of the MEMS."""
    return f"{mb} MB" if mb < 1024 else f"{mb // 1024} GB"


def _response_text(means_ms: Mapping[int, float], kb: int) -> str:
    """The mean response with a size of segments, or that there is none."""
    return format_number(means_ms[kb]) if kb in means_ms else "overload"


def w_24(runs: HybridRuns) -> Judgment:
    """TPCD over sizes of the MEMS."""
    grid = runs.grid(TPCD)
    sizes_mb = [mb for mb in SIZES_MB if mb != LARGE_MB]
    spreads, drops = {}, {}
    for kb in SEGMENTS_KB:
        means_ms = [grid[mb, kb].mean_ms for mb in sizes_mb]
        spreads[kb] = max(means_ms) / min(means_ms) - 1
        drops[kb] = 1 - grid[LARGE_MB, kb].mean_ms / means_ms[-1]
    rows = [cells("{} | {:%1} | {:%1}", kb, spreads[kb], drops[kb]) for kb in SEGMENTS_KB]
    are_flat = [share <= PLATEAU for share in spreads.values()]
    falls = min(drops.values()) > PLATEAU
    title = f"Mean response over {sizes_mb[0]} to {sizes_mb[-1]} MB of MEMS, and with {LARGE_MB // 1024} GB"
    return (
        judge_criterion(all(are_flat) and falls, falls)
        .with_numbers(
            sizes=sizes_mb,
            largest=sizes_mb[-1],
            flat=sum(are_flat),
            compared=len(are_flat),
            spread=max(spreads.values()),
            minimum=100 * min(drops.values()),
            maximum=max(drops.values()),
        )
        .with_tables(number_table(title, "segment, KB | range, % | less with 3 GB, %", rows))
    )


def w_25(runs: HybridRuns) -> Judgment:
    """TPCD from 8 to 64 KB."""
    means_ms = curve(runs, TPCD, DEFAULT_MB)
    factor = means_ms[8] / means_ms[64]
    return judge_printed([factor], direction_holds=factor > 1).with_numbers(measured=means_ms, factor=factor)


def w_26(runs: HybridRuns) -> Judgment:
    """TPCC and cello over sizes of segments, with each size of the MEMS."""
    curves = {
        (workload, mb): curve(runs, workload, mb)
        for workload in (TPCC, CELLO)
        for mb in swept_sizes_mb(runs, workload)
    }
    are_best = [min(means_ms, key=means_ms.__getitem__) == PUBLISHED_KB for means_ms in curves.values()]
    are_much_worse = [
        means_ms.get(MUCH_LARGER_KB, inf) >= MUCH_WORSE * means_ms[PUBLISHED_KB]
        for means_ms in curves.values()
    ]
    titles = [f"{TITLES[workload]}, {size_text(mb)}" for workload, mb in curves]
    rows = [[f"{kb}", *(_response_text(means_ms, kb) for means_ms in curves.values())] for kb in SEGMENTS_KB]
    return (
        judge_comparisons(are_best, rest_holds=all(are_much_worse))
        .with_numbers(
            worse=sum(are_much_worse),
            times=MUCH_WORSE,
            large_kb=MUCH_LARGER_KB,
            cello_kb=best_kb(runs, CELLO, LARGE_MB),
        )
        .with_tables(number_table("Mean response, ms", " | ".join(["segment, KB", *titles]), rows))
    )


def w_28(runs: HybridRuns) -> Judgment:
    """The workload hplajw with little MEMS."""
    means_ms = curve(runs, HPLAJW, SMALL_MB)
    best_size_kb = best_kb(runs, HPLAJW, SMALL_MB)
    change = means_ms[64] / means_ms[8] - 1
    grid = runs.grid(HPLAJW)
    rows = [
        [f"{kb}", _response_text(means_ms, kb), f"{100 * grid[SMALL_MB, kb].read_hits:.0f}"]
        for kb in SEGMENTS_KB
    ]
    return (
        judge_criterion(best_size_kb == 64, change < 0)
        .with_numbers(change=change, best=best_size_kb)
        .with_tables(
            number_table(
                f"hplajw with {SMALL_MB} MB of MEMS",
                "segment, KB | mean response, ms | reads that hit, %",
                rows,
            )
        )
    )


def w_29(runs: HybridRuns) -> Judgment:
    """The workload hplajw with room for all data."""
    large_best_kb, small_best_kb = best_kb(runs, HPLAJW, LARGE_MB), best_kb(runs, HPLAJW, SMALL_MB)
    means_ms = curve(runs, HPLAJW, LARGE_MB)
    rows = [[f"{kb}", _response_text(means_ms, kb)] for kb in SEGMENTS_KB]
    return (
        judge_criterion(large_best_kb == INFINITE_KB, large_best_kb > small_best_kb)
        .with_numbers(
            large=large_best_kb,
            small=small_best_kb,
            behind=means_ms[INFINITE_KB] / means_ms[large_best_kb] - 1,
        )
        .with_tables(
            number_table("hplajw with 3 GB of MEMS", "segment, KB | mean response, ms", rows),
        )
    )


def w_42(runs: HybridRuns) -> Judgment:
    """The effect of the size of segments with 256 MB."""
    spreads = {}
    for workload in WORKLOADS:
        means_ms = curve(runs, workload, DEFAULT_MB)
        spreads[workload] = (
            max(means_ms.values()) / min(means_ms.values()) if len(means_ms) == len(SEGMENTS_KB) else inf
        )
    details = ", ".join(
        f"{TITLES[workload]} " + (f"{factor:.1f}" if factor < inf else "overload")
        for workload, factor in spreads.items()
    )
    are_more_robust = [
        spreads[file_system] < spreads[database]
        for database in (TPCD, TPCC)
        for file_system in (CELLO, HPLAJW)
    ]
    return judge_comparisons(are_more_robust).with_numbers(details=details)


def figure_5(runs: HybridRuns) -> str:
    """Figure 5: one table for each workload."""
    head = ["MEMS", *(f"{kb} KB" for kb in SEGMENTS_KB)]
    parts = []
    for workload in WORKLOADS:
        grid = runs.grid(workload)
        rows = []
        for mb in swept_sizes_mb(runs, workload):
            seed_means = [grid[mb, kb] for kb in SEGMENTS_KB]
            mean_texts = ["overload" if row.saturated else f"{row.mean_ms:.2f}" for row in seed_means]
            rows.append([size_text(mb), *mean_texts])
        parts.append(f"{TITLES[workload]}:\n\n{table(head, rows)}")
    return "\n".join(parts)
