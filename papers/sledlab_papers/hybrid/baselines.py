"""Claims that compare caching disk and buffer with disk, MEMS and RAM (sections 1, 6.4, 8, figure 6)."""

from __future__ import annotations

from collections.abc import Mapping

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed
from ..markdown import table
from ..printed import PrintedNumber
from ..wording import cells, number_table, percent
from .names import (
    ALL,
    CELLO,
    DISK,
    DISK_RAM,
    HPLAJW,
    IDLE,
    MEMS,
    MWB,
    NONE,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
)
from .systems import BASELINES, CACHING_DISK, SEGMENT_KB, HybridRuns, SeedMean, workload_table

FIGURE_6 = (DISK, MEMS, DISK_RAM, MWB, NONE, ALL)
SYSTEMS = (DISK, MEMS, DISK_RAM, MWB, IDLE, NONE, ALL)
"""The systems of the figure, and the write buffer that also cleans in idle times."""

OVERLOAD = "overload"
"""In place of the mean response time of a system with a queue that kept growing."""

LABELS = {IDLE: "MWB IDLE", NONE: "MCD NONE", ALL: "MCD ALL"}

FITTED_MS = PrintedNumber("3.79 ms")
"""The response time of a caching disk without techniques to TPCC, to which a buffer pool was fitted."""

FITTED_RATIOS = {CELLO: 24, HPLAJW: 5.6}
"""Ratios of the disk's response time to that of a caching disk, to which bursts were fitted."""

NEAR_FITTED = 0.10
"""Largest relative difference from a ratio that was fitted."""


def _mean_text(runs: HybridRuns, workload: str, system: str) -> str:
    """A mean response time in ms, or that there is none."""
    return OVERLOAD if runs.is_overloaded(workload, system) else f"{runs.mean(workload, system):.2f}"


def figure_6(runs: HybridRuns) -> str:
    """Figure 6 as a table."""
    rows = []
    for system in SYSTEMS:
        mean_texts = (_mean_text(runs, workload, system) for workload in WORKLOADS)
        rows.append([LABELS.get(system, system), *mean_texts])
    return table(["mean response, ms", *(TITLES[workload] for workload in WORKLOADS)], rows)


def detail_table(runs: HybridRuns) -> str:
    """Figures that explain the means: by operation, queues, utilization and hits."""
    head = [
        "workload and system",
        *("reads, ms", "writes, ms", "99th percentile, ms", "longest queue", "devices busy, %"),
        "reads that hit, %",
    ]
    rows = []
    for workload in WORKLOADS:
        for system in FIGURE_6:
            row = runs.seed_mean(workload, system)
            times_ms = [_mean_or_none(row, name) for name in ("read_mean_ms", "write_mean_ms", "p99_ms")]
            hit_text = f"{100 * row.read_hits:.0f}" if _mean_or_none(row, "hybrid_reads") else ""
            rows.append(
                [
                    f"{TITLES[workload]}, {LABELS.get(system, system)}",
                    *(OVERLOAD if row.saturated else f"{time:.2f}" if time else "" for time in times_ms),
                    f"{row.max_queue:,}",
                    f"{100 * row.mean('utilization'):.1f}",
                    hit_text,
                ]
            )
    return table(head, rows)


def _mean_or_none(row: SeedMean, measure: str) -> float | None:
    """The mean of a measure over the seeds; `None` where a run has none."""
    return None if any(getattr(run, measure) is None for run in row.runs) else row.mean(measure)


def w_01(runs: HybridRuns) -> Judgment:
    """Caching disk compared with MEMS alone."""
    shares = {workload: runs.mean(workload, MEMS) / runs.mean(workload, ALL) for workload in WORKLOADS}
    details = ", ".join(f"{TITLES[workload]} {100 * share:.0f} %" for workload, share in shares.items())
    return judge_printed(shares.values(), direction_holds=max(shares.values()) < 1).with_numbers(
        details=details
    )


def w_02(runs: HybridRuns) -> Judgment:
    """Write buffer compared with disk on cello."""
    factor, caching_factor = runs.speedup(CELLO, MWB, DISK), runs.speedup(CELLO, ALL, DISK)
    return judge_printed([factor], direction_holds=factor > 1).with_numbers(
        factor=factor, cached=caching_factor
    )


