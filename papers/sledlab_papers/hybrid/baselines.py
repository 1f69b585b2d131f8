"""Claims that compare caching disk and buffer with disk, MEMS and RAM (sections 1, 6.4, 8, figure 6)."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed
from ..markdown import table
from ..printed import PrintedNumber
from ..wording import percent
from .names import (
    ALL,
    CELLO,
    DISK,
    DISK_RAM,
    FIFO,
    HPLAJW,
    LAZY,
    LAZY_FIFO,
    MEMS,
    MWB,
    NONE,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
)
from .sizes import DEFAULT_MB, best_kb, curve
from .systems import SEGMENT_KB, SIZES_MB, Systems

FIGURE_6 = (DISK, MEMS, DISK_RAM, MWB, NONE, ALL)
SYSTEMS = (DISK, MEMS, DISK_RAM, MWB, FIFO, NONE, ALL)
"""The systems of the figure, and the write buffer that cleans a log at a time in the order of writes."""

LABELS = {FIFO: "MWB FIFO", NONE: "MCD NONE", ALL: "MCD ALL"}

MIN_SHARE = 0.15
"""Half of the least printed share of the performance of MEMS: below it a caching disk is not near MEMS."""

MIN_SPEEDUP = 7.0
"""Half of the printed ratio of a disk to a write buffer on cello."""

FITTED_RATIO = 24
"""Ratio of the disk's response time to that of a caching disk on cello, to which its bursts were fitted."""

PRINTED_LEAD = PrintedNumber("6 to 64 %")
"""How much shorter the response with RAM is than with a caching disk."""

TPCC_MS = {NONE: 3.79, ALL: 3.09}


def means(runs: Systems) -> str:
    """Figure 6 as a table."""
    rows = []
    for system in SYSTEMS:
        cells = []
        for workload in WORKLOADS:
            over = runs.is_overloaded(workload, system)
            cells.append("overload" if over else f"{runs.mean(workload, system):.2f}")
        rows.append([LABELS.get(system, system), *cells])
    return table(["mean response, ms", *(TITLES[workload] for workload in WORKLOADS)], rows)


def detail_table(runs: Systems) -> str:
    """Figures that explain the means: by operation, queues, utilization and hits."""
    head = [
        "workload and system",
        *("reads, ms", "writes, ms", "99th percentile, ms", "longest queue", "devices busy, %"),
        "reads that hit, %",
    ]
    rows = []
    for workload in WORKLOADS:
        for system in FIGURE_6:
            row = runs.row(workload, system)
            over = row.saturated
            times = [row.read_mean_ms, row.write_mean_ms, row.p99_ms]
            hits = f"{100 * row.read_hits:.0f}" if row.hybrid_reads else ""
            rows.append(
                [
                    f"{TITLES[workload]}, {LABELS.get(system, system)}",
                    *("overload" if over else f"{time:.2f}" if time else "" for time in times),
                    f"{row.queue_max:,}",
                    f"{100 * row.utilization:.1f}",
                    hits,
                ]
            )
    return table(head, rows)


def w_01(runs: Systems) -> Judgment:
    """Caching disk compared with MEMS alone."""
    shares = {workload: runs.mean(workload, MEMS) / runs.mean(workload, ALL) for workload in WORKLOADS}
    details = ", ".join(f"{TITLES[workload]} {100 * share:.0f} %" for workload, share in shares.items())
    judged = [shares[workload] for workload in (CELLO, TPCC)]
    return judge_printed(judged, direction=min(judged) >= MIN_SHARE).with_numbers(
        details=details, shares=shares
    )


def w_02(runs: Systems) -> Judgment:
    """Write buffer compared with disk on cello."""
    factor, cached = runs.speedup(CELLO, MWB, DISK), runs.speedup(CELLO, ALL, DISK)
    return judge_printed([factor], direction=factor >= MIN_SPEEDUP).with_numbers(factor=factor, cached=cached)


