"""Claims on association rules and clustering, and the table of bottlenecks (sections 5.2 to 5.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import sledlab as sl
from sledlab.job.data.baskets import MarketBaskets
from sledlab.reproduction.verdicts import MET, NEARLY_MET, NumberTable

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_range
from ..wording import format_number, number_table
from .device_tables import device_table
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
from .published_times import DEVICES, DISK, G3, MEMS, NAMES, PART_NAMES
from .stages import is_falling, network_limited_sizes

CLOCK_RATIO, MIN_CLOCK_RATIO, MAX_CLOCK_RATIO = 2.5, 1.5, 4.0
"""Cycles of a Pentium III for one cycle of the processor that was timed: taken, least and greatest."""

MIN_LEAD = 0.02
"""Relative difference of speed-ups from which on one is better."""

DEFAULT_ITEMS, DEFAULT_COUNTING = 1000, "a tree"
"""The number of items, and how records are counted in candidates, of the paper's set of assumptions."""

PAGES = (8.0, 16.0, 32.0, 64.0)
FIGURE_10_PAGE_KB = 8.0
FIGURE_11_PAGES = (8.0, 64.0)
ALIKE = 0.15
"""Greatest relative difference of speed-ups that are alike."""

SIZES = (4, 32)

RULES_STAGE = "rules"
"""The stage after the counting of frequent sets, which is all that the paper evaluates of mining."""


def flip_ratio(compute_s: float, *other_parts_s: float) -> float:
    """The ratio of processors from which computation is the largest part; it is linear in the ratio."""
    return CLOCK_RATIO * max(other_parts_s) / compute_s


def flip_table(row_head: str, flips_by_row: Mapping[str, Sequence[Flip]]) -> NumberTable:
    """Ratios of processors at which a job turns, by device."""
    title = "Ratio of cycles from which computation is the largest component"
    ratios_by_row = {name: [flip.ratio for flip in row] for name, row in flips_by_row.items()}
    return device_table(title, row_head, ratios_by_row)


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


def flips(
    runs: SmartRuns,
    job: str,
    nodes: int,
    page_kb: float | None = None,
    place: str = "",
    store_place: str | None = None,
) -> list[Flip]:
    """Turning points of a job on every device; its I/O may be that of another place."""
    places = {"compute": place, "store": place if store_place is None else store_place, "network": place}
    return [
        Flip(
            device,
            flip_ratio(
                *(mining_part_s(runs, part, job, nodes, device, page_kb, places[part]) for part in places)
            ),
        )
        for device in DEVICES
    ]


def mining_part_s(
    runs: SmartRuns,
    part: str,
    job: str,
    nodes: int,
    device: str,
    page_kb: float | None = None,
    place: str = "",
) -> float:
    """Time of a component as `SmartRuns.total`, in s, without `RULES_STAGE`."""
    stages = runs.stages(job, nodes, device, page_kb, place)
    return sum(stage.part(part) for name, stage in stages.items() if name != RULES_STAGE)


def flips_by_universe(runs: SmartRuns) -> dict[int, list[Flip]]:
    """Turning points of apriori-hd, by the number of items."""
    return {
        items: flips(runs, "apriori-hd", UNIVERSE_NODES, place=place)
        for items, place in universe_places(runs).items()
    }


def universe_places(runs: SmartRuns) -> dict[int, str]:
    """Places of the runs by number of items."""
    places = {**{items: f"{RULES}{universe_suffix(items)}" for items in UNIVERSES}, DEFAULT_ITEMS: ""}
    selected_count = runs.mark_value("items")
    return {int(selected_count): places[int(selected_count)]} if selected_count else places


def counting_places(runs: SmartRuns) -> dict[str, str]:
    """Places of MAFIA's runs by how records are counted."""
    places = {DEFAULT_COUNTING: "", "each candidate": CANDIDATE_PLACE}
    selected_way = runs.mark_value("counting")
    return {selected_way: places[selected_way]} if selected_way else places


