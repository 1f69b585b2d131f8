"""Display of the replay of a work record: sentences, tables and a page."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sledlab._native import __version__
from sledlab.runs.cluster_result import COMPONENTS
from sledlab.show import cluster_figures, model_names, node_failures, wording
from sledlab.show.cluster_figures import MAX_ROWS, PART_NAMES, node_names
from sledlab.show.document import (
    Collapsible,
    Document,
    Drawing,
    Facts,
    Grid,
    Heading,
    Numbers,
    SideBySideParts,
    Source,
    Text,
)
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.traffic import summarize_traffic
from sledlab.show.wording import data, energy, figure, join_names, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.runs.cluster_result import ClusterResult
    from sledlab.show.document import Part

MIN_SAVED_SHARE = 0.005
"""A component whose doubled speed saves less than this share of the time is called no bottleneck."""

MAX_LINES = 40
"""Maximum number of lines of the table of phases on a terminal; the last line is the job."""


def answer(result: ClusterResult) -> str:
    """The outcome of the replay in a sentence or a few."""
    return " ".join(
        filter(
            None,
            (
                f"{_first_sentence(result)}{_bottleneck(result)}.",
                node_failures.sentences(result),
                _disagreement(result),
                _sampling_note(result),
            ),
        )
    )


def _first_sentence(result: ClusterResult) -> str:
    """The job, its nodes or host, its elapsed time, store and network, as the first sentence."""
    nodes = result.nodes - result.is_on_host - result.spares
    count_text = f"{nodes:,} node{'s' if nodes > 1 else ''}"
    hardware = f"a host in front of {count_text}" if result.is_on_host else count_text
    return (
        f"{result.job} on {hardware} takes {figure(result.elapsed_s)} s with {_store(result)} over "
        f"{model_names.network_name(result.config)}"
    )


def _store(result: ClusterResult) -> str:
    """The names of the devices in the nodes' stores."""
    names = [model_names.device_name(result.config)]
    for group in result.config.get("group", []):
        device = group.get("device", names[0])
        names.append(device if isinstance(device, str) else model_names.device_name({"device": device}))
    return join_names(list(dict.fromkeys(names)))


def _bottleneck(result: ClusterResult) -> str:
    """The bottleneck, and what each component twice as fast would save."""
    if result.what_if.is_empty():
        share = _share(result, result.largest)
        return f"; nodes spend most of their time {ACTIVITIES[result.largest]}, {percent(share)}"
    rows = result.what_if.sort("saved", descending=True, maintain_order=True).rows(named=True)
    best = rows[0]
    if best["saved"] < MIN_SAVED_SHARE:
        return "; neither processor nor store nor network twice as fast would save a significant time"
    others = [
        f"the {PART_NAMES[row['what']]} {wording.saving(row['saved'], '{}', 'would add {}')}"
        for row in rows[1:]
    ]
    return (
        f"; the {PART_NAMES[best['what']]} is the bottleneck: twice as fast it would save "
        f"{wording.saved_percent(best['saved'])}, {join_names(others)}"
    )


ACTIVITIES = {"compute": "computing", "store": "using their stores", "network": "using the network"}
"""What a node does in the time of a component, as a phrase of a sentence."""


def _share(result: ClusterResult, part: str) -> float:
    """The share of a component in the time of all nodes together."""
    total = sum(result.components_s.values())
    return result.components_s[part] / total if total else 0.0


def _disagreement(result: ClusterResult) -> str:
    """A sentence on why the largest component is not the bottleneck; empty where it is."""
    bottleneck, largest = result.bottleneck, result.largest
    if bottleneck.saved is None or bottleneck.saved < MIN_SAVED_SHARE or bottleneck.what == largest:
        return ""
    saved_share = next(row["saved"] for row in result.what_if.iter_rows(named=True) if row["what"] == largest)
    text = (
        f"Nodes spend more time on {COMPONENT_NAMES[largest]}, {percent(_share(result, largest))} against "
        f"{percent(_share(result, bottleneck.what))}, but twice as fast that "
    )
    if saved_share <= -MIN_SAVED_SHARE:
        return f"{text}adds {percent(-saved_share)}."
    saves = "nothing" if saved_share < MIN_SAVED_SHARE else f"only {wording.saved_percent(saved_share)}"
    return (
        f"{text}saves {saves}: the remaining time overlaps with other work, or is spent by nodes that "
        "wait for others."
    )


