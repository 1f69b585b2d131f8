"""Tables of the page: published and simulated numbers, and the bottlenecks of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from ..markdown import table
from ..wording import cells, figure, format_rows
from .layouts import NO_READ_AHEAD, READINGS, SCATTERED_PAGES
from .mining import (
    FIGURE_10_PAGE_KB,
    MAX_CLOCK_RATIO,
    MIN_CLOCK_RATIO,
    PAGES,
    TABLE_5,
    Flip,
    counting_places,
    flips,
    flips_by_universe,
    matrix,
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


def _ours(runs: SmartRuns, each: PublishedTime) -> float:
    return runs.stage(each.stage, each.device).part(each.part)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def published_table(runs: SmartRuns) -> str:
    """Every printed number and ours under the three readings, with the fitted constants."""
    rows = []
    for each in PUBLISHED_TIMES:
        ours = [_ours(runs.with_reading(reading), each) for reading in READINGS]
        stage = f"{each.stage.job}, {each.stage.phase}, {each.stage.nodes} nodes, {NAMES[each.device]}"
        simulated = [f"{_number(value)} ({value / each.seconds:.2f})" for value in ours]
        kind = {"store": "I/O", "compute": "compute", "network": "communication"}[each.part]
        rows.append(
            [
                stage,
                kind,
                _number(each.seconds),
                *simulated,
                f"`{each.fitted_constant}`" if each.fitted_constant else "",
            ]
        )
    header = ["stage", "", "printed (s)", *(reading.title for reading in READINGS), "fitted to it"]
    return table(header, rows, words=2)


def predicted_ratios(runs: SmartRuns) -> dict[str, list[float]]:
    """Our I/O times outside table 3 over the printed ones, by reading."""
    return {
        reading.name: [_ours(runs.with_reading(reading), each) / each.seconds for each in PUBLISHED_IO_TIMES]
        for reading in READINGS
    }


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean of ratios."""
    return exp(sum(map(log, ratios)) / len(ratios))


def reading_table(runs: SmartRuns) -> str:
    """The constants of each reading, and its errors on predicted times."""
    rows = []
    for reading in READINGS:
        mine, measured = runs.with_reading(reading), predicted_ratios(runs)[reading.name]
        inside = sum(1 / MAX_FACTOR <= ratio <= MAX_FACTOR for ratio in measured)
        disk = published_time(LOOP, DISK, "store").seconds
        loops = [
            mine.disk_ratio(LOOP, device) / (disk / published_time(LOOP, device, "store").seconds)
            for device in MEMS
        ]
        rows.append(
            cells(
                "{} | {} | {} | {} of {} | {:.2f} | {:.2f} to {:.2f} | {}",
                reading.title,
                reading.request_us,
                reading.block_kb,
                inside,
                len(measured),
                geometric_mean(measured),
                min(measured),
                max(measured),
                format_rows("{:.2f}", loops),
            )
        )
    return table(
        "reading | software of a request (us) | block (KB) | I/O times within 2x | mean | from, to | "
        "ratios of table 3, over the printed",
        rows,
    )


def bottlenecks(runs: SmartRuns) -> str:
    """Table 5 as printed and ours under each reading, at the ratio of processors that is taken."""
    measured = {reading.title: matrix(runs.with_reading(reading)) for reading in READINGS}
    rows = []
    for job, expected in TABLE_5.items():
        rows.append([job, "printed", *expected.split(" ")])
        rows += [
            ["", title, *_mark_differences(row[job], expected.split(" "))] for title, row in measured.items()
        ]
    return table(["job", "", *(NAMES[device] for device in DEVICES)], rows, words=6)


def _mark_differences(row: Sequence[str], expected: Sequence[str]) -> list[str]:
    return [each if each == right else f"**{each}**" for each, right in zip(row, expected, strict=True)]


def _ratios(rows: Mapping[str, Sequence[Flip]], header: str) -> str:
    lines = [
        [name, *(f"{figure(flip.ratio, 2)} ({flip.letter})" for flip in row)] for name, row in rows.items()
    ]
    return table([header, *(NAMES[device] for device in DEVICES)], lines)


def universes(runs: SmartRuns) -> str:
    """The ratio of processors from which apriori-hd is compute-bound, by number of items."""
    return _ratios({f"{items:,}": row for items, row in flips_by_universe(runs).items()}, "items")


def pages(runs: SmartRuns) -> str:
    """The ratio of processors from which MAFIA is compute-bound on 4 nodes, by page and way of counting."""
    rows = {}
    for way, place in counting_places(runs).items():
        for page in PAGES:
            rows[f"{page:g} KB, {way}"] = flips(runs, "mafia", 4, page, place)
    return _ratios(rows, "page, counted by")


def times_of_jobs(runs: SmartRuns) -> str:
    """Times of every job on every size, device by device."""
    rows = []
    for job in ("scan", "join", "sort", "apriori-cd", "apriori-hd", "mafia"):
        page = FIGURE_10_PAGE_KB if job == "mafia" else None
        for nodes in runs.sizes(job):
            times = [runs.job_time_s(job, nodes, device, page) for device in DEVICES]
            parts = [
                "/".join(f"{LETTERS[p]} {figure(runs.total(p, job, nodes, d, page))}" for p in LETTERS)
                for d in (DISK, MEMS[-1])
            ]
            rows.append([job, str(nodes), *map(figure, times), *parts])
    header = ["job", "nodes", *(f"{NAMES[d]} (s)" for d in DEVICES), "parts, disk", "parts, G3"]
    return table(header, rows)


def places(runs: SmartRuns) -> dict[str, str]:
    """All tables, and the numbers of the text."""
    measured = predicted_ratios(runs)
    scattered = measured[SCATTERED_PAGES.name]
    cells_ = sum(
        ours == expected
        for job, row in matrix(runs).items()
        for ours, expected in zip(row, TABLE_5[job].split(" "), strict=True)
    )
    return {
        "printed": published_table(runs),
        "readings": reading_table(runs),
        "bottlenecks": bottlenecks(runs),
        "universes": universes(runs),
        "pages": pages(runs),
        "times": times_of_jobs(runs),
        "inside": str(sum(1 / MAX_FACTOR <= ratio <= MAX_FACTOR for ratio in scattered)),
        "of": str(len(scattered)),
        "mean": f"{geometric_mean(scattered):.2f}",
        "cells": str(cells_),
        "minimum": f"{MIN_CLOCK_RATIO:g}",
        "maximum": f"{MAX_CLOCK_RATIO:g}",
        "no_read_ahead": NO_READ_AHEAD.disk,
    }