CANDIDATE_PLACE = f"{CLUSTERS}{CANDIDATE_SUFFIX}"
"""Place of MAFIA's runs without a tree of candidates."""


def c_31(_: SmartRuns) -> Judgment:
    """Lengths of the transactions that the job generates, counted."""
    data = MarketBaskets()
    data.prepare(1, 1, lambda what, share: None)
    baskets = data.files(1, 1)["transactions"]
    lengths = np.diff(baskets.span(0, baskets.rows, ()).offsets.astype(int))
    support = sl.record("apriori-cd", 4).parameters["min_support"]
    statistics = (round(float(lengths.mean())), int(lengths.max()), len(lengths), support)
    return judge_criterion(statistics == (20, 25, 100_000, 0.05)).with_numbers(
        mean=lengths.mean(), longest=lengths.max(), transactions=len(lengths), support=support
    )


def c_32(runs: SmartRuns) -> Judgment:
    """The ratio from which each device is compute-bound, by number of items."""
    flips_by_items = flips_by_universe(runs)
    is_compute_bound = {
        items: all(flip.ratio <= MAX_CLOCK_RATIO for flip in row) for items, row in flips_by_items.items()
    }
    holds_everywhere = all(flip.letter == "C" for row in flips_by_items.values() for flip in row)
    ratios = flip_table("items", {f"{items:,}": row for items, row in flips_by_items.items()})
    return (
        judge_range(holds_everywhere, any(is_compute_bound.values()))
        .with_tables(ratios)
        .with_numbers(
            minimum=MIN_CLOCK_RATIO,
            maximum=MAX_CLOCK_RATIO,
            items=" or ".join(f"{items}" for items, is_bound in is_compute_bound.items() if is_bound) or "no",
        )
    )


def c_36(_: SmartRuns) -> Judgment:
    """The records that the job generates."""
    work_record = sl.record("mafia", 4)
    parameters = work_record.parameters
    record_bytes = sum(work_record.files["records"])
    shape = tuple(parameters[key] for key in ("records", "dims", "clusters", "cluster_dims"))
    return judge_criterion(record_bytes == 4_281_782 * 80 and shape == (4_281_782, 20, 5, 5)).with_numbers(
        bytes=record_bytes, p=parameters
    )


def _turns(runs: SmartRuns, page: float) -> tuple[bool, bool, dict[str, list[Flip]]]:
    """Whether the disk is I/O-bound and G3 compute-bound: at any ratio, at one; and turning points."""
    are_certain, are_possible, flips_by_case = [], [], {}
    for counting, place in counting_places(runs).items():
        # How records are counted changes no request: one run of each order of pages has the I/O of both.
        flips_by_case[f"{page:g} KB, {counting}"] = flips(
            runs, "mafia", SIZES[0], page, place, store_place=""
        )
        flip_by_device = {flip.device: flip for flip in flips_by_case[f"{page:g} KB, {counting}"]}
        are_certain.append(flip_by_device[G3].letter == "C" and flip_by_device[DISK].letter == "I")
        are_possible.append(
            flip_by_device[G3].ratio <= MAX_CLOCK_RATIO
            and flip_by_device[DISK].ratio > max(MIN_CLOCK_RATIO, flip_by_device[G3].ratio)
        )
    return all(are_certain), any(are_possible), flips_by_case


def c_37(runs: SmartRuns) -> Judgment:
    """Bottlenecks with pages of 8 KB."""
    holds_everywhere, holds_somewhere, flips_by_case = _turns(runs, FIGURE_10_PAGE_KB)
    judgment = judge_range(holds_everywhere, holds_somewhere).with_tables(
        flip_table("page, counted by", flips_by_case)
    )
    return judgment.with_numbers(
        least=min(flip.ratio for row in flips_by_case.values() for flip in row),
        minimum=MIN_CLOCK_RATIO,
        maximum=MAX_CLOCK_RATIO,
    )


