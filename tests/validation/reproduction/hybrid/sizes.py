"""Claims on the sizes of the MEMS and of its segments (section 6.3; figure 5)."""

from __future__ import annotations

from ...markdown import percent, table
from ..claims import Verdict, verdict
from ..words import figure
from .runs import (
    CELLO,
    HPLAJW,
    SEGMENTS_KB,
    SIZES_MB,
    SWEPT,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
    Runs,
    read_hits,
)

DEFAULT_MB, SMALL_MB, LARGE_MB = 256, 64, 3072
PLATEAU = 0.10
GAIN_BAND = (1.1, 1.6)
PUBLISHED_KB, MUCH_LARGER_KB, MUCH_WORSE = 8, 64, 1.5

EXTENTS = (
    "Places of the stand-in are popular by extents of 64 KB, so that what lies around a block is asked "
    "for as often as the block itself, and fetching it along pays. The locality of the trace within 64 KB "
    "is not published; it must have been less."
)


def curve(runs: Runs, workload: str, mb: int) -> dict[int, float]:
    """Mean response by the size of segments; overload has none."""
    grid = runs.grid(workload)
    return {kb: grid[mb, kb]["mean_ms"] for kb in SEGMENTS_KB if not grid[mb, kb]["saturated"]}


def best_kb(runs: Runs, workload: str, mb: int) -> int:
    """The best segment."""
    found = curve(runs, workload, mb)
    return min(found, key=lambda kb: found[kb])


def _listed(runs: Runs, workload: str, mb: int) -> str:
    found = curve(runs, workload, mb)
    return ", ".join(f"{figure(found[kb])} ms" if kb in found else "overload" for kb in SEGMENTS_KB)


def w_24(runs: Runs) -> Verdict:
    """TPCD over sizes of the MEMS."""
    grid = runs.grid(TPCD)
    sizes = [mb for mb in SIZES_MB if mb != LARGE_MB]
    spreads, drops = {}, {}
    for kb in SEGMENTS_KB:
        means = [grid[mb, kb]["mean_ms"] for mb in sizes]
        spreads[kb] = max(means) / min(means) - 1
        drops[kb] = 1 - grid[LARGE_MB, kb]["mean_ms"] / means[-1]
    said = ", ".join(f"{100 * share:.1f} % with {kb} KB" for kb, share in spreads.items())
    ours = (
        f"From {sizes[0]} to {sizes[-1]} MB means differ by {said} a segment; 3 GB take another "
        f"{100 * min(drops.values()):.0f} to {100 * max(drops.values()):.0f} % off."
    )
    flat = [kb for kb, share in spreads.items() if share <= PLATEAU]
    why = (
        "With the largest segments 512 MB are more than a third of the data, and index probes find what "
        "scans have brought along."
    )
    drops_clearly = min(drops.values()) > PLATEAU
    return verdict(ours, holds=drops_clearly and len(flat) == len(spreads), partly=bool(flat), why=why)


def w_25(runs: Runs) -> Verdict:
    """TPCD from 8 to 64 KB."""
    found = curve(runs, TPCD, DEFAULT_MB)
    factor = found[8] / found[64]
    ours = f"{found[8]:.2f} ms with 8 KB, {found[64]:.2f} ms with 64 KB: a factor of {factor:.2f}."
    return verdict(ours, holds=GAIN_BAND[0] <= factor <= GAIN_BAND[1], partly=factor > 1)


def w_26(runs: Runs) -> Verdict:
    """TPCC and cello over sizes of segments."""
    said, right = [], {}
    for workload in (TPCC, CELLO):
        found = curve(runs, workload, DEFAULT_MB)
        best = best_kb(runs, workload, DEFAULT_MB)
        large = runs.grid(workload)[DEFAULT_MB, MUCH_LARGER_KB]
        worse = large["mean_ms"] / found[best]
        right[workload] = best in (4, PUBLISHED_KB) and (large["saturated"] or worse >= MUCH_WORSE)
        cost = "is overload" if large["saturated"] else f"takes {worse:.2f} times as long"
        said.append(
            f"{TITLES[workload]} {_listed(runs, workload, DEFAULT_MB)}, best with {best} KB "
            f"({percent(found[PUBLISHED_KB] / found[best] - 1, 1)} % with {PUBLISHED_KB} KB), "
            f"{MUCH_LARGER_KB} KB {cost}"
        )
    sizes = f"{SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB"
    ours = f"256 MB of MEMS, segments of {sizes}: {'; '.join(said)}."
    return verdict(ours, holds=all(right.values()), partly=any(right.values()), why=f"cello: {EXTENTS}")


