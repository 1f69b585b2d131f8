"""The tables and figures of a hybrid study, on the terminal and on the page."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from sledlab.show import wording
from sledlab.show.document import Collapsible, Document, Facts, Grid, Heading, Text, grid
from sledlab.show.money import money
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.sections import Section, draw_section
from sledlab.show.wording import figure, interval, mark_overloaded, share, size, times
from sledlab.studies.hybrid import figures
from sledlab.studies.hybrid.summary import answer, best, best_price, best_size, noise
from sledlab.studies.stores.rows import facts, title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.hybrid.tables import HybridStudy

    Cells = Mapping[str, Callable[[Any], str]]

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