def w_03(runs: Systems) -> Judgment:
    """Caching disk compared with disk."""
    factors = {workload: runs.speedup(workload, ALL, DISK) for workload in (CELLO, HPLAJW)}
    details = ", ".join(f"{TITLES[workload]} {factor:.1f} times" for workload, factor in factors.items())
    ordered = factors[CELLO] > factors[HPLAJW] > 3
    return judge_printed([factors[CELLO]], [factors[HPLAJW]], direction=ordered).with_numbers(
        details=details, factors=factors, fitted=FITTED_RATIO
    )


def _systems_by_time(runs: Systems, workload: str) -> list[str]:
    stable = [system for system in FIGURE_6 if not runs.is_overloaded(workload, system)]
    return sorted(stable, key=lambda system: runs.mean(workload, system))


def w_31(runs: Systems) -> Judgment:
    """The fastest system."""
    first = {workload: _systems_by_time(runs, workload)[0] for workload in (TPCD, TPCC, CELLO)}
    details = "; ".join(
        f"{TITLES[workload]} "
        + ", ".join(
            f"{LABELS.get(system, system)} {runs.mean(workload, system):.2f} ms"
            for system in _systems_by_time(runs, workload)[:3]
        )
        for workload in first
    )
    right = [system == MEMS for system in first.values()]
    return judge_criterion(all(right), any(right)).with_numbers(details=details)


def w_32(runs: Systems) -> Judgment:
    """RAM compared with MEMS."""
    above = {workload: runs.change(workload, DISK_RAM, MEMS) for workload in WORKLOADS}
    details = ", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in above.items())
    others = [above[workload] > 0.25 for workload in (TPCD, TPCC, CELLO)]
    a_little = -0.25 <= above[HPLAJW] < 0
    return judge_criterion(a_little and all(others), abs(above[HPLAJW]) <= 0.25 and all(others)).with_numbers(
        details=details, above=above
    )


def w_33(runs: Systems) -> Judgment:
    """RAM compared with the caching disk."""
    faster = {
        workload: 1 - runs.mean(workload, DISK_RAM) / runs.mean(workload, ALL) for workload in WORKLOADS
    }
    details = ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in faster.items())
    sign = min(faster.values()) > 0
    inside = [PRINTED_LEAD.is_met([share]) for share in faster.values()]
    return judge_printed(faster.values(), direction=sign).with_numbers(
        details=details, inside=sum(inside), compared=len(inside)
    )


def w_34(runs: Systems) -> Judgment:
    """TPCD through a write buffer."""
    disk, buffered = runs.mean(TPCD, DISK), runs.mean(TPCD, MWB)
    return judge_fitted(abs(buffered / disk - 1) <= 0.001).with_numbers(disk=disk, buffered=buffered)


def w_35(runs: Systems) -> Judgment:
    """TPCD through a caching disk."""
    above = {system: runs.change(TPCD, system, DISK) for system in (NONE, ALL)}
    small = best_kb(runs, TPCD, DEFAULT_MB)
    best = curve(runs, TPCD, DEFAULT_MB)[small] / runs.mean(TPCD, DISK) - 1
    hits = runs.row(TPCD, NONE).read_hits
    slower = min(above.values()) > 0
    return judge_printed(above.values(), direction=above[NONE] > 0, holds=slower).with_numbers(
        none=above[NONE],
        all=above[ALL],
        segment_kb=SEGMENT_KB[TPCD],
        best=best,
        small=small,
        hits=hits,
    )


def w_36(runs: Systems) -> Judgment:
    """TPCD on a disk with RAM."""
    gain = 1 - runs.mean(TPCD, DISK_RAM) / runs.mean(TPCD, DISK)
    return judge_criterion(0 <= gain < 0.4).with_numbers(change=-gain)


def _measured_text(runs: Systems, workload: str, system: str) -> str:
    """A mean response time in words, or that there is none."""
    return "overload" if runs.is_overloaded(workload, system) else f"{runs.mean(workload, system):.2f} ms"


