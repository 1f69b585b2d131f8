"""Claims on the effects of caching disks and write buffers on traffic and space (sections 4 and 6.4)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..wording import percent
from .names import ALL, CELLO, HPLAJW, LAZY, MWB, TITLES, TPCC, TPCD
from .singles import REQUESTS, distinct_written_blocks, simulate_on_disk
from .systems import SEGMENT_KB, SEGMENTS_KB, Systems

KB_BLOCKS = 2
LARGE_WRITE_BUFFER = (("hybrid.kind", "write-buffer"), ("hybrid.front_mb", 3000), ("hybrid.idle_ms", 1e6))
"""A write buffer that never fills up, and is cleaned after the last request."""

MIN_REDUCTION = 0.01
"""Smallest difference that counts: more than a few requests at the end of a run."""

MAX_SLOWDOWN = 0.25
"""How much slower a system may be that counts as similar."""

NO_READS = ("workload.read_share", 0)


def _write_reduction(runs: Systems, workload: str, system: str) -> float:
    """Reduction of bytes written to the disk, as a share of those written to a write buffer."""
    row = runs.row(workload, system)
    return 1 - float(row.hybrid_back_written_blocks) / float(row.hybrid_written_blocks)


def w_12(runs: Systems) -> Judgment:
    """Bytes written by the host and to the disk."""
    saved, lazy = (
        {workload: _write_reduction(runs, workload, system) for workload in (CELLO, TPCC)}
        for system in (MWB, LAZY)
    )
    never = simulate_on_disk(runs.disk, "cello", *LARGE_WRITE_BUFFER)
    counts, distinct = never.summary["hybrid"], distinct_written_blocks(never)
    left = counts["destaged_blocks"] + counts["dirty_blocks"]
    details, later = (
        ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in shares.items())
        for shares in (saved, lazy)
    )
    is_less = all(share >= MIN_REDUCTION for share in saved.values())
    is_exact = left == distinct
    return judge_criterion(
        is_less and is_exact, is_exact and all(share >= MIN_REDUCTION for share in lazy.values())
    ).with_numbers(details=details, later=later, requests=REQUESTS, left=left, distinct=distinct)


def w_17(runs: Systems) -> Judgment:
    """Reads of the disk by a workload of writes only."""
    disk = ("hybrid.kind", "caching-disk")
    fetches = [
        simulate_on_disk(runs.disk, "cello", disk, NO_READS, ("hybrid.partial_write", partial)).summary[
            "hybrid"
        ]["back"]
        for partial in (False, True)
    ]
    mixed = simulate_on_disk(runs.disk, "cello", disk).summary["hybrid"]["back"]["reads"]
    buffer = simulate_on_disk(runs.disk, "cello", ("hybrid.kind", "write-buffer"), NO_READS)
    means = [
        simulate_on_disk(runs.disk, "cello", disk, NO_READS).response_time.mean,
        buffer.response_time.mean,
    ]
    avoided = fetches[0]["reads"] > 0 and fetches[1]["reads"] == 0 and mixed > 0
    return judge_criterion(avoided and means[0] <= (1 + MAX_SLOWDOWN) * means[1], avoided).with_numbers(
        requests=REQUESTS, fetches=fetches, mixed=mixed, means=means, times=means[0] / means[1]
    )


def w_38(runs: Systems) -> Judgment:
    """Share of the MEMS that holds valid data."""
    live = {system: runs.mean(TPCC, system, "hybrid_live_share") for system in (MWB, ALL)}
    wasted, fails = live[MWB] < live[ALL], runs.is_overloaded(TPCC, MWB)
    # Logs that keep old versions do not count alone: that is by construction.
    return judge_criterion(wasted and fails).with_numbers(logs=live[MWB], cache=live[ALL])


def w_50(runs: Systems) -> Judgment:
    """Sizes of writes."""
    row = runs.row(CELLO, MWB)
    disk_kb = row.hybrid_back_written_blocks / row.hybrid_back_writes / KB_BLOCKS
    user_kb = row.hybrid_written_blocks / row.hybrid_writes / KB_BLOCKS
    lazy = runs.row(CELLO, LAZY)
    lazy_kb = lazy.hybrid_back_written_blocks / lazy.hybrid_back_writes / KB_BLOCKS
    return judge_criterion(disk_kb >= 2 * user_kb, disk_kb > user_kb).with_numbers(
        disk_kb=disk_kb, user_kb=user_kb, times=disk_kb / user_kb, lazy_kb=lazy_kb, writes=2048 / user_kb
    )


def w_51(runs: Systems) -> Judgment:
    """Hits over sizes of segments."""
    details, rises = [], {}
    for workload in (TPCD, HPLAJW):
        grid = runs.grid(workload)
        for mb in (256, 3072):
            hits = [grid[mb, kb].read_hits for kb in SEGMENTS_KB]
            rises[workload, mb] = hits == sorted(hits)
            shares = ", ".join(f"{100 * share:.0f}" for share in hits)
            details.append(f"{TITLES[workload]} with {mb} MB {shares} %")
    sizes = f"{SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB"
    return judge_criterion(all(rises.values()), any(rises.values())).with_numbers(
        sizes=sizes,
        details=details,
        rising=sum(rises.values()),
        curves=len(rises),
        segment_kb=SEGMENT_KB[TPCD],
    )