def w_03(runs: HybridRuns) -> Judgment:
    """Caching disk compared with disk."""
    factors = {workload: runs.speedup(workload, ALL, DISK) for workload in (CELLO, HPLAJW)}
    details = ", ".join(f"{TITLES[workload]} {factor:.1f} times" for workload, factor in factors.items())
    disk_ms, caching_ms = (
        runs.workload_runs(name, CELLO).seed_values(system, 1.0, "mean_ms")
        for name, system in ((BASELINES, DISK), (CACHING_DISK, ALL))
    )
    seed_factors = [a / b for a, b in zip(disk_ms, caching_ms, strict=True)]
    are_near = [
        abs(factors[workload] / ratio - 1) <= NEAR_FITTED for workload, ratio in FITTED_RATIOS.items()
    ]
    return judge_printed([factors[CELLO]], [factors[HPLAJW]], direction_holds=all(are_near)).with_numbers(
        details=details,
        factors=factors,
        fitted=FITTED_RATIOS,
        least=min(seed_factors),
        greatest=max(seed_factors),
    )


def _systems_by_time(runs: HybridRuns, workload: str) -> list[str]:
    stable_systems = [system for system in FIGURE_6 if not runs.is_overloaded(workload, system)]
    return sorted(stable_systems, key=lambda system: runs.mean(workload, system))


def w_31(runs: HybridRuns) -> Judgment:
    """The fastest system."""
    fastest_systems = {workload: _systems_by_time(runs, workload)[0] for workload in (TPCD, TPCC, CELLO)}
    fastest_text = ", ".join(
        f"{TITLES[workload]} {LABELS.get(system, system)}" for workload, system in fastest_systems.items()
    )
    are_mems = [system == MEMS for system in fastest_systems.values()]
    overloaded_texts = [
        f"{TITLES[workload]} on {LABELS.get(system, system)}"
        for workload in fastest_systems
        for system in FIGURE_6
        if runs.is_overloaded(workload, system)
    ]
    rows = {
        workload: [_mean_text(runs, workload, system) for system in FIGURE_6] for workload in fastest_systems
    }
    columns = " | ".join(LABELS.get(system, system) for system in FIGURE_6)
    return (
        judge_criterion(all(are_mems), any(are_mems))
        .with_numbers(fastest=fastest_text, overloaded=", ".join(overloaded_texts) or "none")
        .with_tables(workload_table("Mean response, ms", columns, rows))
    )


def w_32(runs: HybridRuns) -> Judgment:
    """RAM compared with MEMS."""
    changes = {workload: runs.change(workload, DISK_RAM, MEMS) for workload in WORKLOADS}
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in changes.items())
    are_much_slower = [changes[workload] > 0.25 for workload in (TPCD, TPCC, CELLO)]
    is_slightly_faster = -0.25 <= changes[HPLAJW] < 0
    return judge_criterion(
        is_slightly_faster and all(are_much_slower), abs(changes[HPLAJW]) <= 0.25 and all(are_much_slower)
    ).with_numbers(details=details, above=changes)


def w_33(runs: HybridRuns) -> Judgment:
    """RAM compared with the caching disk."""
    gains = {workload: runs.improvement(runs.speedup(workload, DISK_RAM, ALL)) for workload in WORKLOADS}
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in gains.items())
    return judge_printed(gains.values(), direction_holds=min(gains.values()) > 0).with_numbers(
        details=details
    )


def w_34(runs: HybridRuns) -> Judgment:
    """TPCD through a write buffer."""
    disk_ms, buffered_ms = runs.mean(TPCD, DISK), runs.mean(TPCD, MWB)
    return judge_fitted(abs(buffered_ms / disk_ms - 1) <= 0.001).with_numbers(
        disk=disk_ms, buffered=buffered_ms
    )


def w_35(runs: HybridRuns) -> Judgment:
    """TPCD through a caching disk."""
    losses = {system: -runs.performance_change(TPCD, system, DISK) for system in (NONE, ALL)}
    return judge_printed(
        losses.values(), direction_holds=losses[NONE] > 0, rest_holds=min(losses.values()) > 0
    ).with_numbers(
        none=-losses[NONE],
        all=-losses[ALL],
        none_response=runs.change(TPCD, NONE, DISK),
        all_response=runs.change(TPCD, ALL, DISK),
        segment_kb=SEGMENT_KB[TPCD],
        hits=runs.seed_mean(TPCD, NONE).read_hits,
    )


def w_36(runs: HybridRuns) -> Judgment:
    """TPCD on a disk with RAM."""
    gain = runs.performance_change(TPCD, DISK_RAM, DISK)
    return judge_criterion(0 <= gain < 0.4).with_numbers(change=gain)


