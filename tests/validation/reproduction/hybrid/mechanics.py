"""Claims on what caching disks and write buffers do to traffic and space (sections 4 and 6.4)."""

from __future__ import annotations

from ...markdown import percent
from ..claims import Verdict, verdict
from .runs import ALL, CELLO, HPLAJW, LAZY, MWB, SEGMENT_KB, SEGMENTS_KB, TITLES, TPCC, TPCD, Runs, read_hits
from .singles import REQUESTS, distinct_blocks_written, on_disk

KB_BLOCKS = 2
SPARSE = (("hybrid.kind", "write-buffer"), ("hybrid.front_mb", 3000), ("hybrid.idle_ms", 1e6))
"""A write buffer that is never full, and cleaned when all requests are over."""

LESS = 0.01
"""A difference that is more than a few requests at the end of a run."""

ONLY_WRITES = ("workload.read_share", 0)


def _saved(runs: Runs, workload: str, system: str) -> float:
    """By how much less is written to the disk than to a write buffer."""
    row = runs.row(workload, system)
    return 1 - float(row["hybrid_back_written_blocks"]) / float(row["hybrid_written_blocks"])


def w_12(runs: Runs) -> Verdict:
    """Bytes written by the host and to the disk."""
    saved, lazy = (
        {workload: _saved(runs, workload, system) for workload in (CELLO, TPCC)} for system in (MWB, LAZY)
    )
    never = on_disk("cello", *SPARSE)
    counts, distinct = never.summary["hybrid"], distinct_blocks_written(never)
    left = counts["destaged_blocks"] + counts["dirty_blocks"]
    said, later = (
        ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in shares.items())
        for shares in (saved, lazy)
    )
    ours = (
        f"What is written to the disk against what reaches the write buffer: {said}; where logs are only "
        f"cleaned when 90 % are in use, {later}. In a run of {REQUESTS:,} requests of cello whose logs are "
        f"not cleaned before its end, {left:,} blocks go to the disk, and {distinct:,} different ones were "
        "written."
    )
    why = (
        "After 20 ms without reads of the disk logs are cleaned, and there is hardly anything left in "
        "them that could be overwritten. What does not reach the disk depends on how long cleaning waits, "
        "which the paper says in two ways: in idle times, and when the MEMS is heavily used."
    )
    is_less = all(share >= LESS for share in saved.values())
    is_exact = left == distinct
    return verdict(
        ours,
        holds=is_less and is_exact,
        partly=is_exact and all(share >= LESS for share in lazy.values()),
        why=why,
    )


def w_17(_: Runs) -> Verdict:
    """Reads of the disk where there are nothing but writes."""
    disk = ("hybrid.kind", "caching-disk")
    fetches = [
        on_disk("cello", disk, ONLY_WRITES, ("hybrid.partial_write", partial)).summary["hybrid"]["back"]
        for partial in (False, True)
    ]
    mixed = on_disk("cello", disk).summary["hybrid"]["back"]["reads"]
    buffer = on_disk("cello", ("hybrid.kind", "write-buffer"), ONLY_WRITES)
    means = [
        on_disk("cello", disk, ONLY_WRITES).response_time.mean,
        buffer.response_time.mean,
    ]
    ours = (
        f"{REQUESTS:,} requests of cello, all of them writes: {fetches[0]['reads']:,} segments are fetched "
        f"without Partial Write and {fetches[1]['reads']:,} with it, {mixed:,} if reads are among them. "
        f"Writes take {means[0]:.2f} ms then, and {means[1]:.2f} ms with a write buffer."
    )
    return verdict(ours, holds=fetches[0]["reads"] > 0 and fetches[1]["reads"] == 0 and mixed > 0)


def w_38(runs: Runs) -> Verdict:
    """What share of the MEMS holds data that somebody may ask for."""
    live = {system: runs.at(TPCC, system, "hybrid_live_share") for system in (MWB, ALL)}
    ours = (
        f"At the end of TPCC {100 * live[MWB]:.0f} % of the logs and {100 * live[ALL]:.0f} % of the "
        "caching disk hold data that a read may want. All the same the write buffer does not fail (W-37)."
    )
    return verdict(ours, holds=live[MWB] < live[ALL])


def w_50(runs: Runs) -> Verdict:
    """Sizes of writes."""
    row = runs.row(CELLO, MWB)
    disk_kb = row["hybrid_back_written_blocks"] / row["hybrid_back_writes"] / KB_BLOCKS
    user_kb = row["hybrid_written_blocks"] / row["hybrid_writes"] / KB_BLOCKS
    lazy = runs.row(CELLO, LAZY)
    lazy_kb = lazy["hybrid_back_written_blocks"] / lazy["hybrid_back_writes"] / KB_BLOCKS
    ours = (
        f"A write to the disk has {disk_kb:.1f} KB on average, one that reaches the write buffer "
        f"{user_kb:.1f} KB: {disk_kb / user_kb:.2f} times as much; {lazy_kb:.1f} KB where logs are only "
        "cleaned when 90 % of them are in use."
    )
    why = (
        "Extents join neighbours among what is cleaned together, which is at most the 2 MB of the buffer: "
        f"{2048 / user_kb:.0f} writes. Those of the stand-in go all over the disk, and what was next to "
        "each other the controller cache has joined before. How close together the writes of the trace lay "
        "is not published."
    )
    return verdict(ours, holds=disk_kb >= 2 * user_kb, partly=disk_kb > user_kb, why=why)


def w_51(runs: Runs) -> Verdict:
    """Hits over sizes of segments."""
    said, rises = [], {}
    for workload in (TPCD, HPLAJW):
        grid = runs.grid(workload)
        for mb in (256, 3072):
            hits = [read_hits(grid[mb, kb]) for kb in SEGMENTS_KB]
            rises[workload, mb] = hits == sorted(hits)
            shares = ", ".join(f"{100 * share:.0f}" for share in hits)
            said.append(f"{TITLES[workload]} with {mb} MB {shares} %")
    sizes = f"{SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB"
    ours = f"Reads that hit, by segments of {sizes}: {'; '.join(said)}."
    why = (
        "Prefetching raises the hits of hplajw, as the run with room for all data shows. In 256 MB larger "
        "segments push out more than they bring: files of the stand-in have 64 KB on average, and a "
        f"segment of {SEGMENT_KB[TPCD]} KB holds what nobody asks for."
    )
    return verdict(ours, holds=all(rises.values()), partly=any(rises.values()), why=why)


CLAIMS = {"W-12": w_12, "W-17": w_17, "W-38": w_38, "W-50": w_50, "W-51": w_51}
