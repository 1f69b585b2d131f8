"""Claims on the effects of caching disks and write buffers on traffic and space (sections 4 and 6.4)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..wording import percent
from .names import ALL, CELLO, HPLAJW, IDLE, MWB, TITLES, TPCC, TPCD
from .singles import REQUESTS, distinct_written_blocks, simulate_on_disk
from .systems import SEGMENT_KB, SEGMENTS_KB, HybridRuns

KB_BLOCKS = 2
LARGE_WRITE_BUFFER = (("hybrid.kind", "write-buffer"), ("hybrid.front_mb", 3000), ("hybrid.idle_ms", 1e6))
"""A write buffer that never fills up, and is cleaned after the last request."""

MIN_REDUCTION = 0.01
"""Smallest difference that counts: more than a few requests at the end of a run."""

MAX_SLOWDOWN = 0.25
"""Maximum slowdown at which systems count as similar."""

NO_READS = ("workload.read_share", 0)


def _write_reduction(runs: HybridRuns, workload: str, system: str) -> float:
    """Reduction of bytes written to the disk, as a share of those written to a write buffer."""
    row = runs.row(workload, system)
    return 1 - float(row.hybrid_back_written_blocks) / float(row.hybrid_written_blocks)


def w_12(runs: HybridRuns) -> Judgment:
    """Bytes written by the host and to the disk."""
    reductions, idle_reductions = (
        {workload: _write_reduction(runs, workload, system) for workload in (CELLO, TPCC)}
        for system in (MWB, IDLE)
    )
    never_full_run = simulate_on_disk(runs.disk, "cello", *LARGE_WRITE_BUFFER)
    counts, distinct_blocks = never_full_run.summary["hybrid"], distinct_written_blocks(never_full_run)
    disk_blocks = counts["destaged_blocks"] + counts["dirty_blocks"]
    details, idle_details = (
        ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in shares.items())
        for shares in (reductions, idle_reductions)
    )
    is_less = all(share >= MIN_REDUCTION for share in reductions.values())
    is_exact = disk_blocks == distinct_blocks
    return judge_criterion(
        is_less and is_exact, is_exact and all(share >= MIN_REDUCTION for share in idle_reductions.values())
    ).with_numbers(
        details=details, idle=idle_details, requests=REQUESTS, left=disk_blocks, distinct=distinct_blocks
    )


def w_17(runs: HybridRuns) -> Judgment:
    """Reads of the disk by a workload of writes only."""
    caching_disk = ("hybrid.kind", "caching-disk")
    fetches = [
        simulate_on_disk(
            runs.disk, "cello", caching_disk, NO_READS, ("hybrid.partial_write", partial)
        ).summary["hybrid"]["back"]
        for partial in (False, True)
    ]
    mixed_reads = simulate_on_disk(runs.disk, "cello", caching_disk).summary["hybrid"]["back"]["reads"]
    buffer_run = simulate_on_disk(runs.disk, "cello", ("hybrid.kind", "write-buffer"), NO_READS)
    means_ms = [
        simulate_on_disk(runs.disk, "cello", caching_disk, NO_READS).response_time.mean,
        buffer_run.response_time.mean,
    ]
    avoids_fetches = fetches[0]["reads"] > 0 and fetches[1]["reads"] == 0 and mixed_reads > 0
    return judge_criterion(
        avoids_fetches and means_ms[0] <= (1 + MAX_SLOWDOWN) * means_ms[1], avoids_fetches
    ).with_numbers(
        requests=REQUESTS, fetches=fetches, mixed=mixed_reads, means=means_ms, times=means_ms[0] / means_ms[1]
    )


def w_38(runs: HybridRuns) -> Judgment:
    """Share of the MEMS that holds valid data."""
    live_shares = {system: runs.mean(TPCC, system, "hybrid_live_share") for system in (MWB, ALL)}
    wastes_space, is_overloaded = live_shares[MWB] < live_shares[ALL], runs.is_overloaded(TPCC, MWB)
    # Logs that keep old versions do not count alone: that is by construction.
    return judge_criterion(wastes_space and is_overloaded).with_numbers(
        logs=live_shares[MWB], cache=live_shares[ALL]
    )


def w_50(runs: HybridRuns) -> Judgment:
    """Sizes of writes."""
    row = runs.row(CELLO, MWB)
    disk_kb = row.hybrid_back_written_blocks / row.hybrid_back_writes / KB_BLOCKS
    user_kb = row.hybrid_written_blocks / row.hybrid_writes / KB_BLOCKS
    idle_row = runs.row(CELLO, IDLE)
    idle_kb = idle_row.hybrid_back_written_blocks / idle_row.hybrid_back_writes / KB_BLOCKS
    return judge_criterion(disk_kb >= 2 * user_kb, disk_kb > user_kb).with_numbers(
        disk_kb=disk_kb, user_kb=user_kb, times=disk_kb / user_kb, idle_kb=idle_kb, writes=2048 / user_kb
    )


def w_51(runs: HybridRuns) -> Judgment:
    """Hits over sizes of segments."""
    details, is_rising = [], {}
    for workload in (TPCD, HPLAJW):
        grid = runs.grid(workload)
        for mb in (256, 3072):
            hits = [grid[mb, kb].read_hits for kb in SEGMENTS_KB]
            is_rising[workload, mb] = hits == sorted(hits)
            hit_texts = ", ".join(f"{100 * share:.0f}" for share in hits)
            details.append(f"{TITLES[workload]} with {mb} MB {hit_texts} %")
    sizes = f"{SEGMENTS_KB[0]} to {SEGMENTS_KB[-1]} KB"
    return judge_criterion(all(is_rising.values()), any(is_rising.values())).with_numbers(
        sizes=sizes,
        details=details,
        rising=sum(is_rising.values()),
        curves=len(is_rising),
        segment_kb=SEGMENT_KB[TPCD],
    )