def _response_text(runs: HybridRuns, workload: str, system: str) -> str:
    """A mean response time in words, or that there is none."""
    text = _mean_text(runs, workload, system)
    return text if text == OVERLOAD else f"{text} ms"


def _queue_text(runs: HybridRuns, system: str) -> str:
    row = runs.seed_mean(TPCC, system)
    state = "keeps growing" if row.saturated else "does not grow"
    return f"{LABELS.get(system, system)} {state} (longest {row.max_queue:,})"


def _overloaded_text(overloads: Mapping[str, bool]) -> str:
    """The overloaded ones of several systems, in words."""
    return (
        ", ".join(LABELS.get(system, system) for system, is_overloaded in overloads.items() if is_overloaded)
        or "none"
    )


def w_37(runs: HybridRuns) -> Judgment:
    """TPCC without a caching disk."""
    overloads = {system: runs.is_overloaded(TPCC, system) for system in (DISK, MWB)}
    row = runs.seed_mean(TPCC, MWB)
    disk_reads, disk_writes = row.mean("hybrid_back_reads"), row.mean("hybrid_back_writes")
    requests_per_s = (disk_reads + disk_writes) / row.mean("elapsed_s")
    write_kb = row.mean("hybrid_back_written_blocks") / 2 / disk_writes
    # That a disk alone is overloaded does not count: the addresses of TPCC were chosen for that.
    return judge_criterion(all(overloads.values())).with_numbers(
        queues=_overloaded_text(overloads),
        on_disk=_queue_text(runs, DISK),
        on_buffer=_queue_text(runs, MWB),
        buffered=_response_text(runs, TPCC, MWB),
        idle=_response_text(runs, TPCC, IDLE),
        hits=row.read_hits,
        per_s=requests_per_s,
        kb=write_kb,
    )


def w_39(runs: HybridRuns) -> Judgment:
    """TPCC with all techniques, where the time without any is as fitted."""
    means_ms = {system: runs.mean(TPCC, system) for system in (NONE, ALL)}
    return judge_printed(
        [means_ms[ALL]],
        direction_holds=means_ms[ALL] < means_ms[NONE],
        rest_holds=FITTED_MS.is_nearly_met([means_ms[NONE]]),
    ).with_numbers(
        none=means_ms[NONE],
        all=means_ms[ALL],
        gain=runs.performance_change(TPCC, ALL, NONE),
    )


def _parts_table(runs: HybridRuns, workload: str) -> NumberTable:
    """Reads, writes and hits of caching disk and write buffer."""
    means = {system: runs.seed_mean(workload, system) for system in (ALL, MWB)}
    return number_table(
        f"Responses to {TITLES[workload]}",
        "system | mean, ms | reads, ms | writes, ms | reads that hit, %",
        (
            cells(
                "{} | {:.2f} | {:.2f} | {:.2f} | {:%0}",
                LABELS.get(system, system),
                *(mean.mean(name) for name in ("mean_ms", "read_mean_ms", "write_mean_ms", "read_hits")),
            )
            for system, mean in means.items()
        ),
    )


def w_40(runs: HybridRuns) -> Judgment:
    """Caching disk against write buffer on cello."""
    gain = runs.performance_change(CELLO, ALL, MWB)
    return (
        judge_printed([gain], direction_holds=gain > 0)
        .with_numbers(factor=gain, idle=_response_text(runs, CELLO, IDLE))
        .with_tables(_parts_table(runs, CELLO))
    )


def w_41(runs: HybridRuns) -> Judgment:
    """Hplajw with both."""
    all_ms, buffered_ms = runs.mean(HPLAJW, ALL), runs.mean(HPLAJW, MWB)
    is_faster = all_ms < buffered_ms
    return (
        judge_printed([all_ms], direction_holds=is_faster, rest_holds=is_faster)
        .with_numbers(all_ms=all_ms, buffered=buffered_ms)
        .with_tables(_parts_table(runs, HPLAJW))
    )


def w_52(runs: HybridRuns) -> Judgment:
    """TPCC: bounded or not."""
    overloads = {system: runs.is_overloaded(TPCC, system) for system in (DISK, ALL)}
    return judge_criterion(overloads[DISK] and not overloads[ALL]).with_numbers(
        on_disk=_queue_text(runs, DISK), on_all=_queue_text(runs, ALL), queues=_overloaded_text(overloads)
    )