COMPONENT_NAMES = {"compute": "the processor", "store": "the store", "network": "the network"}
"""The part of a node or cluster whose time a component is."""


def _sampling_note(result: ClusterResult) -> str:
    """A sentence on the share of pages that was simulated; empty where no passes were skipped."""
    if result.simulated_share >= 1:
        return ""
    return (
        f"{percent(result.simulated_share)} of the pages were simulated; the time of the other passes of "
        f"nested loops is estimated from these, with an error of {_error(result)} of the total time at "
        "most, with 99.9 % confidence (cluster.exact=true simulates all)."
    )


def _error(result: ClusterResult) -> str:
    """The bound on the sampling error, rounded up to thousandths of a percent."""
    return f"{max(math.ceil(result.sampling_error * 1e5), 1) / 1e3:.3f} %"


def brief(result: ClusterResult) -> Sequence[Part]:
    """The parts that a terminal and a notebook show of a replay."""
    table = _phases(result)
    rows = table.rows
    if len(rows) > MAX_LINES:
        omitted_row = (f"... {len(rows) - MAX_LINES} others", *[""] * (len(table.head) - 1))
        rows = [*rows[: MAX_LINES - 1], omitted_row, rows[-1]]
    return [
        Heading(_title(result), 1),
        Text(answer(result)),
        Grid(table.head, rows, wide_columns=("requests", "read", "written")),
        Text(_note(result), "quiet"),
    ]


def _note(result: ClusterResult) -> str:
    """How to read the table of phases, and the energy that it omits."""
    cluster_energy = result.energy
    parts = f"processors {energy(cluster_energy.processor)}, stores {energy(cluster_energy.store)}"
    return (
        "shares are of the time of all nodes; read, written and sent are in MB of 1,000,000 bytes; J are "
        f"those of the stores. The total is {energy(cluster_energy.total)}, of which {parts}, memories "
        f"{energy(cluster_energy.memory)}, network {energy(cluster_energy.network)}."
    )


def _title(result: ClusterResult) -> str:
    """The job, its store and its network, as a title."""
    return (
        f"{result.job} on {model_names.device_name(result.config)}, {model_names.network_name(result.config)}"
    )


def _phases(result: ClusterResult) -> Grid:
    """The table of phases, with a last row for the job."""
    rows = list(result.by_phase.iter_rows(named=True))
    names = ("requests", "read_bytes", "written_bytes", "sent_bytes")
    sums = {name: sum(row[name] for row in rows) for name in names}
    parts = {f"{part}_s": result.components_s[part] for part in COMPONENTS}
    job_row = {"phase": "all", "elapsed_s": result.elapsed_s, **parts, **sums, "store_j": result.energy.store}
    lines = []
    for row in (*rows, job_row):
        total = sum(row[f"{part}_s"] for part in COMPONENTS) or 1.0
        lines.append(
            (
                row["phase"],
                figure(row["elapsed_s"]),
                *(percent(row[f"{part}_s"] / total) for part in COMPONENTS),
                f"{row['requests']:,}",
                *(figure(row[name] / 1e6) for name in names[1:]),
                figure(row["store_j"]),
            )
        )
    head = ("phase", "s", *COMPONENTS, "requests", "read", "written", "sent", "J")
    return Grid(head, lines)


