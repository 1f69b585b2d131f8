"""A hybrid study in words and tables: the same on the terminal, in notebooks and in the report."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from sledlab.show import wording
from sledlab.show.document import Collapsible, Document, Facts, Grid, Heading, Text, grid
from sledlab.show.money import money
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import Ranking
from sledlab.show.sections import Section, draw_section
from sledlab.show.wording import (
    figure,
    interval,
    join_names,
    mark_overloaded,
    milliseconds,
    percent,
    share,
    size,
    times,
)
from sledlab.studies.hybrid import figures
from sledlab.studies.stores.configurations import CONFIGURATIONS, DISK, MIRROR, UNCACHED
from sledlab.studies.stores.plan import EQUAL_SHARE
from sledlab.studies.stores.rows import StoreRow, controller_cache_sentence, disk_gains_text, facts, title
from sledlab.study.axes import depends_on_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.hybrid.tables import ComparedConfiguration, HybridStudy

    Cells = Mapping[str, Callable[[Any], str]]

R = TypeVar("R", bound=StoreRow)


def answer(study: HybridStudy) -> str:
    """The answer: the controller cache of all stores, warnings, and the store that the study recommends."""
    sentences = [
        controller_cache_sentence(study.config),
        overload(study),
        best(study),
        best_size(study),
        best_price(study),
    ]
    return " ".join(text for text in sentences if text)


def overload(study: HybridStudy) -> str:
    """A warning where a store was overloaded."""
    clause = keep_up_clause({row.label: not row.run.saturated for row in study.configurations})
    if not clause:
        return ""
    return (
        f"{clause} with this workload: response times of overloaded configurations, and their ratios, depend "
        "on the length of the run. To compare them, reduce the load, for example with --speedup 0.5."
    )


def _mean_text(row: StoreRow) -> str:
    """Return the mean response time of a store, with its interval over several seeds."""
    return milliseconds(row.run.mean_ms, row.run.half_ms)


def fastest(rows: Iterable[R]) -> R:
    """The row with the shortest mean response, an overloaded one only if all are."""
    return Ranking.of(rows, lambda row: row.run.mean_ms, lambda row: row.run.saturated).first


def best(study: HybridStudy) -> str:
    """A sentence: the fastest hybrid, and whether MEMS pays at all."""
    hybrids = [row for row in study.configurations if CONFIGURATIONS[row.configuration].hybrid]
    hybrids = [row for row in hybrids if row.configuration != MIRROR]  # a mirror has as much in front as disk
    if not hybrids:
        return ""
    row, disk, size_text = fastest(hybrids), study.find(DISK), front_size(study)
    text = f"With {size_text}, {row.label} is the fastest hybrid, {_mean_text(row)} on average"
    if disk is None:
        return f"{text}{_mems_share_text(study, row)}."
    uncached = study.find(UNCACHED)
    if row.run.mean_ms > disk.run.mean_ms or row.run.is_level(disk.run):
        uncached_text = f" and, without its cache, in {_mean_text(uncached)}" if uncached else ""
        return (
            f"{study.front} does not pay here: the best hybrid with {size_text}, {row.label}, answers in "
            f"{_mean_text(row)} on average, the disk alone in "
            f"{_mean_text(disk)}{uncached_text}.{_no_gain_reason(study)}"
        )
    gains = disk_gains_text(row.run.mean_ms, disk.run.mean_ms, uncached.run.mean_ms if uncached else None)
    return f"{text}: {gains}{_mems_share_text(study, row)}."


def front_size(study: HybridStudy) -> str:
    """The size of the front device of all configurations, in words."""
    return f"{size(study.axes['at_mb'])} of {study.front}"


def _mems_share_text(study: HybridStudy, row: ComparedConfiguration) -> str:
    """The share of the speed of the front device alone that a store reaches, in words."""
    if row.share_of_mems is None:
        return ""
    return f", with {percent(row.share_of_mems)} of the speed of {study.front} alone"


def _no_gain_reason(study: HybridStudy) -> str:
    """A likely reason why MEMS does not pay for these requests."""
    sequential_share = study.axes["requests"]["sequential_share"]
    if sequential_share <= 0.5:
        return ""
    return (
        f" {percent(sequential_share)} of the requests continue at the end of the previous one, and a disk "
        f"streams fast; with --set hybrid.bypass_kb=1024, streams bypass {study.front}."
    )


def best_size(study: HybridStudy) -> str:
    """A sentence: the best size of segments, and the size of MEMS beyond which more gains nothing."""
    rows, sizes = study.sizes, study.axes["mems_mb"]
    if len(rows) < 2:
        return ""
    fastest_by_size = {mb: fastest(row for row in rows if row.mems_mb == mb) for mb in sizes}
    at_mb = min(sizes, key=lambda mb: abs(mb - study.axes["at_mb"]))
    text = ""
    if len(study.axes["segment_kb"]) > 1:
        row = fastest_by_size[at_mb]
        text = f"The best segment at {size(at_mb)} is {row.segment_kb} KB, {_mean_text(row)} on average."
    if len(sizes) < 2:
        return text
    ranking = Ranking.of(fastest_by_size.values(), lambda row: row.run.mean_ms, lambda row: row.run.saturated)
    sufficient = Ranking.of(ranking.within(EQUAL_SHARE), lambda row: row.mems_mb).first
    size_text, segments_text = (
        size(sufficient.mems_mb),
        f"segments of {sufficient.segment_kb} KB give {_mean_text(sufficient)}",
    )
    if sufficient.mems_mb == max(sizes):
        return f"{text} Of these sizes the largest is the fastest: {size_text} with {segments_text}.".strip()
    gain = f"gains {percent(EQUAL_SHARE)} or more"
    return f"{text} No size tried above {size_text} {gain}: there {segments_text}.".strip()


def best_price(study: HybridStudy) -> str:
    """A sentence: the price ratio of memory from which MEMS is the better buy."""
    rows, front_text = study.prices, front_size(study)
    if not rows:
        return ""
    first = next((row for row in rows if row.mcd_faster > 1 + EQUAL_SHARE), None)
    if first is None:
        last = rows[-1]
        comparison = (
            "gives a faster store than"
            if last.mcd_faster < 1 - EQUAL_SHARE
            else f"gives a store as fast, within {percent(EQUAL_SHARE)}, as"
        )
        return (
            f"Even where memory costs {last.ratio:g} times as much as {study.front}, the same money in "
            f"non-volatile memory {comparison} {front_text}."
        )
    if first is rows[0] and first.ratio <= 1:
        return f"{front_text} are faster than as much non-volatile memory."
    higher = [row for row in rows if row.ratio > first.ratio]
    slower = [f"{row.ratio:g}" for row in higher if row.mcd_faster <= 1 + EQUAL_SHARE]
    higher_text = (
        f" and at each higher ratio{f' but {join_names(slower)}' if slower else ''}" if higher else ""
    )
    return (
        f"{front_text} are the better buy where memory costs {first.ratio:g} times as much{higher_text}: "
        f"{size(first.memory_mb)} of memory answer in {_mean_text(first)}, MCD ALL in "
        f"{milliseconds(first.mcd_ms)}."
    )


def noise(study: HybridStudy) -> str:
    """A sentence: how far differences can be trusted."""
    count = len(study.axes["seed"])
    if not depends_on_seed(study.config):
        return "Every store had the same trace once: the differences are exact for this trace."
    if count == 1:
        return "One seed: small differences may be chance; --seed 1..5 shows which are not."
    return f"Means over {count} seeds, ±: half the 95 % interval; every store had the same requests."


MEAN: Cells = {"mean": lambda row: interval(row.run.mean_ms, row.run.half_ms)}
P99: Cells = {"99 %": lambda row: figure(row.run.p99_ms)}
NAME: Cells = {"": lambda row: mark_overloaded(row.label, saturated=row.run.saturated)}
OPERATION_CELLS: Cells = {
    "a read": lambda row: figure(row.run.read_mean_ms),
    "a write": lambda row: figure(row.run.write_mean_ms),
}

TABLES: Mapping[str, Cells] = {
    "configurations": {
        **NAME,
        **MEAN,
        "median": lambda row: figure(row.run.p50_ms),
        "95 %": lambda row: figure(row.run.p95_ms),
        **P99,
        **OPERATION_CELLS,
        "faster than DISK": lambda row: times(row.faster_than_disk),
        "than DISK UNCACHED": lambda row: times(row.faster_than_uncached_disk),
        "speed of {front}": lambda row: share(row.share_of_mems),
        "J": lambda row: interval(row.run.energy_j, row.run.half_j),
        "W": lambda row: figure(row.cost.power_w),
        "$": lambda row: money(row.cost.devices_usd),
        "$/month": lambda row: money(row.cost.month_usd),
    },
    "techniques": {
        **NAME,
        **MEAN,
        **P99,
        **OPERATION_CELLS,
        "less than NONE": lambda row: f"{row.saved * 100:.1f} %".replace("-", "−"),
    },
    "traffic": {
        "": lambda row: row.label,
        "device": lambda row: row.device,
        "reads": lambda row: f"{row.reads:,.0f}",
        "MB read": lambda row: f"{row.read_bytes / 1e6:,.0f}",
        "mean read": lambda row: wording.kilobytes(row.mean_read_kb),
        "writes": lambda row: f"{row.writes:,.0f}",
        "MB written": lambda row: f"{row.written_bytes / 1e6:,.0f}",
        "mean write": lambda row: wording.kilobytes(row.mean_write_kb),
    },
    "hits": {
        "": lambda row: row.label,
        "cache, reads": lambda row: share(row.hits.cache_read_hits),
        "{front}, reads": lambda row: share(row.hits.mems_read_hits),
        "{front}, writes": lambda row: share(row.hits.mems_write_hits),
        "superseded": lambda row: share(row.hits.superseded),
        "live room": lambda row: share(row.hits.live_share),
    },
    "prices": {
        "memory over {front}, price": lambda row: f"{row.ratio:g}",
        "memory": lambda row: size(row.memory_mb),
        "DISK-RAM": lambda row: mark_overloaded(
            interval(row.run.mean_ms, row.run.half_ms), saturated=row.run.saturated
        ),
        "MCD ALL": lambda row: figure(row.mcd_ms),
        "MCD ALL is faster": lambda row: times(row.mcd_faster),
    },
}
"""The cells of tables whose rows are those of the study."""


PAGE_COLUMNS = ("median", "95 %", "a read", "a write", "W", "$")
"""Columns of configurations that terminals of 80 characters have no room for."""


def table(study: HybridStudy, name: str, omitted: Sequence[str] = ()) -> Grid:
    """The table of a section, without some columns."""
    rows = study.rows["configurations" if name == "hits" else name]
    cells = {
        head.format(front=study.front): cell for head, cell in TABLES[name].items() if head not in omitted
    }
    return grid(rows, cells, "left" if name == "traffic" else "")


def _sizes(study: HybridStudy) -> Grid:
    """Mean response by size and segment."""
    runs = {(row.segment_kb, row.mems_mb): row.run for row in study.sizes}

    def cell(mb: float) -> Callable[[int], str]:
        return lambda kb: mark_overloaded(
            interval(runs[kb, mb].mean_ms, runs[kb, mb].half_ms), saturated=runs[kb, mb].saturated
        )

    columns = {size(mb): cell(mb) for mb in study.axes["mems_mb"]}
    return grid(study.axes["segment_kb"], {"segment": lambda kb: f"{kb} KB", **columns})


def _policies(study: HybridStudy) -> Grid:
    """The replacement policies: their hit ratios on the requests alone, and the response with each."""
    rows_by_policy = {row.policy: row for row in study.replacement}
    empty_cells = ("–", "–", "–")
    lines = []
    for hits in study.hits:
        row = rows_by_policy.get(hits.policy)
        is_overloaded = row is not None and row.run.saturated
        cells = (MEAN["mean"](row), P99["99 %"](row), share(row.hits.mems_read_hits)) if row else empty_cells
        lines.append((mark_overloaded(hits.policy, saturated=is_overloaded), *cells, share(hits.hit_ratio)))
    seeds = study.axes["seed"]
    requests_text = "trace alone" if len(seeds) == 1 else f"requests of seed {seeds[0]} alone"
    return Grid(
        ("policy", "mean", "99 %", f"found on {study.front}", f"found, of the {requests_text}"), lines
    )


def _configurations(study: HybridStudy) -> Sequence[Part]:
    """The table of all configurations, and notes on its columns."""
    note = f"{noise(study)} Times in ms; {_cost_note(study)}; * the queue kept growing."
    return table(study, "configurations"), Text(note, "quiet")


def _cost_note(study: HybridStudy) -> str:
    """A note on energy and cost."""
    prices = study.study["prices"]
    return (
        f"J: energy of the devices; $/month: the devices, of {study.front} the part that is used, over "
        f"{prices['years']:g} years and power at {money(prices['kwh'], 2)} a kWh"
    )


def _hits(study: HybridStudy) -> Sequence[Part]:
    """The table of hits in cache and MEMS, and notes on its columns."""
    note = (
        f"{study.front}, reads: segments that reads hit. {study.front}, writes: writes that found room at "
        "once. Superseded: blocks written again before they were destaged to the disk. Live room: share of "
        f"{study.front} with data that later requests may read."
    )
    return [Collapsible(f"Hits in cache and {study.front}", [table(study, "hits"), Text(note, "quiet")])]


SECTIONS: Mapping[str, Section] = {
    "configurations": Section(
        "Response by configuration",
        "DISK: the disk alone. DISK UNCACHED: the disk without the controller cache. {front}: this device "
        "alone, as many as the requests need. DISK-RAM: the disk with as much non-volatile memory as the "
        "others have {front}. MWB: writes go to logs on {front} first. MCD: {front} as a write-back cache in "
        "segments of {at_segment_kb} KB. MIRROR: all data on disk and on {front}. All have the same requests "
        "and, but DISK UNCACHED and DISK-RAM, the same controller cache.",
        figures.configurations,
        best,
        closing_parts=_configurations,
    ),
    "sizes": Section(
        "Sizes of the front device and of segments",
        "MCD ALL. Large segments fetch more at once from the disk, and fewer of them fit. Times in ms. "
        "Hollow points: the queue kept growing.",
        figures.sizes,
        best_size,
        _sizes,
        panels=figures.size_panels,
    ),
    "techniques": Section(
        "Effect of each technique",
        "SHORTCUT answers waiting requests from the buffer between disk and {front}. IREPORT frees a segment "
        "as soon as what was dirty in it is in that buffer. PWRITE writes parts of a segment without reading "
        "the rest first. Times in ms.",
        figures.techniques,
        table=partial(table, name="techniques"),
    ),
    "traffic": Section(
        "Work of the devices",
        "Bytes read from and written to disk and {front}, number of accesses and their mean size.",
        figures.traffic,
        table=partial(table, name="traffic"),
        closing_parts=_hits,
    ),
    "replacement": Section(
        "Replacement policies",
        "MCD ALL under other replacement policies. Belady's bound knows the future and cannot be built.",
        figures.replacement,
        table=_policies,
    ),
    "prices": Section(
        "Front device or memory for the same money",
        "MCD ALL with {room} of {front} against the disk with as much non-volatile memory as the same money "
        "buys. Mean response times in ms.",
        figures.prices,
        best_price,
        partial(table, name="prices"),
    ),
}
"""Every section that can be drawn, in the order of the page."""


def brief(study: HybridStudy) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    note = f"times in ms; {_cost_note(study)}; * the queue kept growing. {noise(study)}"
    configurations_table = table(study, "configurations", PAGE_COLUMNS)
    return [Heading(title(study), 1), Text(answer(study)), configurations_table, Text(note, "quiet")]


def page(study: HybridStudy) -> Document:
    """The page about a study."""
    room = size(study.axes["at_mb"])
    section_parts = [
        section.parts(study, room=room, front=study.front)
        for name, section in SECTIONS.items()
        if study.rows[name]
    ]
    return Document(
        kind="hybrid study",
        title=title(study),
        heading=f"{title(study)}: {study.front} in front of a disk",
        parts=[
            Text(answer(study), "answer"),
            *chain(*section_parts),
            Heading("Configuration"),
            Facts(facts(study)),
        ],
        footer="All times are simulated. The same study and version give the same numbers.",
    )


PRESENTATION = DocumentPresentation(
    answer=answer, brief=brief, whole=page, figure=partial(draw_section, SECTIONS)
)


def keep_up_clause(kept_up_by_name: Mapping[str, bool]) -> str:
    """Return a clause naming the competitors that kept up or did not, whichever are fewer.

    Examples:
        >>> keep_up_clause({"a": True, "b": False, "c": True}), keep_up_clause({"a": False})
        ('b could not keep up', 'Nothing could keep up')
    """
    sustained, overloaded = (
        [name for name, kept_up in kept_up_by_name.items() if kept_up is is_wanted]
        for is_wanted in (True, False)
    )
    if not overloaded:
        return ""
    if not sustained:
        return "Nothing could keep up"
    return (
        f"Only {join_names(sustained)} could keep up"
        if len(sustained) < len(overloaded)
        else f"{join_names(overloaded)} could not keep up"
    )
