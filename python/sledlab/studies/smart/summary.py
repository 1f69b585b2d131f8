"""A study of smart storage in sentences, tables and a page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sledlab.runs.cluster_result import COMPONENTS
from sledlab.show.cluster_figures import PART_NAMES
from sledlab.show.document import Collapsible, Document, Drawing, Facts, Grid, Heading, Source, Text, grid
from sledlab.show.facts import setting_facts
from sledlab.show.money import COLUMN, jobs_cost, price_assumptions
from sledlab.show.money import NOTE as MONEY
from sledlab.show.money import money as dollars
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import Ranking, compare_times, is_level
from sledlab.show.wording import energy, figure, join_names, percent, saved_percent
from sledlab.studies.smart import figures, money
from sledlab.studies.smart.labels import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.smart.tables import SmartRun, SmartStudy

SHORT = {"compute": "C", "store": "I", "network": "N"}
"""Abbreviations of bottlenecks, as in table 5 of Chiu 2004."""

CLUSTER = "cluster"
"""Column of prices of clusters, which terminals of 80 characters have no room for."""

NOTE = "× 2: the share of the time that a processor, store or network twice as fast saves (− adds)."


def title(study: SmartStudy) -> str:
    """Title: the jobs, and what they were replayed on."""
    return f"{join_names(_names(study, 'job'))} on {join_names(_names(study, 'device'))}"


def _names(study: SmartStudy, column: str) -> list[str]:
    return list(dict.fromkeys(str(getattr(each.where, column)) for each in study.runs))


def answer(study: SmartStudy) -> str:
    """Return the fastest device for each job on most nodes, and its lead."""
    return " ".join(verdict(study, job) for job in _names(study, "job"))


def verdict(study: SmartStudy, job: str) -> str:
    """A sentence: the answer for one job, on most nodes."""
    node_count, runs = _largest(study, job)
    ranking = Ranking.of(runs, lambda each: each.run.elapsed_s)
    if len(_names(study, "device")) > 1:  # devices are compared, each by its fastest replay
        ranking = ranking.first_of_each(lambda each: each.where.device)
    best, *others = ranking
    distinct_values = {id(each): _distinct_values(study, each) for each in ranking}
    shared_values = [
        each
        for each in distinct_values[id(best)]
        if all(each in own_values for own_values in distinct_values.values())
    ]

    def label(each: SmartRun) -> str:
        own_values = [part for part in distinct_values[id(each)] if part not in shared_values]
        return f"{each.where.device} ({', '.join(own_values)})" if own_values else each.where.device

    subject = ", ".join([f"`{job}` on {node_count:,} node{'s' if node_count > 1 else ''}", *shared_values])
    comma = "," if shared_values else ""
    if not others:
        return f"{subject}{comma} takes {figure(best.run.elapsed_s)} s with {label(best)}."
    comparisons = [f"{compare(best.run.elapsed_s, each.run.elapsed_s)} {label(each)}" for each in others[:3]]
    more_text = " and others" if len(others) > 3 else ""
    fastest = f"{subject}{comma} is fastest with {label(best)}, {figure(best.run.elapsed_s)} s"
    return f"{fastest}: {join_names(comparisons)}{more_text}."


def compare(best_s: float, other_s: float) -> str:
    """Return how the shortest time compares with another, as a clause that ends before the other's name."""
    return "level with" if is_level(1 - best_s / other_s) else compare_times(best_s, other_s)


def _largest(study: SmartStudy, job: str) -> tuple[int, list[SmartRun]]:
    """The largest number of nodes of a job, and its replays with that number."""
    job_runs = [each for each in study.runs if each.where.job == job]
    node_count = max(each.where.nodes for each in job_runs)
    return node_count, [each for each in job_runs if each.where.nodes == node_count]


def _distinct_values(study: SmartStudy, run: SmartRun) -> list[str]:
    """The values besides device and nodes that distinguish a replay from others."""
    case = run.where
    texts_by_column = {
        "page_kb": f"pages of {case.page_kb:g} KB" if case.page_kb else "",
        "network": f"over {case.network}",
        "at": "worked on at the host" if case.at == "host" else "worked on at the nodes",
    }
    return [text for column, text in texts_by_column.items() if text and len(_names(study, column)) > 1]


def has_what_if(study: SmartStudy) -> bool:
    """Whether every job was also replayed with each component twice as fast."""
    return all(each.run.savings() for each in study.runs)


