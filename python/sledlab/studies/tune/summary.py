"""Tuning in words, tables and a figure: the same on the terminal, in notebooks and in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show import plots
from sledlab.show.document import Collapsible, Document, Drawing, Facts, Heading, Source, Text, grid
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import figure, mark_overloaded, milliseconds, percent, share, size
from sledlab.studies.stores.configurations import CONFIGURATIONS, DISK, MEMS, UNCACHED
from sledlab.studies.stores.plan import EQUAL_SHARE
from sledlab.studies.stores.rows import controller_cache_sentence, disk_gains_text, facts, title
from sledlab.studies.tune.plan import ALL_REQUESTS, SMALLER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Grid, Part
    from sledlab.studies.tune.tables import TunedHybrid

NOTE = "times in ms; found: of the segments that the requests touch; * the queue kept growing"


def answer(tuned: TunedHybrid) -> str:
    """The choice in a few sentences."""
    choice, run = tuned.choice, tuned.choice.run
    disk, mems, mb = tuned.baselines[DISK].run, tuned.baselines[MEMS].run, tuned.choice.mems_mb
    uncached = tuned.baselines[UNCACHED].run.mean_ms if UNCACHED in tuned.baselines else None
    cost = f" at a cost of {figure(mb * tuned.price_per_mb)}" if tuned.price_per_mb else ""
    store = f"{size(mb)} of {tuned.front}{cost} in segments of {choice.segment_kb} KB under {choice.policy}"
    if run.mean_ms >= disk.mean_ms:
        uncached_text = f", without its cache in {milliseconds(uncached)}" if uncached else ""
        return (
            f"{controller_cache_sentence(tuned.config)} {tuned.front} does not pay within this budget: the "
            f"disk alone answers in {milliseconds(disk.mean_ms)} on average{uncached_text}, the best caching "
            f"disk, {store}, in {milliseconds(run.mean_ms)}."
        )
    sentences = [
        controller_cache_sentence(tuned.config),
        f"Take {store}: {milliseconds(run.mean_ms)} on average, "
        f"{disk_gains_text(run.mean_ms, disk.mean_ms, uncached)}, "
        f"with {percent(mems.mean_ms / run.mean_ms)} of the speed of {tuned.front} alone.",
    ]
    if mb < tuned.budget_mb:
        sentences.append(f"All {size(tuned.budget_mb)} would gain less than {percent(EQUAL_SHARE)}.")
    if run.saturated:
        sentences.append("It could not keep up: its response times depend on the length of the run.")
    elif disk.saturated:
        sentences.append(
            "The disk alone could not keep up, so its response time depends on the length of the run."
        )
    return " ".join(sentences)


def table(tuned: TunedHybrid) -> Grid:
    """The runs that led to the choice."""
    return grid(
        tuned.runs,
        {
            "requests": lambda row: row.stage,
            "of them": lambda row: f"{row.run.requests:,}",
            "front": lambda row: size(row.mems_mb),
            "segment": lambda row: f"{row.segment_kb} KB",
            "policy": lambda row: mark_overloaded(row.policy, saturated=row.run.saturated),
            "found": lambda row: share(row.hit_ratio if row.stage != SMALLER else None),
            "mean": lambda row: figure(row.run.mean_ms),
            "99 %": lambda row: figure(row.run.p99_ms),
            "": lambda row: "chosen" if row is tuned.choice else "",
        },
    )


def runs(tuned: TunedHybrid) -> Figure:
    """Mean response of the runs on all requests, and of the disk alone."""
    rows = [row for row in tuned.runs if row.stage in (ALL_REQUESTS, SMALLER)]
    bars = []
    for row in rows:
        name = f"{size(row.mems_mb)}, {row.segment_kb} KB, {row.policy}"
        end_text = milliseconds(row.run.mean_ms) + (", chosen" if row is tuned.choice else "")
        bars.append((name, row.run.mean_ms, end_text, row.run.saturated))
    for name in (DISK, UNCACHED):
        if name in tuned.baselines:
            run = tuned.baselines[name].run
            bars.append((CONFIGURATIONS[name].label, run.mean_ms, milliseconds(run.mean_ms), run.saturated))
    return plots.bars(bars, "mean response (ms)")


def draw(tuned: TunedHybrid, section: str = "runs") -> Figure:
    """Draw the runs.

    Raises:
        Error: There is no such section.
    """
    return plots.find_panel({"runs": runs}, section)(tuned)


def brief(tuned: TunedHybrid) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    return [Heading(title(tuned), 1), Text(answer(tuned)), table(tuned), Text(NOTE, "quiet")]


def page(tuned: TunedHybrid) -> Document:
    """The page about the choice."""
    return Document(
        kind="tuned hybrid",
        title=title(tuned),
        heading=f"{title(tuned)}: the caching disk for {size(tuned.budget_mb)} of {tuned.front}",
        parts=[
            Text(answer(tuned), "answer"),
            Heading("Runs of the search"),
            Drawing(lambda: runs(tuned), runs.__doc__ or "", caption="Hollow: the queue kept growing."),
            table(tuned),
            Text(NOTE[0].upper() + NOTE[1:] + ".", "quiet"),
            Collapsible("Complete experiment file", [Source(tuned.experiment)]),
            Heading("Configuration"),
            Facts(facts(tuned)),
        ],
        footer="All times are simulated. The same study and version give the same numbers.",
    )


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=draw)
