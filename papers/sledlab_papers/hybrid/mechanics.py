"""Claims on the effects of caching disks and write buffers on traffic and space (sections 4 and 6.4)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
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
from .sizes import size_text, swept_sizes_mb
from .systems import SEGMENTS_KB, HybridRuns, SeedMean

KB_BLOCKS = 2
LARGE_WRITE_BUFFER = (*WRITE_BUFFER, ("hybrid.front_mb", 3000))
"""A write buffer that never fills up, and is cleaned after the last request."""

MIN_REDUCTION = 0.01
"""Smallest difference that counts: more than a few requests at the end of a run."""

MAX_SLOWDOWN = 0.25
"""Maximum slowdown at which systems count as similar."""

MAX_USEFUL_KB = 64
"""Size of segments beyond which more data are prefetched in hplajw than are used (section 6.3)."""

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
    cache = runs.cache_settings
    fetches = [
        simulate_on_disk(
            runs.disk, CELLO, *CACHING_DISK, NO_READS, *cache, ("hybrid.partial_write", partial)
        ).summary["hybrid"]["back"]
        for partial in (False, True)
    ]
    mixed_reads = simulate_on_disk(runs.disk, CELLO, *CACHING_DISK, *cache).summary["hybrid"]["back"]["reads"]
    means_ms = [
        simulate_on_disk(runs.disk, CELLO, *hybrid, NO_READS, *cache).response_time.mean
        for hybrid in (CACHING_DISK, WRITE_BUFFER)
    ]
    mixed_ms = [runs.mean(CELLO, system, "write_mean_ms") for system in (ALL, MWB)]
    avoids_fetches = fetches[0]["reads"] > 0 and fetches[1]["reads"] == 0 and mixed_reads > 0
    return judge_criterion(
        avoids_fetches and means_ms[0] <= (1 + MAX_SLOWDOWN) * means_ms[1], avoids_fetches
    ).with_numbers(
        requests=REQUESTS,
        fetches=fetches,
        mixed=mixed_reads,
        means=means_ms,
        times=means_ms[0] / means_ms[1],
        mixed_times=mixed_ms[0] / mixed_ms[1],
    )


def w_38(runs: HybridRuns) -> Judgment:
    """Valid data on the MEMS, and accesses to the disk, with a write buffer and with a caching disk."""
    logs, cache = (runs.seed_mean(TPCC, system) for system in (MWB, ALL))
    live_shares = [mean.mean("hybrid_live_share") for mean in (logs, cache)]
    reads, writes = (
        [mean.mean(measure) for mean in (logs, cache)]
        for measure in ("hybrid_back_reads", "hybrid_back_writes")
    )
    more_reads, more_writes = reads[0] - reads[1], writes[0] - writes[1]
    wastes_space, has_more_traffic = live_shares[0] < live_shares[1], more_reads + more_writes > 0
    # Logs that keep old versions do not count alone: that is by construction. Where most of the surplus
    # are reads, it is not for these versions: a write buffer does not keep what is read.
    return judge_criterion(
        wastes_space and has_more_traffic and more_writes > more_reads, wastes_space and has_more_traffic
    ).with_numbers(
        live=live_shares,
        accesses=[reads[i] + writes[i] for i in range(2)],
        of_reads=more_reads / (more_reads + more_writes),
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
    """Hits over sizes of segments, up to that beyond which section 6.3 has the prefetched data useless."""
    hits = {
        f"{TITLES[workload]}, {size_text(mb)}": [runs.grid(workload)[mb, kb].read_hits for kb in SEGMENTS_KB]
        for workload in (TPCD, HPLAJW)
        for mb in swept_sizes_mb(runs, workload)
    }
    useful_sizes = [kb for kb in SEGMENTS_KB if kb <= MAX_USEFUL_KB]
    are_rising = [
        shares[: len(useful_sizes)] == sorted(shares[: len(useful_sizes)]) for shares in hits.values()
    ]
    columns = " | ".join(["workload and MEMS", *(f"{kb} KB" for kb in SEGMENTS_KB)])
    rows = [[title, *(f"{100 * share:.0f}" for share in shares)] for title, shares in hits.items()]
    return (
        judge_comparisons(are_rising)
        .with_numbers(useful_kb=MAX_USEFUL_KB)
        .with_tables(number_table("Reads that hit, % by segment", columns, rows))
    )
