"""Claims on the three techniques and on replacement (sections 4.2, 6.1 and 6.2; figure 4)."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..wording import format_rows, percent
from .names import (
    ALL,
    CELLO,
    IREPORT,
    NONE,
    PWRITE,
    SHORTCUT,
    SINGLE_TECHNIQUES,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
)
from .systems import BUFFER, REPLACEMENT, SEGMENT_KB, SEGMENTS, TECHNIQUES, Systems

BUFFER_SEGMENTS = (1, 256)
"""Segments that fit into the buffer of `wang2005-buffer`."""

LARGER_KB = (16, 64)
"""Sizes of segments of `wang2005-segments`."""

ROUNDING_ERROR = 1e-9
"""Relative differences of means below this are rounding."""

LRU_BAND = 0.03

PRINTED_GAIN = PrintedNumber("14 to 45 %")
"""Improvement of a caching disk by all three techniques."""


def gain(runs: Systems, workload: str, technique: str) -> float:
    """Relative reduction of the mean response by a technique."""
    return 1 - runs.mean(workload, technique) / runs.mean(workload, NONE)


def changes_text(gains: Mapping[str, float]) -> str:
    """Changes of response time in a sentence."""
    return ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in gains.items())


def w_15(runs: Systems) -> Judgment:
    """Shortcut alone."""
    gains = {workload: gain(runs, workload, SHORTCUT) for workload in WORKLOADS}
    parts = []
    for workload in (TPCC, CELLO):
        changes = [
            runs.change(workload, SHORTCUT, NONE, measure) for measure in ("read_mean_ms", "write_mean_ms")
        ]
        parts.append(
            f"{TITLES[workload]} reads {percent(changes[0], 1)} %, writes {percent(changes[1], 1)} %"
        )
    return judge_criterion(all(share >= -ROUNDING_ERROR for share in gains.values())).with_numbers(
        gains=changes_text(gains), parts=parts
    )


def _gain_by_buffer(runs: Systems, workload: str) -> dict[int, float]:
    """Gain of Immediate Report by the number of segments in the buffer; overloaded ones are omitted."""
    rows = runs.rows(BUFFER, workload)
    pairs = {checked: (rows[f"IREPORT, {checked}"], rows[f"NONE, {checked}"]) for checked in BUFFER_SEGMENTS}
    return {
        checked: 1 - with_it.mean_ms / without.mean_ms
        for checked, (with_it, without) in pairs.items()
        if not without.saturated and not with_it.saturated
    }


def w_16(runs: Systems) -> Judgment:
    """Immediate Report over sizes of the buffer."""
    measured = {workload: _gain_by_buffer(runs, workload) for workload in (TPCC, CELLO)}
    details = "; ".join(
        f"{TITLES[workload]} " + (format_rows("{1:-1%} with {0}", gains.items()) or "overloaded")
        for workload, gains in measured.items()
    )
    lost = [workload for workload, gains in measured.items() if _is_vanishing(gains)]
    return judge_criterion(len(lost) == len(measured), bool(lost)).with_numbers(details=details)


def _is_vanishing(gains: Mapping[int, float]) -> bool:
    """Whether a gain exists with the larger buffer, and is a tenth of that or less with the smaller one."""
    shares = [gains[checked] for checked in BUFFER_SEGMENTS if checked in gains]
    return len(shares) > 1 and shares[-1] > 0 and abs(shares[0]) <= 0.1 * shares[-1]


def w_18(runs: Systems) -> Judgment:
    """All three."""
    gains = {workload: gain(runs, workload, ALL) for workload in WORKLOADS}
    inside = [workload for workload, share in gains.items() if PRINTED_GAIN.is_met([share])]
    return judge_printed(gains.values(), direction=min(gains.values()) > 0).with_numbers(
        gains=changes_text(gains),
        helped=len(inside),
        inside=", ".join(TITLES[workload] for workload in inside) or "none",
    )


def _largest(runs: Systems, workload: str) -> str:
    return max(SINGLE_TECHNIQUES, key=lambda technique: gain(runs, workload, technique))


def w_19(runs: Systems) -> Judgment:
    """Immediate Report alone."""
    gains = {workload: gain(runs, workload, IREPORT) for workload in WORKLOADS}
    best = {workload: _largest(runs, workload) for workload in (TPCC, CELLO)}
    others = ", ".join(
        f"{TITLES[workload]} {technique} {percent(-gain(runs, workload, technique), 1)} %"
        for workload, technique in best.items()
    )
    helps = all(gains[workload] > 0 for workload in best)
    return judge_criterion(helps and IREPORT in best.values(), helps).with_numbers(
        gains=changes_text(gains), others=others
    )


def w_21(runs: Systems) -> Judgment:
    """Shortcut where the disk is read."""
    best = _largest(runs, TPCD)
    gains = {workload: gain(runs, workload, SHORTCUT) for workload in (TPCD, CELLO)}
    single = format_rows(
        "{} {:-1%}", ((technique, gain(runs, TPCD, technique)) for technique in SINGLE_TECHNIQUES)
    )
    holds = best == SHORTCUT and gains[CELLO] > 0
    return judge_criterion(holds, best == SHORTCUT).with_numbers(gains=changes_text(gains), single=single)


def w_22(runs: Systems) -> Judgment:
    """LRU compared with both readings of LFUDA."""
    above = {}
    for workload in WORKLOADS:
        rows = runs.rows(REPLACEMENT, workload)
        above[workload] = {
            name: runs.row(workload, ALL).mean_ms / row.mean_ms - 1 for name, row in rows.items()
        }
    details = "; ".join(
        f"{TITLES[workload]} {percent(shares['lfuda'], 1)} % ({percent(shares['lfuda-literal'], 1)} %)"
        for workload, shares in above.items()
    )
    good = [workload for workload, shares in above.items() if shares["lfuda"] <= LRU_BAND]
    return judge_criterion(len(good) >= 3, 2 * len(good) > len(above)).with_numbers(
        details=details, good=len(good), compared=len(above)
    )


def _gain_by_segment(runs: Systems, workload: str, technique: str) -> dict[int, float]:
    """Gain of a technique by the size of segments, without overloaded ones."""
    first = {name: runs.rows(TECHNIQUES, workload)[name] for name in (technique, NONE)}
    rows = runs.rows(SEGMENTS, workload)
    pairs = {SEGMENT_KB[workload]: (first[technique], first[NONE])} | {
        kb: (rows[f"{technique}, {kb} KB"], rows[f"{NONE}, {kb} KB"]) for kb in LARGER_KB
    }
    return {
        kb: 1 - with_it.mean_ms / without.mean_ms
        for kb, (with_it, without) in pairs.items()
        if not with_it.saturated and not without.saturated
    }


def w_27(runs: Systems) -> Judgment:
    """Shortcut and Immediate Report over sizes of segments."""
    details, falls = [], {}
    for workload in (TPCC, CELLO):
        for technique in (SHORTCUT, IREPORT):
            gains = _gain_by_segment(runs, workload, technique)
            shares = [gains[kb] for kb in sorted(gains)]
            falls[workload, technique] = len(shares) > 1 and shares == sorted(shares, reverse=True)
            by_size = format_rows("{1:-1%} at {0} KB", sorted(gains.items()))
            details.append(f"{TITLES[workload]} with {technique} {by_size}")
    return judge_comparisons(falls.values()).with_numbers(
        details=details, falling=sum(falls.values()), compared=len(falls)
    )


def figure_4(runs: Systems) -> list[list[str]]:
    """Figure 4 as the rows of a table."""
    rows = []
    for technique in (SHORTCUT, IREPORT, PWRITE, ALL):
        gains = [f"{percent(-gain(runs, workload, technique), 1)}" for workload in WORKLOADS]
        rows.append([technique, *gains])
    return rows
