"""Claims on the three techniques and on replacement (sections 4.2, 6.1 and 6.2; figure 4)."""

from __future__ import annotations

from collections.abc import Mapping

from ...markdown import percent
from ..claims import Verdict, verdict
from ..words import overlaps
from .runs import (
    ALL,
    BUFFER,
    CELLO,
    IREPORT,
    NONE,
    PWRITE,
    REPLACEMENT,
    SEGMENT_KB,
    SEGMENTS,
    SHORTCUT,
    SINGLE,
    TECHNIQUES,
    TITLES,
    TPCC,
    TPCD,
    WORKLOADS,
    Runs,
)

BUFFERED = (1, 256)
"""Segments that the buffer of `paper-001-buffer` holds."""

LARGER_KB = (16, 64)
"""Segments of `paper-001-segments`."""

EQUAL = 1e-9
"""Differences of means that are rounding."""

LRU_BAND = 0.03


def gain(runs: Runs, workload: str, technique: str) -> float:
    """By how much a technique shortens the mean response."""
    return 1 - runs.at(workload, technique) / runs.at(workload, NONE)


def by_workload(gains: Mapping[str, float]) -> str:
    """Changes of response time in a sentence."""
    return ", ".join(f"{TITLES[workload]} {percent(-share, 1)} %" for workload, share in gains.items())


def w_15(runs: Runs) -> Verdict:
    """Shortcut alone."""
    gains = {workload: gain(runs, workload, SHORTCUT) for workload in WORKLOADS}
    parts = []
    for workload in (TPCC, CELLO):
        changes = [
            runs.at(workload, SHORTCUT, measure) / runs.at(workload, NONE, measure) - 1
            for measure in ("read_mean_ms", "write_mean_ms")
        ]
        parts.append(
            f"{TITLES[workload]} reads {percent(changes[0], 1)} %, writes {percent(changes[1], 1)} %"
        )
    ours = f"Mean response against NONE: {by_workload(gains)}. By themselves: {'; '.join(parts)}."
    return verdict(ours, holds=all(share >= -EQUAL for share in gains.values()))


def _buffered(runs: Runs, workload: str) -> dict[int, float]:
    """What Immediate Report is worth by the segments that fit the buffer; overload has no response time."""
    rows = runs.rows(BUFFER, workload)
    pairs = {held: (rows[f"IREPORT, {held}"], rows[f"NONE, {held}"]) for held in BUFFERED}
    return {
        held: 1 - with_it["mean_ms"] / without["mean_ms"]
        for held, (with_it, without) in pairs.items()
        if not without["saturated"] and not with_it["saturated"]
    }


def w_16(runs: Runs) -> Verdict:
    """Immediate Report over sizes of the buffer."""
    found = {workload: _buffered(runs, workload) for workload in (TPCC, CELLO)}
    said = "; ".join(
        f"{TITLES[workload]} "
        + (", ".join(f"{percent(-share, 1)} % with {held}" for held, share in gains.items()) or "overloaded")
        for workload, gains in found.items()
    )
    ours = (
        f"Mean response with Immediate Report alone, by the segments of 8 KB that the buffer holds: {said}."
    )
    lost = [workload for workload, gains in found.items() if _vanishes(gains)]
    return verdict(ours, holds=len(lost) == len(found), partly=bool(lost))


def _vanishes(gains: Mapping[int, float]) -> bool:
    """Whether a gain is there with a full buffer and shrinks with it to a tenth of that or less."""
    shares = [gains[held] for held in BUFFERED if held in gains]
    return len(shares) > 1 and shares[-1] > 0 and abs(shares[0]) <= 0.1 * shares[-1]


def w_18(runs: Runs) -> Verdict:
    """All three."""
    gains = {workload: gain(runs, workload, ALL) for workload in WORKLOADS}
    ours = f"Mean response of ALL against NONE: {by_workload(gains)}."
    holds = min(gains.values()) > 0 and overlaps(gains.values(), 0.10, 0.50)
    return verdict(ours, holds=holds, partly=min(gains.values()) > 0)


def _largest(runs: Runs, workload: str) -> str:
    return max(SINGLE, key=lambda technique: gain(runs, workload, technique))


def w_19(runs: Runs) -> Verdict:
    """Immediate Report alone."""
    gains = {workload: gain(runs, workload, IREPORT) for workload in WORKLOADS}
    best = {workload: _largest(runs, workload) for workload in (TPCC, CELLO)}
    others = ", ".join(
        f"{TITLES[workload]} {technique} {percent(-gain(runs, workload, technique), 1)} %"
        for workload, technique in best.items()
    )
    ours = (
        f"Mean response of IREPORT against NONE: {by_workload(gains)}. The best single technique: {others}."
    )
    helps = all(gains[workload] > 0 for workload in best)
    why = (
        "Immediate Report lets the fetch go before the disk has the victim; Shortcut does that as well, "
        "as it reads a segment into the buffer while the one before it leaves, and answers from there. "
        "What is left for Immediate Report are writes that wait for a slot, and with TPCC nearly all "
        "pages that are written were read shortly before."
    )
    return verdict(ours, holds=helps and IREPORT in best.values(), partly=helps, why=why)