def c_38(runs: SmartRuns) -> Judgment:
    """Bottlenecks with larger pages."""
    turns = [_turns(runs, page) for page in PAGES[1:]]
    holds_everywhere, are_possible = all(turn[0] for turn in turns), [turn[1] for turn in turns]
    flips_by_case = {name: row for turn in turns for name, row in turn[2].items()}
    turned_pages = ", ".join(
        f"{page:g} KB" for page, is_possible in zip(PAGES[1:], are_possible, strict=True) if is_possible
    )
    judgment = judge_range(holds_everywhere, all(are_possible), direction_holds=any(are_possible))
    return judgment.with_tables(flip_table("page, counted by", flips_by_case)).with_numbers(
        turned=turned_pages or "no pages", minimum=MIN_CLOCK_RATIO, maximum=MAX_CLOCK_RATIO
    )


def c_39(runs: SmartRuns) -> Judgment:
    """Computation and I/O by size, disk and G3, pages of 8 KB."""
    sizes = runs.sizes("mafia")
    times_s = {
        (part, device): [runs.total(part, "mafia", n, device, FIGURE_10_PAGE_KB) for n in sizes]
        for part in ("compute", "store")
        for device in (DISK, G3)
    }
    rows = [
        [f"{PART_NAMES[part]}, {NAMES[device]}", *map(format_number, values)]
        for (part, device), values in times_s.items()
    ]
    columns = " | ".join(["nodes", *map(str, sizes)])
    judgment = judge_criterion(all(map(is_falling, times_s.values()))).with_tables(
        number_table("Times of MAFIA, s", columns, rows)
    )
    return judgment.with_numbers(few=sizes[0], many=sizes[-1])


def c_40(runs: SmartRuns) -> Judgment:
    """Time by page size."""
    times_s = {
        (n, device): [runs.job_time_s("mafia", n, device, page) for page in PAGES]
        for n in runs.sizes("mafia")
        for device in DEVICES
    }
    rising_cases = [case for case, times in times_s.items() if any(b > a for a, b in pairwise(times))]
    times_by_page = {
        f"{page:g}": [times_s[SIZES[0], device][i] for device in DEVICES] for i, page in enumerate(PAGES)
    }
    judgment = judge_criterion(not rising_cases, len(rising_cases) < len(times_s)).with_tables(
        device_table(f"Time of MAFIA on {SIZES[0]} nodes, s", "page (KB)", times_by_page)
    )
    return judgment.with_numbers(rising=len(rising_cases), cases=len(times_s))


def c_41(runs: SmartRuns) -> Judgment:
    """Speed-up over one node with both page sizes of figure 11."""
    cases = {page: _scaling(runs, page) for page in FIGURE_11_PAGES}
    holds = [
        holds
        for scaling in cases.values()
        for holds in (scaling.disk_lead >= MIN_LEAD, scaling.apart <= ALIKE, scaling.mems_apart <= ALIKE)
    ]
    rows = {
        f"{nodes}, pages of {page:g} KB": speedups
        for page, scaling in cases.items()
        for nodes, speedups in (("1 to 4", scaling.on_4), ("8 to 32", scaling.from_8))
    }
    judgment = judge_criterion(all(holds), any(holds)).with_tables(
        device_table("Speed-up of MAFIA", "nodes", rows, "{:.2f}")
    )
    return judgment.with_numbers(cases=cases)


@dataclass(frozen=True)
class _Scaling:
    """Speed-ups of MAFIA by device, and how far they differ."""

    on_4: list[float]
    from_8: list[float]
    disk_lead: float
    apart: float
    mems_apart: float


def _scaling(runs: SmartRuns, page_kb: float) -> _Scaling:
    def speedups(first: int, last: int) -> dict[str, float]:
        return {
            device: runs.job_time_s("mafia", first, device, page_kb)
            / runs.job_time_s("mafia", last, device, page_kb)
            for device in DEVICES
        }

    def spread(values: Collection[float]) -> float:
        return max(values) / min(values) - 1

    on_4, from_8 = speedups(1, 4), speedups(8, 32)
    mems_on_4 = [on_4[device] for device in MEMS]
    beyond_8 = [speedups(1, n) for n in runs.sizes("mafia") if n > 8]
    return _Scaling(
        on_4=list(on_4.values()),
        from_8=list(from_8.values()),
        disk_lead=on_4[DISK] / max(mems_on_4) - 1,
        apart=max(spread(each.values()) for each in (*beyond_8, from_8)),
        mems_apart=spread(mems_on_4),
    )