def _queue(runs: Systems, system: str) -> str:
    row = runs.row(TPCC, system)
    state = "keeps growing" if row.saturated else "does not grow"
    return f"{LABELS.get(system, system)} {state} (longest {row.queue_max:,})"


def _overloaded_text(over: Mapping[str, bool]) -> str:
    """The overloaded ones of several systems, in words."""
    return ", ".join(LABELS.get(system, system) for system, checked in over.items() if checked) or "none"


def w_37(runs: Systems) -> Judgment:
    """TPCC without a caching disk."""
    over = {system: runs.is_overloaded(TPCC, system) for system in (DISK, MWB)}
    row = runs.row(TPCC, MWB)
    per_s = (row.hybrid_back_reads + row.hybrid_back_writes) / row.elapsed_s
    kb = row.hybrid_back_written_blocks / 2 / row.hybrid_back_writes
    # That a disk alone is overloaded does not count: the addresses of TPCC were chosen for that.
    return judge_criterion(all(over.values())).with_numbers(
        queues=_overloaded_text(over),
        on_disk=_queue(runs, DISK),
        on_buffer=_queue(runs, MWB),
        buffered=_measured_text(runs, TPCC, MWB),
        lazy=_measured_text(runs, TPCC, LAZY),
        fifo=_measured_text(runs, TPCC, FIFO),
        lazy_fifo=_measured_text(runs, TPCC, LAZY_FIFO),
        hits=row.read_hits,
        per_s=per_s,
        kb=kb,
    )


def w_39(runs: Systems) -> Judgment:
    """TPCC with a caching disk."""
    measured = {system: runs.mean(TPCC, system) for system in (NONE, ALL)}
    gain = 1 - measured[ALL] / measured[NONE]
    near = all(TPCC_MS[system] / 2 <= ms <= TPCC_MS[system] * 2 for system, ms in measured.items())
    return judge_printed([measured[NONE]], [measured[ALL]], direction=near and gain > 0).with_numbers(
        none=measured[NONE], all=measured[ALL], change=-gain
    )


def _parts(runs: Systems, workload: str) -> str:
    """Reads, writes and hits of caching disk and write buffer."""
    details = []
    for system in (ALL, MWB):
        row = runs.row(workload, system)
        details.append(
            f"{LABELS.get(system, system)} reads {row.read_mean_ms:.2f} ms ({100 * row.read_hits:.0f} "
            f"% hit), writes {row.write_mean_ms:.2f} ms"
        )
    return "; ".join(details)


def w_40(runs: Systems) -> Judgment:
    """Caching disk against write buffer on cello."""
    factor = runs.change(CELLO, MWB, ALL)
    return judge_printed([factor], direction=factor > 0).with_numbers(
        factor=factor,
        parts=_parts(runs, CELLO),
        lazy=_measured_text(runs, CELLO, LAZY),
        fifo=_measured_text(runs, CELLO, FIFO),
        lazy_fifo=_measured_text(runs, CELLO, LAZY_FIFO),
    )


def w_41(runs: Systems) -> Judgment:
    """Hplajw with both."""
    all_ms, buffered = runs.mean(HPLAJW, ALL), runs.mean(HPLAJW, MWB)
    best = {mb: best_kb(runs, HPLAJW, mb) for mb in SIZES_MB if mb >= DEFAULT_MB}
    others = ", ".join(
        f"{curve(runs, HPLAJW, mb)[kb]:.2f} ms with {mb} MB ({kb} KB)" for mb, kb in best.items()
    )
    faster = all_ms < buffered
    return judge_printed([all_ms], direction=faster, holds=faster).with_numbers(
        all_ms=all_ms, buffered=buffered, parts=_parts(runs, HPLAJW), others=others
    )


def w_52(runs: Systems) -> Judgment:
    """TPCC: bounded or not."""
    over = {system: runs.is_overloaded(TPCC, system) for system in (DISK, ALL)}
    return judge_criterion(over[DISK] and not over[ALL]).with_numbers(
        on_disk=_queue(runs, DISK), on_all=_queue(runs, ALL), queues=_overloaded_text(over)
    )
