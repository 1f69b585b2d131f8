"""Claims on the effects of caching disks and write buffers on traffic and space (sections 4 and 6.4)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..wording import number_table, percent
from .names import ALL, CELLO, HPLAJW, IDLE, MWB, TITLES, TPCC, TPCD
from .singles import (
    CACHING_DISK,
    NO_CACHE,
    REQUESTS,
    WRITE_BUFFER,
    distinct_written_blocks,
    simulate_on_disk,
)
from .systems import SEGMENT_KB, SEGMENTS_KB, HybridRuns, SeedMean

KB_BLOCKS = 2
LARGE_WRITE_BUFFER = (*WRITE_BUFFER, ("hybrid.front_mb", 3000))
"""A write buffer that never fills up, and is cleaned after the last request."""

MIN_REDUCTION = 0.01
"""Smallest difference that counts: more than a few requests at the end of a run."""

MAX_SLOWDOWN = 0.25
"""Maximum slowdown at which systems count as similar."""

NO_READS = ("workload.read_share", 0)


def _write_reduction(runs: HybridRuns, workload: str, system: str) -> float:
    """Reduction of bytes written to the disk, as a share of those written to a write buffer."""
    row = runs.seed_mean(workload, system)
    return 1 - row.mean("hybrid_back_written_blocks") / row.mean("hybrid_written_blocks")


def w_12(runs: HybridRuns) -> Judgment:
    """Bytes that reach the write buffer, as they would a disk alone, and those written to the disk."""
    reductions, idle_reductions = (
        {workload: _write_reduction(runs, workload, system) for workload in (CELLO, TPCC)}
        for system in (MWB, IDLE)
    )
    never_full_run = simulate_on_disk(runs.disk, CELLO, *LARGE_WRITE_BUFFER, NO_CACHE)
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
    fetches = [
        simulate_on_disk(
            runs.disk, CELLO, *CACHING_DISK, NO_READS, ("hybrid.partial_write", partial)
        ).summary["hybrid"]["back"]
        for partial in (False, True)
    ]
    mixed_reads = simulate_on_disk(runs.disk, CELLO, *CACHING_DISK).summary["hybrid"]["back"]["reads"]
    means_ms = [
        simulate_on_disk(runs.disk, CELLO, *hybrid, NO_READS).response_time.mean
        for hybrid in (CACHING_DISK, WRITE_BUFFER)
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


def _disk_write_kb(mean: SeedMean) -> float:
    """The mean size of a write to the disk behind in KB."""
    return mean.mean("hybrid_back_written_blocks") / mean.mean("hybrid_back_writes") / KB_BLOCKS


def w_50(runs: HybridRuns) -> Judgment:
    """Sizes of writes."""
    row = runs.seed_mean(CELLO, MWB)
    buffered_kb = row.mean("hybrid_written_blocks") / row.mean("hybrid_writes") / KB_BLOCKS
    writes = simulate_on_disk(runs.disk, CELLO).requests.filter(op="W")
    user_kb = float(writes["blocks"].to_numpy().mean()) / KB_BLOCKS
    disk_kb, idle_kb = (_disk_write_kb(runs.seed_mean(CELLO, system)) for system in (MWB, IDLE))
    return judge_criterion(disk_kb >= 2 * user_kb, disk_kb > user_kb).with_numbers(
        disk_kb=disk_kb,
        user_kb=user_kb,
        times=disk_kb / user_kb,
        buffered_kb=buffered_kb,
        idle_kb=idle_kb,
        writes=2048 / buffered_kb,
    )


def w_51(runs: HybridRuns) -> Judgment:
    """Hits over sizes of segments."""
    hits = {
        f"{TITLES[workload]}, {mb} MB": [runs.grid(workload)[mb, kb].read_hits for kb in SEGMENTS_KB]
        for workload in (TPCD, HPLAJW)
        for mb in (256, 3072)
    }
    are_rising = [shares == sorted(shares) for shares in hits.values()]
    rows = [
        [f"{kb}", *(f"{100 * shares[i]:.0f}" for shares in hits.values())] for i, kb in enumerate(SEGMENTS_KB)
    ]
    return (
        judge_criterion(all(are_rising), any(are_rising))
        .with_numbers(rising=sum(are_rising), curves=len(are_rising), segment_kb=SEGMENT_KB[TPCD])
        .with_tables(number_table("Reads that hit, %", " | ".join(["segment, KB", *hits]), rows))
    )
