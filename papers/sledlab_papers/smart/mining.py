"""Claims on association rules and clustering, and the table of bottlenecks (sections 5.2 to 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import sledlab as sl
from sledlab.job.data.baskets import MarketBaskets

from ..claims import Judgement, depending, judged
from ..wording import each
from .layouts import SCATTERED
from .plan import CLUSTERS, EACH, LETTERS, RULES, UNIVERSE_NODES, UNIVERSES, SmartRuns, universe_suffix
from .published_times import DEVICES, DISK, G3, MEMS, NAMES
from .stages import falls, network_limited

MEASURED, MIN, MAX = 2.5, 1.5, 4.0
"""Cycles of a Pentium III for one cycle of the processor that was timed: taken, least and greatest."""

PAGES = (8.0, 16.0, 32.0, 64.0)
FIGURE_10 = 8.0
SIZES = (4, 32)


def ratio_that_flips(compute_s: float, store_s: float) -> float:
    """The ratio of processors from which computation is the larger part; times add, and are linear in it."""
    return MEASURED * store_s / compute_s


@dataclass(frozen=True)
class Flip:
    """The ratio of processors at which a job turns from I/O-bound to compute-bound."""

    device: str
    ratio: float

    @property
    def letter(self) -> str:
        """The bottleneck over the range of ratios: C, I, or either."""
        return "C" if self.ratio <= MIN else "I" if self.ratio > MAX else "I/C"

    @property
    def taken(self) -> str:
        """The bottleneck at the ratio that is taken."""
        return "C" if self.ratio < MEASURED else "I"

    def __str__(self) -> str:
        """The device and the ratio."""
        where = "at any" if self.ratio <= MIN else f"from {self.ratio:.3g}"
        return f"{NAMES[self.device]} {where}"


def flips(runs: SmartRuns, job: str, nodes: int, page_kb: float | None = None, place: str = "") -> list[Flip]:
    """Turning points of a job on every device."""
    return [
        Flip(
            device,
            ratio_that_flips(
                *(runs.total(part, job, nodes, device, page_kb, place) for part in ("compute", "store"))
            ),
        )
        for device in DEVICES
    ]


def by_universe(runs: SmartRuns) -> dict[int, list[Flip]]:
    """Turning points of apriori-hd, by the number of items."""
    return {
        items: flips(runs, "apriori-hd", UNIVERSE_NODES, place=place)
        for items, place in universes(runs).items()
    }


def universes(runs: SmartRuns) -> dict[int, str]:
    """Places of the runs by number of items; pages are scattered where there are fewer than 1,000 items."""
    fewer = {items: f"{RULES}{universe_suffix(items)}" for items in UNIVERSES}
    measured = {**(fewer if runs.reading is SCATTERED else {}), 1000: ""}
    only = runs.marked("items")
    return {int(only): measured[int(only)]} if only else measured


def ways(runs: SmartRuns) -> dict[str, str]:
    """Places of MAFIA's runs by how records are counted; against each candidate, pages are scattered."""
    measured = {"a tree": "", **({"each candidate": EACH_PLACE} if runs.reading is SCATTERED else {})}
    only = runs.marked("counting")
    return {only: measured[only]} if only else measured


EACH_PLACE = f"{CLUSTERS}{EACH}"
"""Place of MAFIA's runs without a tree of candidates."""


def c_31(_: SmartRuns) -> Judgement:
    """Lengths of the transactions that the job generates, counted."""
    data = MarketBaskets()
    data.prepare(1, 1, lambda what, share: None)
    baskets = data.files(1, 1)["transactions"]
    lengths = np.diff(baskets.span(0, baskets.rows, ()).offsets.astype(int))
    support = sl.record("apriori-cd", 4).parameters["min_support"]
    measured = (round(float(lengths.mean())), int(lengths.max()), len(lengths), support)
    return judged(measured == (20, 25, 100_000, 0.05)).saying(
        mean=lengths.mean(), longest=lengths.max(), transactions=len(lengths), support=support
    )


