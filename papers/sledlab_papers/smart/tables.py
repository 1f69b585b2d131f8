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
    PART_NAMES,
    PUBLISHED_TIMES,
    REQUEST,
    TABLE_4,
    PublishedTime,
    Stage,
    published_ratio,
)


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
    stages = ((LOOP, G1), (LOOP, G2), (LOOP, G3), *TABLE_4)
    columns = {"simulated": [_ratio_text(runs, *each) for each in stages]}
    for name, reading in _software_readings(runs).items():
        swept_runs = SmartRuns(runs.directory, reading)
        columns[name] = [
            _ratio_text(swept_runs, stage, device)
            if swept_runs.place(stage.job) != runs.place(stage.job)
            and stage.phase in swept_runs.stages(stage.job, stage.nodes, device)
            else ""
            for stage, device in stages
        ]
    shown_columns = {name: texts for name, texts in columns.items() if any(texts)}
    rows = [
        [
            f"{stage.phase}, {stage.nodes} nodes, {NAMES[device]}",
            f"{published_ratio(stage, device):.2f}",
            *(texts[i] for texts in shown_columns.values()),
        ]
        for i, (stage, device) in enumerate(stages)
    ]
    return table(["I/O time of the disk over", "published", *shown_columns], rows)


def _software_readings(runs: SmartRuns) -> dict[str, tuple[str, ...]]:
    """Readings with another software of a request in join and sort, by the name of the value."""
    readings: dict[str, tuple[str, ...]] = {}
    for choice in choices("smart"):
        if choice.moves(REQUEST) and choice.reruns and choice.reruns[0].split()[0] in {JOIN, SORT}:
            for value in choice.with_results(runs.directory).values:
                if value.reading:
                    readings[value.name] = (*readings.get(value.name, ()), *value.reading)
    return readings


def _ratio_text(runs: SmartRuns, stage: Stage, device: str) -> str:
    ratio = runs.disk_ratio(stage, device)
    return f"{ratio:.2f} ({ratio / published_ratio(stage, device) - 1:+.0%})"


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
    """The ratio of processors from which counting of apriori-hd is compute-bound, by number of items."""
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
