"""Claims on association rules and clustering, and the table of bottlenecks (sections 5.2 to 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import sledlab as sl
from sledlab.job.data.baskets import MarketBaskets

from ..claims import Judgement, depending, judged
from ..words import each
from .plan import CLUSTERS, EACH, LETTERS, RULES, UNIVERSE_NODES, UNIVERSES, SmartRuns, universe_suffix
from .printed import DEVICES, DISK, G3, MEMS, NAMES
from .readings import SCATTERED
from .stages import falls, network_limited

MEASURED, LEAST, MOST = 2.5, 1.5, 4.0
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
        return "C" if self.ratio <= LEAST else "I" if self.ratio > MOST else "I/C"

    @property
    def taken(self) -> str:
        """The bottleneck at the ratio that is taken."""
        return "C" if self.ratio < MEASURED else "I"

    def __str__(self) -> str:
        """The device and the ratio."""
        where = "at any" if self.ratio <= LEAST else f"from {self.ratio:.3g}"
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
    found = {**(fewer if runs.reading is SCATTERED else {}), 1000: ""}
    only = runs.marked("items")
    return {int(only): found[int(only)]} if only else found


def ways(runs: SmartRuns) -> dict[str, str]:
    """Places of MAFIA's runs by how records are counted; against each candidate, pages are scattered."""
    found = {"a tree": "", **({"each candidate": EACH_PLACE} if runs.reading is SCATTERED else {})}
    only = runs.marked("counting")
    return {only: found[only]} if only else found


EACH_PLACE = f"{CLUSTERS}{EACH}"
"""Place of MAFIA's runs without a tree of candidates."""


def c_31(_: SmartRuns) -> Judgement:
    """Lengths of the transactions that the job generates, counted."""
    data = MarketBaskets()
    data.prepare(1, 1, lambda what, share: None)
    baskets = data.files(1, 1)["transactions"]
    lengths = np.diff(baskets.span(0, baskets.rows, ()).offsets.astype(int))
    support = sl.record("apriori-cd", 4).parameters["min_support"]
    found = (round(float(lengths.mean())), int(lengths.max()), len(lengths), support)
    return judged(found == (20, 25, 100_000, 0.05)).saying(
        mean=lengths.mean(), longest=lengths.max(), transactions=len(lengths), support=support
    )


def c_32(runs: SmartRuns) -> Judgement:
    """The ratio from which each device is compute-bound, by number of items."""
    found = by_universe(runs)
    bound = {items: all(flip.ratio <= MOST for flip in row) for items, row in found.items()}
    everywhere = all(flip.letter == "C" for row in found.values() for flip in row)
    said = each("{0} items: {1}", [(items, ", ".join(map(str, row))) for items, row in found.items()], "; ")
    return depending(everywhere, any(bound.values())).saying(
        said=said,
        least=LEAST,
        most=MOST,
        items=" or ".join(f"{items}" for items, held in bound.items() if held),
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
        said=each("{1:.0f} % with {0} items", [(items, 100 * change) for items, change in totals.items()])
    )


def c_34(runs: SmartRuns) -> Judgement:
    """Response with data that grow with nodes."""
    few, many = SIZES
    found = {
        (job, device): runs.elapsed(job, many, device) / runs.elapsed(job, few, device)
        for job in ("apriori-cd", "apriori-hd")
        for device in DEVICES
    }
    return judged(all(abs(ratio - 1) <= 0.25 for ratio in found.values())).saying(
        least=min(found.values()), most=max(found.values())
    )


def c_35(runs: SmartRuns) -> Judgement:
    """Response on the disk compared with the other devices."""
    found = [
        runs.elapsed(job, n, DISK) / runs.elapsed(job, n, device)
        for job in ("apriori-cd", "apriori-hd")
        for n in runs.sizes(job)
        for device in MEMS
    ]
    return judged(min(found) >= 1).saying(least=min(found), most=max(found))


def c_36(_: SmartRuns) -> Judgement:
    """The records that the job generates."""
    record = sl.record("mafia", 4)
    parameters = record.parameters
    size = sum(record.files["records"])
    shape = tuple(parameters[key] for key in ("records", "dims", "clusters", "cluster_dims"))
    return judged(size == 4_281_782 * 80 and shape == (4_281_782, 20, 5, 5)).saying(bytes=size, p=parameters)


