"""Claims on the three techniques and on replacement (sections 4.2, 6.1 and 6.2; figure 4)."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..wording import number_table, percent
from .names import (
    ALL,
    CELLO,
    IREPORT,
    NONE,
    PWRITE,
    SHORTCUT,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
)
from .systems import (
    BUFFER,
    FIGURE_4_SEGMENT_KB,
    REPLACEMENT,
    SEGMENTS,
    TECHNIQUES,
    HybridRuns,
    SeedMean,
    workload_table,
)

BUFFER_SEGMENTS = (1, 256)
"""Segments that fit into the buffer of `wang2005-buffer`."""

LARGER_KB = (16, 64)
"""Sizes of segments of `wang2005-segments`."""

ROUNDING_ERROR = 1e-9
"""Relative differences of means below this are rounding."""

LRU_BAND = 0.03

MEASURES = {"all": "mean_ms", "reads": "read_mean_ms", "writes": "write_mean_ms"}
"""Mean responses, by the requests that they are of."""


def gain(runs: HybridRuns, workload: str, technique: str) -> float:
    """Relative reduction of the mean response by a technique, with the segments of section 6.1."""
    return -runs.technique_change(workload, technique)


def changes_text(gains: Mapping[str, float]) -> str:
    """Changes of response time in a sentence."""
    return ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in gains.items())


def w_15(runs: HybridRuns) -> Judgment:
    """Shortcut alone."""
    changes = {
        (workload, requests): runs.technique_change(workload, SHORTCUT, measure)
        for workload in WORKLOADS
        for requests, measure in MEASURES.items()
        if (workload, requests) != (TPCD, "writes")  # TPCD has none
    }
    longer = [share > ROUNDING_ERROR for share in changes.values()]
    rows = {
        workload: [
            percent(changes[workload, requests], 1) if (workload, requests) in changes else ""
            for requests in MEASURES
        ]
        for workload in WORKLOADS
    }
    return (
        judge_criterion(
            not any(longer), all(changes[workload, "all"] <= ROUNDING_ERROR for workload in WORKLOADS)
        )
        .with_numbers(least=min(changes.values()), greatest=max(changes.values()))
        .with_tables(workload_table("Mean response against NONE, %", " | ".join(MEASURES), rows))
    )


def _gains_by_buffer(runs: HybridRuns, workload: str) -> dict[int, float]:
    """Gain of Immediate Report by the number of segments in the buffer; overloaded ones are omitted."""
    rows = runs.seed_means(BUFFER, workload)
    pairs = {
        segments: (rows[f"IREPORT, {segments}"], rows[f"NONE, {segments}"]) for segments in BUFFER_SEGMENTS
    }
    return _gains(pairs)


def _gains(pairs: Mapping[int, tuple[SeedMean, SeedMean]]) -> dict[int, float]:
    """Gains by a technique, from systems with it and without; pairs with an overloaded one are omitted."""
    return {
        key: 1 - with_technique.mean_ms / without_technique.mean_ms
        for key, (with_technique, without_technique) in pairs.items()
        if not with_technique.saturated and not without_technique.saturated
    }


def w_16(runs: HybridRuns) -> Judgment:
    """Immediate Report over sizes of the buffer."""
    gains_by_workload = {workload: _gains_by_buffer(runs, workload) for workload in (TPCC, CELLO)}
    rows = {
        workload: [_gain_text(gains, segments) for segments in BUFFER_SEGMENTS]
        for workload, gains in gains_by_workload.items()
    }
    columns = " | ".join(f"buffer of {segments}" for segments in BUFFER_SEGMENTS)
    # Without a response time at one size of the buffer there is nothing to compare.
    pairs = [(gains[1], gains[256]) for gains in gains_by_workload.values() if len(gains) == 2]
    shares = [small / large for small, large in pairs if large]
    need_places = [large > max(small, 0) for small, large in pairs]
    return (
        judge_criterion(bool(need_places) and all(need_places), any(need_places))
        .with_numbers(left=max(shares, default=0.0))
        .with_tables(workload_table("Mean response with IREPORT against NONE, %", columns, rows))
    )


def _gain_text(gains: Mapping[int, float], key: int) -> str:
    """A change of response by a technique in percent, or that a run without it or with it is overloaded."""
    return percent(-gains[key], 1) if key in gains else "overload"


def w_18(runs: HybridRuns) -> Judgment:
    """All three."""
    gains = {workload: runs.improvement(1 / (1 - gain(runs, workload, ALL))) for workload in WORKLOADS}
    return judge_printed(gains.values(), direction_holds=min(gains.values()) > 0).with_numbers(
        gains=", ".join(f"{TITLES[workload]} {percent(share, 1)} %" for workload, share in gains.items())
    )


def w_19(runs: HybridRuns) -> Judgment:
    """Immediate Report alone."""
    gains = {workload: gain(runs, workload, IREPORT) for workload in WORKLOADS}
    are_faster = [gains[workload] > 0 for workload in (TPCC, CELLO)]
    return judge_criterion(all(are_faster), any(are_faster)).with_numbers(
        gains=changes_text(gains), least=min(gains[TPCC], gains[CELLO])
    )


def w_21(runs: HybridRuns) -> Judgment:
    """Shortcut where the disk is read."""
    gains = {workload: gain(runs, workload, SHORTCUT) for workload in WORKLOADS}
    reads = {workload: _disk_reads_per_request(runs, workload) for workload in WORKLOADS}
    by_reads, by_gain = (sorted(WORKLOADS, key=each.__getitem__) for each in (reads, gains))
    rows = {
        workload: [f"{reads[workload]:.2f}", percent(-gains[workload], 1)] for workload in reversed(by_reads)
    }
    helps_most = by_reads[-1] == by_gain[-1] == TPCD and gains[CELLO] > 0
    return (
        judge_criterion(helps_most and by_reads == by_gain, helps_most)
        .with_numbers(
            best=TITLES[by_gain[-1]],
            order=", ".join(TITLES[workload] for workload in reversed(by_gain)),
            host_reads=_share_of_gain_on_reads(runs, CELLO, SHORTCUT),
        )
        .with_tables(workload_table("Shortcut", "disk reads a request | mean response, %", rows))
    )


def _disk_reads_per_request(runs: HybridRuns, workload: str) -> float:
    """Reads of the disk behind a caching disk without techniques, for each request of the host."""
    mean = runs.seed_means(TECHNIQUES, workload)[NONE]
    return mean.mean("hybrid_back_reads") / mean.mean("requests")


def _share_of_gain_on_reads(runs: HybridRuns, workload: str, technique: str) -> float:
    """Share of the time that a technique saves that it saves on reads of the host."""
    means = runs.seed_means(TECHNIQUES, workload)
    (all_ms, read_ms, write_ms), (fast_all_ms, fast_read_ms, _) = (
        [means[name].mean(measure) for measure in ("mean_ms", "read_mean_ms", "write_mean_ms")]
        for name in (NONE, technique)
    )
    read_share = (all_ms - write_ms) / (read_ms - write_ms)
    return read_share * (read_ms - fast_read_ms) / (all_ms - fast_all_ms)


def w_22(runs: HybridRuns) -> Judgment:
    """LRU compared with LFUDA, by one of its two definitions."""
    changes = {}
    for workload in WORKLOADS:
        means = runs.seed_means(REPLACEMENT, workload)
        changes[workload] = {
            name: 1 / (1 + runs.change_on_same_seeds(row, workload, ALL)) - 1 for name, row in means.items()
        }
    rows = {
        workload: [percent(shares[name], 1) for name in ("lfuda", "lfuda-literal")]
        for workload, shares in changes.items()
    }
    good_workloads = [workload for workload, shares in changes.items() if shares[runs.lfuda] <= LRU_BAND]
    return (
        judge_criterion(len(good_workloads) >= 3, 2 * len(good_workloads) > len(changes))
        .with_numbers(
            good=len(good_workloads),
            compared=len(changes),
            worst=max(shares[runs.lfuda] for shares in changes.values()),
        )
        .with_tables(
            workload_table("Mean response of LRU against LFUDA, %", "by Arlitt | as the paper words it", rows)
        )
    )


def _gains_by_segment(runs: HybridRuns, workload: str, technique: str) -> dict[int, float]:
    """Gain of a technique by the size of segments, without overloaded ones."""
    default_rows, rows = (runs.seed_means(name, workload) for name in (TECHNIQUES, SEGMENTS))
    pairs = {FIGURE_4_SEGMENT_KB[workload]: (default_rows[technique], default_rows[NONE])} | {
        kb: (rows[f"{technique}, {kb} KB"], rows[f"{NONE}, {kb} KB"]) for kb in LARGER_KB
    }
    return _gains(pairs)


def w_27(runs: HybridRuns) -> Judgment:
    """Shortcut and Immediate Report over sizes of segments."""
    rows, is_falling = [], {}
    for workload in (TPCC, CELLO):
        for technique in (SHORTCUT, IREPORT):
            gains = _gains_by_segment(runs, workload, technique)
            ordered_gains = [gains[kb] for kb in sorted(gains)]
            if len(ordered_gains) > 1:
                is_falling[workload, technique] = ordered_gains == sorted(ordered_gains, reverse=True)
            gain_texts = (_gain_text(gains, kb) for kb in (FIGURE_4_SEGMENT_KB[workload], *LARGER_KB))
            rows.append([f"{TITLES[workload]}, {technique}", *gain_texts])
    return judge_comparisons(is_falling.values()).with_tables(
        number_table("Mean response against NONE, %", "workload and technique | 8 KB | 16 KB | 64 KB", rows)
    )


def figure_4(runs: HybridRuns) -> list[list[str]]:
    """Figure 4 as the rows of a table."""
    rows = []
    for technique in (SHORTCUT, IREPORT, PWRITE, ALL):
        gains = [f"{percent(-gain(runs, workload, technique), 1)}" for workload in WORKLOADS]
        rows.append([technique, *gains])
    return rows