TABLE_5 = {
    "scan": "I I I I",
    "join": "I I,N I,N I,N",
    "sort": "I I I I",
    "apriori-hd": "C C C C",
    "mafia": "I C C C",
}


def bottleneck_letters(runs: SmartRuns) -> dict[str, list[str]]:
    """Table 5 at the ratio that is taken, on most nodes, of apriori-hd on `UNIVERSE_NODES`.

    A join with a network-limited stage has an N too.
    """
    letters = {
        job: [LETTERS[runs.largest_part(job, SIZES[1], device)] for device in DEVICES]
        for job in ("scan", "sort")
    }
    letters["join"] = [
        LETTERS[runs.largest_part("join", SIZES[1], device)]
        + (",N" if network_limited_sizes(runs, device) else "")
        for device in DEVICES
    ]
    universe_place = universe_places(runs)[int(runs.mark_value("items") or DEFAULT_ITEMS)]
    counting_place = counting_places(runs)[runs.mark_value("counting") or DEFAULT_COUNTING]
    rule_flips = flips(runs, "apriori-hd", UNIVERSE_NODES, place=universe_place)
    cluster_flips = flips(runs, "mafia", SIZES[1], FIGURE_10_PAGE_KB, counting_place)
    letters["apriori-hd"] = [flip.letter_at_ratio for flip in rule_flips]
    letters["mafia"] = [flip.letter_at_ratio for flip in cluster_flips]
    return {job: letters[job] for job in TABLE_5}


def possible_letters(runs: SmartRuns) -> dict[str, list[set[str]]]:
    """Possible letters of mining and clustering with all items, ways of counting and clock ratios."""
    mafia_flips = [
        flips(runs, "mafia", SIZES[1], FIGURE_10_PAGE_KB, place) for place in counting_places(runs).values()
    ]
    flips_by_job = {"apriori-hd": list(flips_by_universe(runs).values()), "mafia": mafia_flips}
    return {
        job: [
            {letter for row in job_flips for letter in row[i].letter.split("/")} for i in range(len(DEVICES))
        ]
        for job, job_flips in flips_by_job.items()
    }


def c_42(runs: SmartRuns) -> Judgment:
    """Cells that agree with the paper, at the ratio taken and over the range.

    Cells with a C or an N decide the direction: a model that is I/O-bound everywhere agrees in the others.
    """
    letters, possible = bottleneck_letters(runs), possible_letters(runs)
    published = {job: text.split(" ") for job, text in TABLE_5.items()}
    agreements = {
        (job, i): letters[job][i] == letter for job, row in published.items() for i, letter in enumerate(row)
    }
    not_io_bound = [agrees for (job, i), agrees in agreements.items() if published[job][i] != "I"]
    reached = sum(
        published[job][i] in possible[job][i] if job in possible else agrees
        for (job, i), agrees in agreements.items()
    )
    letter_texts = {
        job: [
            letter if agreements[job, i] else f"{letter}, not {published[job][i]}"
            for i, letter in enumerate(row)
        ]
        for job, row in letters.items()
    }
    judgment = judge_comparisons(agreements.values())
    if judgment.outcome not in (MET, NEARLY_MET):
        judgment = judge_comparisons(not_io_bound, rest_holds=False)
    title = f"Largest component on {SIZES[1]} nodes, of apriori-hd on {UNIVERSE_NODES}"
    return judgment.with_tables(device_table(title, "job", letter_texts, "{}")).with_numbers(
        agreeing=sum(agreements.values()),
        reached=reached,
        not_io_bound=len(not_io_bound),
        agreeing_not_io_bound=sum(not_io_bound),
    )