def w_21(runs: Runs) -> Verdict:
    """Shortcut where the disk is read."""
    best = _largest(runs, TPCD)
    gains = {workload: gain(runs, workload, SHORTCUT) for workload in (TPCD, CELLO)}
    single = {technique: gain(runs, TPCD, technique) for technique in SINGLE}
    each = ", ".join(f"{technique} {percent(-share, 1)} %" for technique, share in single.items())
    ours = f"Mean response of SHORTCUT against NONE: {by_workload(gains)}. TPCD with each: {each}."
    return verdict(ours, holds=best == SHORTCUT and gains[CELLO] > 0, partly=best == SHORTCUT)


def w_22(runs: Runs) -> Verdict:
    """LRU beside both readings of LFUDA."""
    above = {}
    for workload in WORKLOADS:
        rows = runs.rows(REPLACEMENT, workload)
        above[workload] = {
            name: runs.row(workload, ALL)["mean_ms"] / row["mean_ms"] - 1 for name, row in rows.items()
        }
    said = "; ".join(
        f"{TITLES[workload]} {percent(shares['lfuda'], 1)} % ({percent(shares['lfuda-literal'], 1)} %)"
        for workload, shares in above.items()
    )
    good = [workload for workload, shares in above.items() if shares["lfuda"] <= LRU_BAND]
    ours = (
        "Mean response of LRU against LFUDA, and against LFUDA as the sentence of the paper has it: "
        f"{said}. LRU is within 3 % or better in {len(good)} of {len(above)}."
    )
    why = (
        "The stand-ins draw places by popularity that stays the same from the first request to the last. "
        "That is what counts of accesses measure, and what a policy by frequency is best at. Real "
        "programs stop using what they used; how fast is not published, and nothing of that kind is in "
        "the stand-ins."
    )
    return verdict(ours, holds=len(good) >= 3, partly=len(good) >= 2, why=why)


def _by_segment(runs: Runs, workload: str, technique: str) -> dict[int, float]:
    """What a technique is worth by the size of segments, where there is no overload."""
    first = {name: runs.rows(TECHNIQUES, workload)[name] for name in (technique, NONE)}
    rows = runs.rows(SEGMENTS, workload)
    pairs = {SEGMENT_KB[workload]: (first[technique], first[NONE])} | {
        kb: (rows[f"{technique}, {kb} KB"], rows[f"{NONE}, {kb} KB"]) for kb in LARGER_KB
    }
    return {
        kb: 1 - with_it["mean_ms"] / without["mean_ms"]
        for kb, (with_it, without) in pairs.items()
        if not with_it["saturated"] and not without["saturated"]
    }


def w_27(runs: Runs) -> Verdict:
    """Shortcut and Immediate Report over sizes of segments."""
    said, falls = [], {}
    for workload in (TPCC, CELLO):
        for technique in (SHORTCUT, IREPORT):
            gains = _by_segment(runs, workload, technique)
            shares = [gains[kb] for kb in sorted(gains)]
            falls[workload, technique] = len(shares) > 1 and shares == sorted(shares, reverse=True)
            each = ", ".join(f"{percent(-gains[kb], 1)} % at {kb} KB" for kb in sorted(gains))
            said.append(f"{TITLES[workload]} with {technique} {each}")
    ours = f"Mean response against NONE with as large segments: {'; '.join(said)}. Overload is left out."
    why = (
        "The buffer does not run out here: 2 MB hold 32 segments of 64 KB, more than are under way at a "
        "time at a load that the disk keeps up with. What Shortcut does not wait for, the victim on its "
        "way to the disk and the copy to the MEMS, takes longer with larger segments, so that it gains "
        "rather than loses."
    )
    return verdict(ours, holds=all(falls.values()), partly=any(falls.values()), why=why)


def figure(runs: Runs) -> list[list[str]]:
    """Figure 4 as the rows of a table."""
    rows = []
    for technique in (SHORTCUT, IREPORT, PWRITE, ALL):
        gains = [f"{percent(-gain(runs, workload, technique), 1)}" for workload in WORKLOADS]
        rows.append([technique, *gains])
    return rows


CLAIMS = {
    "W-15": w_15,
    "W-16": w_16,
    "W-18": w_18,
    "W-19": w_19,
    "W-21": w_21,
    "W-22": w_22,
    "W-27": w_27,
}