def page(result: ClusterResult) -> Document:
    """The page about a replay."""

    def drawing(kind: str, heading: str, caption: str) -> Drawing:
        title = (cluster_figures.KINDS[kind].__doc__ or kind).splitlines()[0]
        panels = partial(cluster_figures.interactive_panels, result, kind)
        return Drawing(partial(cluster_figures.draw, result, kind), title, heading, caption, panels=panels)

    what_if_drawings = [drawing("what_if", "Twice as fast", WHAT_IF)] if not result.what_if.is_empty() else []
    traffic_caption = summarize_traffic(result.traffic, node_names(result)) if result.traffic_rows else ""
    traffic_drawings = (
        [drawing("traffic", "Bytes sent between nodes", traffic_caption)] if result.traffic_rows else []
    )
    drawings = [
        replace(each, width="" if what_if_drawings and traffic_drawings else "narrow")
        for each in (*what_if_drawings, *traffic_drawings)
    ]
    side_by_side: list[Part] = (
        [Heading("Effect of faster components, and network traffic"), SideBySideParts(drawings)]
        if drawings
        else []
    )
    numbers: list[Part] = [_phases(result), Text(_note(result), "quiet")]
    if result.by_phase.height > cluster_figures.MAX_PHASES:
        numbers = [Collapsible("Table of results", numbers)]
    timeline_caption = ALL_NODES if result.nodes <= MAX_ROWS else SELECTED_NODES
    return Document(
        kind="replay of a work record",
        title=_title(result),
        footer="All times are simulated. The same record and experiment give the same numbers.",
        parts=[
            Text(answer(result), "answer"),
            Numbers(_key_figures(result)),
            Heading("Time by component"),
            SideBySideParts(
                [drawing("phases", "By phase", PHASES), drawing("timeline", "Node by node", timeline_caption)]
            ),
            *numbers,
            *side_by_side,
            Heading("Energy by component"),
            replace(drawing("energy", "Energy of all nodes", ENERGY), width="narrow"),
            Heading("Configuration"),
            Facts(_facts(result)),
            Collapsible("Complete experiment file", [Source(result.toml)]),
        ],
    )


PHASES = (
    "Compute: the processor works on data. Store: pages are missing or being written. Network: messages are "
    "packed, transferred or received. Waiting: for other nodes."
)
ALL_NODES = "A row for each node. Phases end together: nodes that finish early wait."
SELECTED_NODES = (
    "Nodes with minimum, median and maximum work. Phases end together: nodes that finish early wait."
)
WHAT_IF = "The same job with one of them twice as fast; the network includes its software on the nodes."
ENERGY = "Stores by their states, processors by working time, memories and ports by elapsed time."


def _key_figures(result: ClusterResult) -> list[tuple[str, str, str]]:
    """The numbers at the top: name, value, remark."""
    longest = max(result.by_phase.iter_rows(named=True), key=lambda row: row["elapsed_s"])
    bottleneck = result.bottleneck
    remark = (
        "largest share of time"
        if bottleneck.saved is None
        else f"twice as fast {wording.saving(bottleneck.saved, 'saves {}', 'adds {}')}"
    )
    rows = result.by_phase
    return [
        ("takes", f"{figure(result.elapsed_s)} s", f"{longest['phase']} {figure(longest['elapsed_s'])} s"),
        ("bottleneck", PART_NAMES[bottleneck.what], remark),
        ("waiting", percent(_share(result, "waiting")), "of the time of all nodes"),
        ("sent", data(int(rows["sent_bytes"].sum())), f"{data(int(rows['read_bytes'].sum()))} read"),
        ("energy", energy(result.energy.total), f"{energy(result.energy.store)} of stores"),
    ]


def _facts(result: ClusterResult) -> list[tuple[str, str]]:
    """The record and the cluster, as pairs of a name and a text."""
    config = result.config
    host = model_names.node_description(config["host"]) if result.is_on_host else ""
    nodes = result.nodes - result.is_on_host - result.spares
    return [
        ("record", str(config.get("work", {}).get("file", ""))),
        ("nodes", f"{nodes:,}, {model_names.node_description(config['node'])}"),
        ("host", host),
        ("store", f"{model_names.device_name(config)}: {config['device'].get('description', '')}"),
        ("network", model_names.network_description(config)),
        ("copies", result.failure["redundancy"] if result.failure else ""),
        ("groups", f"{len(config['group']):,}" if config.get("group") else ""),
        ("scheduler", model_names.scheduler_name(config)),
        ("power policy", model_names.power_name(config)),
        ("pages", f"{result.summary['pages']:,}, {percent(result.simulated_share)} simulated"),
        ("seed", str(result.summary["seed"])),
        ("version", f"sledlab {__version__}"),
    ]


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=cluster_figures.draw)