def w_28(runs: Runs) -> Verdict:
    """hplajw with little MEMS."""
    best = best_kb(runs, HPLAJW, SMALL_MB)
    is_inside = best not in (SEGMENTS_KB[0], SEGMENTS_KB[-1])
    hits = {kb: read_hits(runs.grid(HPLAJW)[SMALL_MB, kb]) for kb in (8, best, 64, 256)}
    ours = (
        f"Segments of {SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB: {_listed(runs, HPLAJW, SMALL_MB)}; best "
        f"with {best} KB. Reads that hit: "
        + ", ".join(f"{100 * hits[kb]:.0f} % with {kb} KB" for kb in hits)
        + "."
    )
    why = (
        "The curve has its minimum inside, but with smaller segments. Files of the stand-in have 64 KB on "
        "average and begin at any block of the file system, with room between them that nobody asks for, "
        "so that much of a segment of 64 KB is of no use. Where the files of the trace lay is not "
        "published. And in bursts the disk is the bottleneck, to which large segments cost much: from "
        f"{best} to 64 KB hits rise little, while each miss moves more."
    )
    return verdict(ours, holds=is_inside and 32 <= best <= 128, partly=is_inside, why=why)


def w_29(runs: Runs) -> Verdict:
    """hplajw with room for all data."""
    large, small = best_kb(runs, HPLAJW, LARGE_MB), best_kb(runs, HPLAJW, SMALL_MB)
    ours = (
        f"With 3 GB segments of {SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB: "
        f"{_listed(runs, HPLAJW, LARGE_MB)}; best with {large} KB, with 64 MB with {small} KB."
    )
    return verdict(ours, holds=large >= small)


def w_42(runs: Runs) -> Verdict:
    """How much the size of segments matters with 256 MB."""
    spreads = {}
    for workload in WORKLOADS:
        found = curve(runs, workload, DEFAULT_MB)
        spreads[workload] = (
            max(found.values()) / min(found.values()) if len(found) == len(SEGMENTS_KB) else float("inf")
        )
    said = ", ".join(
        f"{TITLES[workload]} " + (f"{factor:.1f}" if factor < float("inf") else "overload")
        for workload, factor in spreads.items()
    )
    below = [workload for workload in (TPCD, TPCC) if spreads[HPLAJW] < spreads[workload]]
    ours = f"Longest over shortest mean response, 256 MB of MEMS, segments of 4 to 256 KB: {said}."
    why = (
        "Queues of hplajw build up in its bursts, and the largest segments bring the disk near its limit "
        "in them. TPCD is read a few requests at a time and loses no more than the time of longer "
        "transfers."
    )
    return verdict(ours, holds=len(below) == 2, partly=bool(below), why=why)


def tables(runs: Runs) -> str:
    """Figure 5: one table for each workload."""
    head = ["MEMS", *(f"{kb} KB" for kb in SEGMENTS_KB)]
    parts = []
    for workload in WORKLOADS:
        grid = runs.grid(workload)
        rows = []
        for mb in SWEPT.get(workload, SIZES_MB):
            cells = [grid[mb, kb] for kb in SEGMENTS_KB]
            means = ["overload" if row["saturated"] else f"{row['mean_ms']:.2f}" for row in cells]
            rows.append([f"{mb} MB" if mb < 1024 else f"{mb // 1024} GB", *means])
        parts.append(f"{TITLES[workload]}:\n\n{table(head, rows)}")
    return "\n".join(parts)


CLAIMS = {
    "W-24": w_24,
    "W-25": w_25,
    "W-26": w_26,
    "W-28": w_28,
    "W-29": w_29,
    "W-42": w_42,
}
