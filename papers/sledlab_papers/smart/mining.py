"""Claims on association rules and clustering, and the table of bottlenecks (sections 5.2 to 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import sledlab as sl
from sledlab.job.data.baskets import MarketBaskets

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_range
from ..wording import format_rows
from .layouts import SCATTERED_PAGES
from .plan import (
    CANDIDATE_SUFFIX,
    CLUSTERS,
    LETTERS,
    RULES,
    UNIVERSE_NODES,
    UNIVERSES,
    SmartRuns,
    universe_suffix,
)
from .published_times import DEVICES, DISK, G3, MEMS, NAMES
from .stages import is_falling, network_limited_sizes

CLOCK_RATIO, MIN_CLOCK_RATIO, MAX_CLOCK_RATIO = 2.5, 1.5, 4.0
"""Cycles of a Pentium III for one cycle of the processor that was timed: taken, least and greatest."""

MIN_LEAD = 0.02
"""Relative difference of speed-ups from which on one is better."""

PAGES = (8.0, 16.0, 32.0, 64.0)
FIGURE_10_PAGE_KB = 8.0
SIZES = (4, 32)


def flip_ratio(compute_s: float, store_s: float) -> float:
    """The ratio of processors from which computation is the larger part; times add, and are linear in it."""
    return CLOCK_RATIO * store_s / compute_s


@dataclass(frozen=True)
class Flip:
    """The ratio of processors at which a job turns from I/O-bound to compute-bound."""

    device: str
    ratio: float

    @property
    def letter(self) -> str:
        """The bottleneck over the range of ratios: C, I, or either."""
        return "C" if self.ratio <= MIN_CLOCK_RATIO else "I" if self.ratio > MAX_CLOCK_RATIO else "I/C"

    @property
    def letter_at_ratio(self) -> str:
        """The bottleneck at the ratio that is taken."""
        return "C" if self.ratio < CLOCK_RATIO else "I"

    def __str__(self) -> str:
        """The device and the ratio."""
        where = "at any" if self.ratio <= MIN_CLOCK_RATIO else f"from {self.ratio:.3g}"
        return f"{NAMES[self.device]} {where}"


def flips(runs: SmartRuns, job: str, nodes: int, page_kb: float | None = None, place: str = "") -> list[Flip]:
    """Turning points of a job on every device."""
    return [
        Flip(
            device,
            flip_ratio(
                *(runs.total(part, job, nodes, device, page_kb, place) for part in ("compute", "store"))
            ),
        )
        for device in DEVICES
    ]


def flips_by_universe(runs: SmartRuns) -> dict[int, list[Flip]]:
    """Turning points of apriori-hd, by the number of items."""
    return {
        items: flips(runs, "apriori-hd", UNIVERSE_NODES, place=place)
        for items, place in universe_places(runs).items()
    }


def universe_places(runs: SmartRuns) -> dict[int, str]:
    """Places of the runs by number of items; pages are scattered where there are fewer than 1,000 items."""
    fewer = {items: f"{RULES}{universe_suffix(items)}" for items in UNIVERSES}
    measured = {**(fewer if runs.reading is SCATTERED_PAGES else {}), 1000: ""}
    only = runs.mark_value("items")
    return {int(only): measured[int(only)]} if only else measured


def counting_places(runs: SmartRuns) -> dict[str, str]:
    """Places of MAFIA's runs by how records are counted; against each candidate, pages are scattered."""
    measured = {
        "a tree": "",
        **({"each candidate": CANDIDATE_PLACE} if runs.reading is SCATTERED_PAGES else {}),
    }
    only = runs.mark_value("counting")
    return {only: measured[only]} if only else measured


CANDIDATE_PLACE = f"{CLUSTERS}{CANDIDATE_SUFFIX}"
"""Place of MAFIA's runs without a tree of candidates."""


def c_31(_: SmartRuns) -> Judgment:
    """Lengths of the transactions that the job generates, counted."""
    data = MarketBaskets()
    data.prepare(1, 1, lambda what, share: None)
    baskets = data.files(1, 1)["transactions"]
    lengths = np.diff(baskets.span(0, baskets.rows, ()).offsets.astype(int))
    support = sl.record("apriori-cd", 4).parameters["min_support"]
    measured = (round(float(lengths.mean())), int(lengths.max()), len(lengths), support)
    return judge_criterion(measured == (20, 25, 100_000, 0.05)).with_numbers(
        mean=lengths.mean(), longest=lengths.max(), transactions=len(lengths), support=support
    )