def table(study: SmartStudy, omitted: Sequence[str] = ()) -> Grid:
    """A row for every replay: time, bottleneck, energy and costs, without some columns."""

    def savings_cell(part: str) -> Callable[[SmartRun], str]:
        return lambda each: saved_percent(each.run.savings()[part])

    columns: dict[str, Callable[[SmartRun], str]] = {
        "s": lambda each: figure(each.run.elapsed_s),
        "bottleneck": lambda each: PART_NAMES[each.run.bottleneck],
        **(
            {f"{name} × 2": savings_cell(part) for part, name in PART_NAMES.items()}
            if has_what_if(study)
            else {}
        ),
        "energy": lambda each: energy(each.run.energy_j),
        **money_columns(study),
    }
    return _grid(study, {name: cell for name, cell in columns.items() if name not in omitted})


def shares(study: SmartStudy) -> Grid:
    """A row for every replay: the shares of the components in the total time of all nodes."""

    def share_cell(part: str) -> Callable[[SmartRun], str]:
        return lambda each: percent(each.run.parts_s()[part] / each.run.elapsed_s)

    return _grid(study, {part: share_cell(part) for part in COMPONENTS})


def _grid(study: SmartStudy, columns: Mapping[str, Callable[[SmartRun], str]]) -> Grid:
    labels_by_id = dict(zip(map(id, study.runs), labels(study), strict=True))
    return grid(study.runs, {"": lambda each: labels_by_id[id(each)], **columns})


def money_columns(study: SmartStudy) -> dict[str, Callable[[SmartRun], str]]:
    """Columns with the price of the cluster and the cost of the job; none where no cluster has a price."""
    if not money.priced_runs(study):
        return {}
    return {
        CLUSTER: lambda each: dollars(each.cost.cluster_usd),
        COLUMN: lambda each: jobs_cost(each.cost.job_usd),
    }


def note(study: SmartStudy) -> str:
    """Notes on the columns of the table."""
    return " ".join(
        text
        for text, is_needed in ((NOTE, has_what_if(study)), (MONEY, money.priced_runs(study)))
        if is_needed
    )


def matrix(study: SmartStudy) -> Grid:
    """The bottleneck of every job with most nodes, a column for each device."""
    devices = _names(study, "device")
    rows = []
    for job in _names(study, "job"):
        node_count, runs = _largest(study, job)
        cells = []
        for device in devices:
            letters = [SHORT[each.run.bottleneck] for each in runs if each.where.device == device]
            cells.append(", ".join(dict.fromkeys(letters)))
        rows.append((f"{job}, {node_count:,} nodes", *cells))
    return Grid(("", *devices), rows)


def brief(study: SmartStudy) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    choices_text = money.choices(study)
    return [
        Heading(title(study), 1),
        Text(answer(study)),
        replace(table(study, [CLUSTER]), wide_columns=("energy",)),
        Text(note(study), "quiet"),
        *([Text(choices_text)] if choices_text else []),
    ]


def page(study: SmartStudy) -> Document:
    """The page about a study."""

    def drawing(kind: str, caption: str) -> Drawing:
        return Drawing(
            partial(figures.KINDS[kind], study), figures.KINDS[kind].__doc__ or kind, caption=caption
        )

    facts = [(noun, join_names(_names(study, column))) for noun, column in NOUNS]
    parts: list[Part] = [
        Text(answer(study), "answer"),
        Heading("Time of the job"),
        drawing("times", PARTS_CAPTION),
        table(study),
        Text(note(study), "quiet"),
        Collapsible("Shares of the time of all nodes", [shares(study)]),
    ]
    if len({each.where.nodes for each in study.runs}) > 1:
        parts += [Heading("Number of nodes"), drawing("scaling", "")]
    if money.comparable_runs(study):
        parts += [
            Heading("Cost"),
            Text(money.choices(study)),
            drawing("pareto", PARETO),
            Text(price_assumptions(study.prices), "quiet"),
        ]
    parts += [
        Heading("Bottlenecks"),
        Text(
            LETTERS,
            "quiet",
        ),
        matrix(study),
        Heading("Phases"),
        drawing("phases", PARTS_CAPTION),
        Heading("Configuration"),
        Facts([*facts, *setting_facts(study.config, study.toml)]),
        Collapsible("Complete study file", [Source(study.toml)]),
    ]
    return Document(
        kind="study of smart storage",
        title=title(study),
        heading=f"{title(study)}: bottlenecks",
        parts=parts,
        footer="All times are simulated. The same study and version give the same numbers.",
    )


NOUNS = (
    ("jobs", "job"),
    ("nodes", "nodes"),
    ("devices", "device"),
    ("networks", "network"),
    ("work done at", "at"),
)

LETTERS = "C: the processor (computation). I: the store (I/O). N: the network. As in table 5 of Chiu 2004."

PARETO = (
    "Points are replays with their numbers of nodes. No other replay takes less time and "
    "costs less than those on the line."
)

PARTS_CAPTION = (
    "Compute: the processor works on data. Store: pages are missing or being written. Network: messages are "
    "packed, transferred or received. Waiting: for other nodes."
)


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.draw)
