"""Tables of the page: published and simulated numbers, and the bottlenecks of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..markdown import table
from ..sensitivity import choices
from ..wording import format_number
from .mining import (
    FIGURE_10_PAGE_KB,
    MAX_CLOCK_RATIO,
    MIN_CLOCK_RATIO,
    PAGES,
    TABLE_5,
    Flip,
    bottleneck_letters,
    counting_places,
    flips,
    flips_by_universe,
)
from .plan import JOIN, LETTERS, SORT, SmartRuns
from .published_times import (
    DEVICES,
    DISK,
    G1,
    G2,
    G3,
    LOOP,
    MEMS,
    NAMES,
    PUBLISHED_TIMES,
    TABLE_4,
    PublishedTime,
    published_ratio,
)

PART_NAMES = {"store": "I/O", "compute": "compute", "network": "communication"}


def _our_time_s(runs: SmartRuns, published: PublishedTime) -> float:
    return runs.stage(published.stage, published.device).part(published.part)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def published_table(runs: SmartRuns) -> str:
    """Every printed time and ours, with the fitted constants."""
    rows = []
    for published in PUBLISHED_TIMES:
        stage, our_time_s = published.stage, _our_time_s(runs, published)
        rows.append(
            [
                f"{stage.job}, {stage.phase}, {stage.nodes} nodes, {NAMES[published.device]}",
                PART_NAMES[published.part],
                _number(published.seconds),
                _number(our_time_s),
                f"{our_time_s / published.seconds:.2f}",
                f"`{published.fitted_constant}`" if published.fitted_constant else "",
            ]
        )
    header = ["stage", "", "printed (s)", "simulated (s)", "simulated / printed", "fitted to it"]
    return table(header, rows, word_columns=2)


def ratio_table(runs: SmartRuns) -> str:
    """The disk's I/O time over that of a sled: printed, ours, and with each value of a sweep."""
    sweeps = [
        each.with_results(runs.directory) for each in choices("smart") if {JOIN, SORT} & set(each.reruns)
    ]
    readings: dict[str, tuple[str, ...]] = {}
    for value in (value for each in sweeps for value in each.values if value.reading):
        readings[value.name] = (*readings.get(value.name, ()), *value.reading)
    rows = []
    for stage, device in ((LOOP, G1), (LOOP, G2), (LOOP, G3), *TABLE_4):
        published = published_ratio(stage, device)
        swept_runs = [SmartRuns(runs.directory, reading) for reading in readings.values()]
        texts = [
            _ratio_text(each.disk_ratio(stage, device), published)
            if each is runs or each.place(stage.job) != runs.place(stage.job)
            else ""
            for each in (runs, *swept_runs)
        ]
        rows.append([f"{stage.phase}, {stage.nodes} nodes, {NAMES[device]}", f"{published:.2f}", *texts])
    return table(["I/O time of the disk over", "published", "simulated", *readings], rows)


def _ratio_text(ratio: float, published: float) -> str:
    return f"{ratio:.2f} ({ratio / published - 1:+.0%})"


def bottleneck_table(runs: SmartRuns) -> str:
    """Table 5 as printed and ours, at the ratio of processors that is taken."""
    our_letters, rows = bottleneck_letters(runs), []
    for job, letters in TABLE_5.items():
        rows.append([job, "printed", *letters.split(" ")])
        rows.append(["", "simulated", *_mark_differences(our_letters[job], letters.split(" "))])
    return table(["job", "", *(NAMES[device] for device in DEVICES)], rows, word_columns=6)


def _mark_differences(letters: Sequence[str], published: Sequence[str]) -> list[str]:
    return [
        letter if letter == published_letter else f"**{letter}**"
        for letter, published_letter in zip(letters, published, strict=True)
    ]


def _flip_table(rows: Mapping[str, Sequence[Flip]], header: str) -> str:
    lines = [
        [name, *(f"{format_number(flip.ratio, 2)} ({flip.letter})" for flip in row)]
        for name, row in rows.items()
    ]
    return table([header, *(NAMES[device] for device in DEVICES)], lines)


def universe_table(runs: SmartRuns) -> str:
    """The ratio of processors from which apriori-hd is compute-bound, by number of items."""
    return _flip_table({f"{items:,}": row for items, row in flips_by_universe(runs).items()}, "items")


def page_size_table(runs: SmartRuns) -> str:
    """The ratio of processors from which MAFIA is compute-bound on 4 nodes, by page and way of counting."""
    rows = {}
    for counting, place in counting_places(runs).items():
        for page in PAGES:
            rows[f"{page:g} KB, {counting}"] = flips(runs, "mafia", 4, page, place)
    return _flip_table(rows, "page, counted by")


def job_time_table(runs: SmartRuns) -> str:
    """Times of every job on every size, device by device."""
    rows = []
    for job in ("scan", "join", "sort", "apriori-cd", "apriori-hd", "mafia"):
        page = FIGURE_10_PAGE_KB if job == "mafia" else None
        for nodes in runs.sizes(job):
            times = [runs.job_time_s(job, nodes, device, page) for device in DEVICES]
            parts = [
                "/".join(f"{LETTERS[p]} {format_number(runs.total(p, job, nodes, d, page))}" for p in LETTERS)
                for d in (DISK, MEMS[-1])
            ]
            rows.append([job, str(nodes), *map(format_number, times), *parts])
    header = ["job", "nodes", *(f"{NAMES[d]} (s)" for d in DEVICES), "parts, disk", "parts, G3"]
    return table(header, rows)


def page_texts(runs: SmartRuns) -> dict[str, str]:
    """All tables, and the numbers of the text."""
    agreeing_cells = sum(
        ours == published
        for job, row in bottleneck_letters(runs).items()
        for ours, published in zip(row, TABLE_5[job].split(" "), strict=True)
    )
    return {
        "printed": published_table(runs),
        "ratios": ratio_table(runs),
        "bottlenecks": bottleneck_table(runs),
        "universes": universe_table(runs),
        "pages": page_size_table(runs),
        "times": job_time_table(runs),
        "cells": str(agreeing_cells),
        "minimum": f"{MIN_CLOCK_RATIO:g}",
        "maximum": f"{MAX_CLOCK_RATIO:g}",
    }