def c_32(runs: SmartRuns) -> Judgment:
    """The ratio from which each device is compute-bound, by number of items."""
    measured = flips_by_universe(runs)
    bound = {items: all(flip.ratio <= MAX_CLOCK_RATIO for flip in row) for items, row in measured.items()}
    everywhere = all(flip.letter == "C" for row in measured.values() for flip in row)
    details = format_rows(
        "{0} items: {1}", [(items, ", ".join(map(str, row))) for items, row in measured.items()], "; "
    )
    return judge_range(everywhere, any(bound.values())).with_numbers(
        details=details,
        minimum=MIN_CLOCK_RATIO,
        maximum=MAX_CLOCK_RATIO,
        items=" or ".join(f"{items}" for items, checked in bound.items() if checked) or "no",
    )


def c_36(_: SmartRuns) -> Judgment:
    """The records that the job generates."""
    record = sl.record("mafia", 4)
    parameters = record.parameters
    size = sum(record.files["records"])
    shape = tuple(parameters[key] for key in ("records", "dims", "clusters", "cluster_dims"))
    return judge_criterion(size == 4_281_782 * 80 and shape == (4_281_782, 20, 5, 5)).with_numbers(
        bytes=size, p=parameters
    )


def _turns(runs: SmartRuns, pages: tuple[float, ...]) -> tuple[bool, bool, str]:
    """Whether the disk is I/O-bound and G3 compute-bound: at any ratio, at one; and from which ratio on."""
    everywhere, somewhere, details = [], [], []
    for page in pages:
        for way, place in counting_places(runs).items():
            row = {flip.device: flip for flip in flips(runs, "mafia", SIZES[0], page, place)}
            everywhere.append(row[G3].letter == "C" and row[DISK].letter == "I")
            somewhere.append(
                row[G3].ratio <= MAX_CLOCK_RATIO and row[DISK].ratio > max(MIN_CLOCK_RATIO, row[G3].ratio)
            )
            details.append(f"{page:g} KB, {way}: {', '.join(map(str, row.values()))}")
    return all(everywhere), any(somewhere), "; ".join(details)


def c_37(runs: SmartRuns) -> Judgment:
    """Bottlenecks with pages of 8 KB."""
    everywhere, somewhere, details = _turns(runs, (FIGURE_10_PAGE_KB,))
    return judge_range(everywhere, somewhere).with_numbers(
        details=details, minimum=MIN_CLOCK_RATIO, maximum=MAX_CLOCK_RATIO
    )


def c_38(runs: SmartRuns) -> Judgment:
    """Bottlenecks with larger pages."""
    turns = [_turns(runs, (page,)) for page in PAGES[1:]]
    everywhere, somewhere = all(turn[0] for turn in turns), [turn[1] for turn in turns]
    details = "; ".join(turn[2] for turn in turns)
    turned = ", ".join(f"{page:g} KB" for page, flips in zip(PAGES[1:], somewhere, strict=True) if flips)
    return judge_range(everywhere, all(somewhere), direction=any(somewhere)).with_numbers(
        turned=turned or "no pages", details=details, minimum=MIN_CLOCK_RATIO, maximum=MAX_CLOCK_RATIO
    )


def c_39(runs: SmartRuns) -> Judgment:
    """Computation and I/O by size, disk and G3, pages of 8 KB."""
    sizes = runs.sizes("mafia")
    measured = {
        (part, device): [runs.total(part, "mafia", n, device, FIGURE_10_PAGE_KB) for n in sizes]
        for part in ("compute", "store")
        for device in (DISK, G3)
    }
    return judge_criterion(all(map(is_falling, measured.values()))).with_numbers(
        details=format_rows(
            "{0} {1:,.3g} to {2:,.3g} s",
            [
                (f"{LETTERS[part]} on {NAMES[device]}", values[0], values[-1])
                for (part, device), values in measured.items()
            ],
        )
    )


def c_40(runs: SmartRuns) -> Judgment:
    """Time by page size."""
    measured = {
        (n, device): [runs.job_time_s("mafia", n, device, page) for page in PAGES]
        for n in runs.sizes("mafia")
        for device in DEVICES
    }
    rising = [place for place, times in measured.items() if any(b > a for a, b in pairwise(times))]
    return judge_criterion(not rising, len(rising) < len(measured)).with_numbers(
        details=format_rows(
            "{0} {1}",
            [(NAMES[d], ", ".join(f"{t:.3g}" for t in measured[SIZES[0], d])) for d in DEVICES],
            "; ",
        ),
        nodes=SIZES[0],
    )


