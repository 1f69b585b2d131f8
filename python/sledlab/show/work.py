"""Display of a work record: its phases, operations, files and traffic as sentences, tables and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Document, Drawing, Facts, Grid, Heading, Text
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.traffic import heat_map, summarize_traffic
from sledlab.show.wording import data, list_names
from sledlab.traces.work import MAX_NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.traces.work import Work


MEASURED_NOTE = "Its compute time was measured on a machine; it is not reproducible."


def answer(work: Work) -> str:
    """The record in a sentence: job, nodes, bytes and phases."""
    rows = work.phases
    sizes = [data(int(rows[name].sum())) for name in ("read_bytes", "written_bytes", "sent_bytes")]
    nodes = f"{work.nodes:,} node{'s' if work.nodes > 1 else ''}"
    phases = f"{rows.height} phase{'s' if rows.height > 1 else ''}"
    sentence = f"{work.job} on {nodes} reads {sizes[0]}, writes {sizes[1]} and sends {sizes[2]} in {phases}."
    return f"{sentence} {MEASURED_NOTE}" if work.parameters.get("measured") is True else sentence


def brief(work: Work) -> Sequence[Part]:
    """The parts that a terminal and a notebook show of a record."""
    return [Text(answer(work)), _phases(work), *_operations(work), *_files(work)]


def _phases(work: Work) -> Grid:
    """The table of phases."""
    collectives = {row["name"]: ", ".join(row["collectives"]) for row in work.description["phases"]}
    rows = [
        (
            row["phase"],
            *(data(row[name]) for name in ("read_bytes", "written_bytes", "sent_bytes")),
            collectives[row["phase"]],
        )
        for row in work.phases.iter_rows(named=True)
    ]
    return Grid(("phase", "reads", "writes", "sends", "collectives"), rows, "words")


def _operations(work: Work) -> list[Part]:
    """The table of kinds of operation: the number of operations, and the phases that have them."""
    rows = []
    for kind in work.kinds:
        phases = work.phases.filter(work.phases[kind] > 0)["phase"].to_list()
        rows.append((kind, f"{work.phases[kind].sum():,}", list_names(phases, 4)))
    return [Grid(("operation", "number", "phases"), rows, "words")] if rows else []


def _files(work: Work) -> list[Part]:
    """The table of files, and that of groups of nodes."""
    rows = [
        (name, data(sum(sizes)), data(min(sizes)), data(max(sizes))) for name, sizes in work.files.items()
    ]
    parts: list[Part] = [Grid(("file", "bytes", "minimum on a node", "maximum"), rows)] if rows else []
    if work.groups:
        groups = [
            (name, list_names([str(each) for each in nodes], 12)) for name, nodes in work.groups.items()
        ]
        parts.append(Grid(("group", "nodes"), groups, "words"))
    return parts


def names(work: Work) -> list[str]:
    """The names of nodes."""
    return [f"node {number}" for number in range(work.nodes)]


def figure(work: Work) -> Figure:
    """Bytes sent between nodes."""
    return heat_map(work.traffic, [name.removeprefix("node ") for name in names(work)])


def _traffic(work: Work) -> list[Part]:
    """The section on bytes sent from node to node; empty above `MAX_NODES` nodes."""
    if work.nodes > MAX_NODES:
        return []
    text = Text(summarize_traffic(work.traffic, names(work)), "quiet")
    drawing = Drawing(lambda: figure(work), "Bytes sent between nodes", width="narrow")
    return [Heading("Traffic between nodes"), text, drawing]


def page(work: Work) -> Document:
    """The page about a record."""
    parameters = [(name, str(value)) for name, value in work.parameters.items()]
    return Document(
        kind="work record",
        title=f"{work.job} on {work.nodes:,} nodes",
        parts=[
            Text(answer(work), "answer"),
            _phases(work),
            *_operations(work),
            *_traffic(work),
            Heading("Files and groups"),
            *_files(work),
            Heading("The job"),
            Facts([("record", work.name), ("seed", str(work.seed)), *parameters]),
        ],
    )


PRESENTATION = DocumentPresentation(
    answer=answer, brief=brief, whole=page, figure=lambda work, what=None: figure(work)
)