def c_32(runs: SmartRuns) -> Judgement:
    """The ratio from which each device is compute-bound, by number of items."""
    measured = by_universe(runs)
    bound = {items: all(flip.ratio <= MAX for flip in row) for items, row in measured.items()}
    everywhere = all(flip.letter == "C" for row in measured.values() for flip in row)
    details = each(
        "{0} items: {1}", [(items, ", ".join(map(str, row))) for items, row in measured.items()], "; "
    )
    return depending(everywhere, any(bound.values())).saying(
        details=details,
        minimum=MIN,
        maximum=MAX,
        items=" or ".join(f"{items}" for items, checked in bound.items() if checked),
    )


def c_33(runs: SmartRuns) -> Judgement:
    """I/O by device, and its effect on the total time, by number of items."""
    ordered, totals = [], {}
    for items, place in universes(runs).items():
        store = [runs.total("store", "apriori-hd", UNIVERSE_NODES, d, place=place) for d in DEVICES]
        compute = runs.total("compute", "apriori-hd", UNIVERSE_NODES, G3, place=place)
        ordered.append(falls(store))
        totals[items] = 1 - (compute + store[-1]) / (compute + store[0])
    within = [change < 0.30 for change in totals.values()]
    return judged(all(ordered) and all(within), all(ordered)).saying(
        details=each("{1:.0f} % with {0} items", [(items, 100 * change) for items, change in totals.items()])
    )


def c_34(runs: SmartRuns) -> Judgement:
    """Response with data that grow with nodes."""
    few, many = SIZES
    measured = {
        (job, device): runs.elapsed(job, many, device) / runs.elapsed(job, few, device)
        for job in ("apriori-cd", "apriori-hd")
        for device in DEVICES
    }
    return judged(all(abs(ratio - 1) <= 0.25 for ratio in measured.values())).saying(
        minimum=min(measured.values()), maximum=max(measured.values())
    )


def c_35(runs: SmartRuns) -> Judgement:
    """Response on the disk compared with the other devices."""
    measured = [
        runs.elapsed(job, n, DISK) / runs.elapsed(job, n, device)
        for job in ("apriori-cd", "apriori-hd")
        for n in runs.sizes(job)
        for device in MEMS
    ]
    return judged(min(measured) >= 1).saying(minimum=min(measured), maximum=max(measured))


def c_36(_: SmartRuns) -> Judgement:
    """The records that the job generates."""
    record = sl.record("mafia", 4)
    parameters = record.parameters
    size = sum(record.files["records"])
    shape = tuple(parameters[key] for key in ("records", "dims", "clusters", "cluster_dims"))
    return judged(size == 4_281_782 * 80 and shape == (4_281_782, 20, 5, 5)).saying(bytes=size, p=parameters)


def _turns(runs: SmartRuns, pages: tuple[float, ...]) -> tuple[bool, bool, str]:
    """Whether the disk is I/O-bound and G3 compute-bound: at any ratio, at one; and from which ratio on."""
    everywhere, somewhere, details = [], [], []
    for page in pages:
        for way, place in ways(runs).items():
            row = {flip.device: flip for flip in flips(runs, "mafia", SIZES[0], page, place)}
            everywhere.append(row[G3].letter == "C" and row[DISK].letter == "I")
            somewhere.append(row[G3].ratio <= MAX and row[DISK].ratio > max(MIN, row[G3].ratio))
            details.append(f"{page:g} KB, {way}: {', '.join(map(str, row.values()))}")
    return all(everywhere), any(somewhere), "; ".join(details)


def c_37(runs: SmartRuns) -> Judgement:
    """Bottlenecks with pages of 8 KB."""
    everywhere, somewhere, details = _turns(runs, (FIGURE_10,))
    return depending(everywhere, somewhere).saying(details=details, minimum=MIN, maximum=MAX)


def c_38(runs: SmartRuns) -> Judgement:
    """Bottlenecks with larger pages."""
    everywhere, somewhere, details = _turns(runs, PAGES[1:])
    return depending(everywhere, somewhere).saying(details=details, minimum=MIN, maximum=MAX)