def c_41(runs: SmartRuns) -> Judgment:
    """Speed-up over one node."""

    def speedup(n: int, device: str) -> float:
        return runs.job_time_s("mafia", 1, device, FIGURE_10_PAGE_KB) / runs.job_time_s(
            "mafia", n, device, FIGURE_10_PAGE_KB
        )

    few = {device: speedup(4, device) for device in DEVICES}
    better = all(few[DISK] >= (1 + MIN_LEAD) * few[device] for device in MEMS)
    steps = {
        device: runs.job_time_s("mafia", 8, device, FIGURE_10_PAGE_KB)
        / runs.job_time_s("mafia", 32, device, FIGURE_10_PAGE_KB)
        for device in DEVICES
    }
    many = [[speedup(n, device) for device in DEVICES] for n in runs.sizes("mafia") if n > 8]
    alike = max(max(row) / min(row) for row in [*many, list(steps.values())]) <= 1.15
    mems = max(few[d] for d in MEMS) / min(few[d] for d in MEMS) <= 1.15
    return judge_criterion(better and alike and mems, better or alike).with_numbers(
        few=format_rows("{0} {1:.2f}", [(NAMES[d], value) for d, value in few.items()]),
        steps=format_rows("{0} {1:.2f}", [(NAMES[d], value) for d, value in steps.items()]),
        apart=max(max(row) / min(row) for row in many) - 1,
    )


TABLE_5 = {
    "scan": "I I I I",
    "join": "I I,N I,N I,N",
    "sort": "I I I I",
    "apriori-hd": "C C C C",
    "mafia": "I C C C",
}


def matrix(runs: SmartRuns) -> dict[str, list[str]]:
    """Table 5 at the ratio that is taken, on most nodes; a join with a network-limited stage has an N too."""
    measured = {
        job: [LETTERS[runs.largest_part(job, SIZES[1], device)] for device in DEVICES]
        for job in ("scan", "sort")
    }
    measured["join"] = [
        LETTERS[runs.largest_part("join", SIZES[1], device)]
        + (",N" if network_limited_sizes(runs, device) else "")
        for device in DEVICES
    ]
    # Other numbers of items were run on 8 nodes.
    items, counting = runs.mark_value("items"), runs.mark_value("counting")
    universe = universe_places(runs)[int(items)] if items else ""
    counted = counting_places(runs)[counting] if counting else ""
    nodes = UNIVERSE_NODES if items else SIZES[1]
    rules = flips(runs, "apriori-hd", nodes, place=universe)
    clusters = flips(runs, "mafia", SIZES[1], FIGURE_10_PAGE_KB, counted)
    measured["apriori-hd"] = [flip.letter_at_ratio for flip in rules]
    measured["mafia"] = [flip.letter_at_ratio for flip in clusters]
    return {job: measured[job] for job in TABLE_5}


def possible_letters(runs: SmartRuns) -> dict[str, list[set[str]]]:
    """Values over the range of ratios of the cells that depend on what is open."""
    pages = [
        flips(runs, "mafia", SIZES[0], page, place)
        for page in PAGES
        for place in counting_places(runs).values()
    ]
    rows = {"apriori-hd": list(flips_by_universe(runs).values()), "mafia": pages}
    return {
        job: [
            {letter for row in measured for letter in row[place].letter.split("/")}
            for place in range(len(DEVICES))
        ]
        for job, measured in rows.items()
    }


def c_42(runs: SmartRuns) -> Judgment:
    """Cells that agree with the paper, at the ratio taken and over the range."""
    measured, open_ = matrix(runs), possible_letters(runs)
    agree = {
        job: [ours == expected for ours, expected in zip(row, TABLE_5[job].split(" "), strict=True)]
        for job, row in measured.items()
    }
    could = {
        job: [expected in each for each, expected in zip(open_[job], TABLE_5[job].split(" "), strict=True)]
        if job in open_
        else agree[job]
        for job in measured
    }
    cells, reached = (sum(map(sum, rows.values())) for rows in (agree, could))
    return judge_comparisons(cell for row in agree.values() for cell in row).with_numbers(
        cells=cells,
        reached=reached,
        rows=format_rows("{0} {1}", [(job, " ".join(row)) for job, row in measured.items()], "; "),
    )