def _turns(runs: SmartRuns, pages: tuple[float, ...]) -> tuple[bool, bool, str]:
    """Whether the disk is I/O-bound and G3 compute-bound: at any ratio, at one; and from which ratio on."""
    everywhere, somewhere, said = [], [], []
    for page in pages:
        for way, place in ways(runs).items():
            row = {flip.device: flip for flip in flips(runs, "mafia", SIZES[0], page, place)}
            everywhere.append(row[G3].letter == "C" and row[DISK].letter == "I")
            somewhere.append(row[G3].ratio <= MOST and row[DISK].ratio > max(LEAST, row[G3].ratio))
            said.append(f"{page:g} KB, {way}: {', '.join(map(str, row.values()))}")
    return all(everywhere), any(somewhere), "; ".join(said)


def c_37(runs: SmartRuns) -> Judgement:
    """Bottlenecks with pages of 8 KB."""
    everywhere, somewhere, said = _turns(runs, (FIGURE_10,))
    return depending(everywhere, somewhere).saying(said=said, least=LEAST, most=MOST)


def c_38(runs: SmartRuns) -> Judgement:
    """Bottlenecks with larger pages."""
    everywhere, somewhere, said = _turns(runs, PAGES[1:])
    return depending(everywhere, somewhere).saying(said=said, least=LEAST, most=MOST)


def c_39(runs: SmartRuns) -> Judgement:
    """Computation and I/O by size, disk and G3, pages of 8 KB."""
    sizes = runs.sizes("mafia")
    found = {
        (part, device): [runs.total(part, "mafia", n, device, FIGURE_10) for n in sizes]
        for part in ("compute", "store")
        for device in (DISK, G3)
    }
    return judged(all(map(falls, found.values()))).saying(
        said=each(
            "{0} {1:,.3g} to {2:,.3g} s",
            [
                (f"{LETTERS[part]} on {NAMES[device]}", values[0], values[-1])
                for (part, device), values in found.items()
            ],
        )
    )


def c_40(runs: SmartRuns) -> Judgement:
    """Time by page size."""
    found = {
        (n, device): [runs.elapsed("mafia", n, device, page) for page in PAGES]
        for n in runs.sizes("mafia")
        for device in DEVICES
    }
    rising = [place for place, times in found.items() if any(b > a for a, b in pairwise(times))]
    return judged(not rising, len(rising) < len(found)).saying(
        said=each(
            "{0} {1}",
            [(NAMES[d], ", ".join(f"{t:.3g}" for t in found[SIZES[0], d])) for d in DEVICES],
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
    found = {
        job: [LETTERS[runs.largest(job, SIZES[1], device)] for device in DEVICES] for job in ("scan", "sort")
    }
    found["join"] = [
        LETTERS[runs.largest("join", SIZES[1], device)] + (",N" if network_limited(runs, device) else "")
        for device in DEVICES
    ]
    found["apriori-hd"] = [flip.taken for flip in flips(runs, "apriori-hd", SIZES[1])]
    found["mafia"] = [flip.taken for flip in flips(runs, "mafia", SIZES[1], FIGURE_10)]
    return {job: found[job] for job in TABLE_5}


def reachable(runs: SmartRuns) -> dict[str, list[set[str]]]:
    """Values over the range of ratios of the cells that depend on what is open."""
    pages = [flips(runs, "mafia", SIZES[0], page, place) for page in PAGES for place in ways(runs).values()]
    rows = {"apriori-hd": list(by_universe(runs).values()), "mafia": pages}
    return {
        job: [
            {letter for row in found for letter in row[place].letter.split("/")}
            for place in range(len(DEVICES))
        ]
        for job, found in rows.items()
    }


def c_42(runs: SmartRuns) -> Judgement:
    """Cells that agree with the paper, at the ratio taken and over the range."""
    found, open_ = matrix(runs), reachable(runs)
    agree = {
        job: [ours == wanted for ours, wanted in zip(row, TABLE_5[job].split(" "), strict=True)]
        for job, row in found.items()
    }
    could = {
        job: [wanted in each for each, wanted in zip(open_[job], TABLE_5[job].split(" "), strict=True)]
        if job in open_
        else agree[job]
        for job in found
    }
    cells, reached = (sum(map(sum, rows.values())) for rows in (agree, could))
    outcome = depending(cells == 20, reached > cells)
    return outcome.saying(
        cells=cells,
        reached=reached,
        rows=each("{0} {1}", [(job, " ".join(row)) for job, row in found.items()], "; "),
    )