def c_39(runs: SmartRuns) -> Judgement:
    """Computation and I/O by size, disk and G3, pages of 8 KB."""
    sizes = runs.sizes("mafia")
    measured = {
        (part, device): [runs.total(part, "mafia", n, device, FIGURE_10) for n in sizes]
        for part in ("compute", "store")
        for device in (DISK, G3)
    }
    return judged(all(map(falls, measured.values()))).saying(
        details=each(
            "{0} {1:,.3g} to {2:,.3g} s",
            [
                (f"{LETTERS[part]} on {NAMES[device]}", values[0], values[-1])
                for (part, device), values in measured.items()
            ],
        )
    )


def c_40(runs: SmartRuns) -> Judgement:
    """Time by page size."""
    measured = {
        (n, device): [runs.elapsed("mafia", n, device, page) for page in PAGES]
        for n in runs.sizes("mafia")
        for device in DEVICES
    }
    rising = [place for place, times in measured.items() if any(b > a for a, b in pairwise(times))]
    return judged(not rising, len(rising) < len(measured)).saying(
        details=each(
            "{0} {1}",
            [(NAMES[d], ", ".join(f"{t:.3g}" for t in measured[SIZES[0], d])) for d in DEVICES],
            "; ",
        ),
        nodes=SIZES[0],
    )


def c_41(runs: SmartRuns) -> Judgement:
    """Speed-up over one node."""

    def speedup(n: int, device: str) -> float:
        return runs.elapsed("mafia", 1, device, FIGURE_10) / runs.elapsed("mafia", n, device, FIGURE_10)

    few = {device: speedup(4, device) for device in DEVICES}
    better = all(few[DISK] >= few[device] for device in MEMS)
    steps = {
        device: runs.elapsed("mafia", 8, device, FIGURE_10) / runs.elapsed("mafia", 32, device, FIGURE_10)
        for device in DEVICES
    }
    alike = max(steps.values()) / min(steps.values()) <= 1.15
    mems = max(few[d] for d in MEMS) / min(few[d] for d in MEMS) <= 1.15
    return judged(better and alike and mems, better or alike).saying(
        few=each("{0} {1:.2f}", [(NAMES[d], value) for d, value in few.items()]),
        steps=each("{0} {1:.2f}", [(NAMES[d], value) for d, value in steps.items()]),
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
        job: [LETTERS[runs.largest(job, SIZES[1], device)] for device in DEVICES] for job in ("scan", "sort")
    }
    measured["join"] = [
        LETTERS[runs.largest("join", SIZES[1], device)] + (",N" if network_limited(runs, device) else "")
        for device in DEVICES
    ]
    measured["apriori-hd"] = [flip.taken for flip in flips(runs, "apriori-hd", SIZES[1])]
    measured["mafia"] = [flip.taken for flip in flips(runs, "mafia", SIZES[1], FIGURE_10)]
    return {job: measured[job] for job in TABLE_5}


def reachable(runs: SmartRuns) -> dict[str, list[set[str]]]:
    """Values over the range of ratios of the cells that depend on what is open."""
    pages = [flips(runs, "mafia", SIZES[0], page, place) for page in PAGES for place in ways(runs).values()]
    rows = {"apriori-hd": list(by_universe(runs).values()), "mafia": pages}
    return {
        job: [
            {letter for row in measured for letter in row[place].letter.split("/")}
            for place in range(len(DEVICES))
        ]
        for job, measured in rows.items()
    }


def c_42(runs: SmartRuns) -> Judgement:
    """Cells that agree with the paper, at the ratio taken and over the range."""
    measured, open_ = matrix(runs), reachable(runs)
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
    outcome = depending(cells == 20, reached > cells)
    return outcome.saying(
        cells=cells,
        reached=reached,
        rows=each("{0} {1}", [(job, " ".join(row)) for job, row in measured.items()], "; "),
    )
