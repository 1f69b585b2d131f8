"""Tables of the page: published and simulated numbers, and the bottlenecks of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from ..markdown import table
from ..wording import cells, format_number, format_rows
from .layouts import NO_READ_AHEAD, READINGS, SCATTERED_PAGES
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
from .plan import LETTERS, SmartRuns
from .published_times import (
    DEVICES,
    DISK,
    LOOP,
    MEMS,
    NAMES,
    PUBLISHED_IO_TIMES,
    PUBLISHED_TIMES,
    PublishedTime,
    published_time,
)

MAX_FACTOR = 2.0


def _our_time_s(runs: SmartRuns, published: PublishedTime) -> float:
    return runs.stage(published.stage, published.device).part(published.part)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def published_table(runs: SmartRuns) -> str:
    """Every printed number and ours under the three readings, with the fitted constants."""
    rows = []
    for published in PUBLISHED_TIMES:
        our_times_s = [_our_time_s(runs.with_reading(reading), published) for reading in READINGS]
        stage = published.stage
        label = f"{stage.job}, {stage.phase}, {stage.nodes} nodes, {NAMES[published.device]}"
        simulated_texts = [f"{_number(value)} ({value / published.seconds:.2f})" for value in our_times_s]
        kind = {"store": "I/O", "compute": "compute", "network": "communication"}[published.part]
        rows.append(
            [
                label,
                kind,
                _number(published.seconds),
                *simulated_texts,
                f"`{published.fitted_constant}`" if published.fitted_constant else "",
            ]
        )
    header = ["stage", "", "printed (s)", *(reading.title for reading in READINGS), "fitted to it"]
    return table(header, rows, word_columns=2)


def predicted_ratios(runs: SmartRuns) -> dict[str, list[float]]:
    """Our I/O times outside table 3 over the printed ones, by reading."""
    return {
        reading.name: [
            _our_time_s(runs.with_reading(reading), each) / each.seconds for each in PUBLISHED_IO_TIMES
        ]
        for reading in READINGS
    }


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean of ratios."""
    return exp(sum(map(log, ratios)) / len(ratios))


def reading_table(runs: SmartRuns) -> str:
    """The constants of each reading, and its errors on predicted times."""
    rows = []
    for reading in READINGS:
        reading_runs, ratios = runs.with_reading(reading), predicted_ratios(runs)[reading.name]
        inside_count = sum(1 / MAX_FACTOR <= ratio <= MAX_FACTOR for ratio in ratios)
        disk_s = published_time(LOOP, DISK, "store").seconds
        loop_ratios = [
            reading_runs.disk_ratio(LOOP, device) / (disk_s / published_time(LOOP, device, "store").seconds)
            for device in MEMS
        ]
        rows.append(
            cells(
                "{} | {} | {} | {} of {} | {:.2f} | {:.2f} to {:.2f} | {}",
                reading.title,
                reading.request_us,
                reading.block_kb,
                inside_count,
                len(ratios),
                geometric_mean(ratios),
                min(ratios),
                max(ratios),
                format_rows("{:.2f}", loop_ratios),
            )
        )
    return table(
        "reading | software of a request (us) | block (KB) | I/O times within 2x | mean | from, to | "
        "ratios of table 3, over the printed",
        rows,
    )


def bottleneck_table(runs: SmartRuns) -> str:
    """Table 5 as printed and ours under each reading, at the ratio of processors that is taken."""
    letters_by_reading = {
        reading.title: bottleneck_letters(runs.with_reading(reading)) for reading in READINGS
    }
    rows = []
    for job, letters in TABLE_5.items():
        rows.append([job, "printed", *letters.split(" ")])
        rows += [
            ["", title, *_mark_differences(reading_letters[job], letters.split(" "))]
            for title, reading_letters in letters_by_reading.items()
        ]
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
    ratios_by_reading = predicted_ratios(runs)
    scattered = ratios_by_reading[SCATTERED_PAGES.name]
    agreeing_cells = sum(
        ours == published
        for job, row in bottleneck_letters(runs).items()
        for ours, published in zip(row, TABLE_5[job].split(" "), strict=True)
    )
    return {
        "printed": published_table(runs),
        "readings": reading_table(runs),
        "bottlenecks": bottleneck_table(runs),
        "universes": universe_table(runs),
        "pages": page_size_table(runs),
        "times": job_time_table(runs),
        "inside": str(sum(1 / MAX_FACTOR <= ratio <= MAX_FACTOR for ratio in scattered)),
        "of": str(len(scattered)),
        "mean": f"{geometric_mean(scattered):.2f}",
        "cells": str(agreeing_cells),
        "minimum": f"{MIN_CLOCK_RATIO:g}",
        "maximum": f"{MAX_CLOCK_RATIO:g}",
        "no_read_ahead": NO_READ_AHEAD.disk,
    }
