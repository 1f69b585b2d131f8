"""Figures of the replay of a work record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.runs.cluster_result import COMPONENTS
from sledlab.show.palette import BLUE, GRAY, GREEN, INK, QUIET, VERMILION
from sledlab.show.plots import find_panel, label_right, legend, name_rows, panels
from sledlab.show.series import MAX_BARS, Bar, Panel, Series
from sledlab.show.traffic import heat_map
from sledlab.show.widths import SIZE, base_width
from sledlab.show.wording import energy as joules
from sledlab.show.wording import figure, percent, saving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.runs.cluster_result import ClusterResult

COLORS: Mapping[str, str] = {"compute": BLUE, "store": VERMILION, "network": GREEN, "waiting": GRAY}
"""Colors of the components."""

MAX_ROWS = 32
"""Most nodes for which the timeline has a row each."""

MAX_PHASES = 16
"""Most phases for which the figure of phases has a bar each."""

MAX_LINES = 12
"""Most phases for which the timeline marks each beginning by a line."""

LETTERS = 68
"""Number of letters of a name as wide as the timeline, in a figure as wide as by default."""

PART_NAMES: Mapping[str, str] = {"compute": "processor", "store": "store", "network": "network"}
"""Names, in sentences, of the components that what-if makes twice as fast."""


def draw(result: ClusterResult, kind: str = "phases") -> Figure:
    """Draw a figure of a kind.

    Raises:
        Error: There is no such kind, or the result lacks the numbers that it shows.
    """
    return find_panel(KINDS, kind)(result)


def node_names(result: ClusterResult) -> list[str]:
    """The names of nodes: by their numbers, spares and a host as such."""
    names = [f"node {number}" for number in range(result.nodes - result.spares)]
    names += [f"spare {number}" for number in range(result.spares)]
    return [*names[:-1], "host"] if result.is_on_host else names


def phases(result: ClusterResult) -> Figure:
    """Time of a node in each phase by component, mean over nodes."""
    rows = _phase_rows(result)
    fig, (axes,) = panels(1, 1.15 + 0.34 * len(rows), rows=len(rows))
    starts = [0.0] * len(rows)
    for part, color in COLORS.items():
        widths = [row[f"{part}_s"] / result.nodes for row in rows]
        axes.barh(range(len(rows)), widths, left=starts, height=0.62, color=color)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    for place, end in enumerate(starts):
        label_right(axes, f"{figure(end)} s", (end, place))
    name_rows(axes, [row["phase"] for row in rows])
    axes.set_xlim(0, max(starts) or 1.0)
    axes.set_xlabel("time of a node (s), mean over nodes")
    legend(fig, COLORS)
    return fig


def _phase_rows(result: ClusterResult) -> list[dict[str, Any]]:
    """Phases in order; of more than `MAX_PHASES` the longest ones, and a row for all others together."""
    rows = list(result.by_phase.iter_rows(named=True))
    if len(rows) <= MAX_PHASES:
        return rows
    longest_first = sorted(rows, key=lambda row: -row["elapsed_s"])
    longest = longest_first[: MAX_PHASES - 1]
    others = [row for row in rows if not any(row is each for each in longest)]
    sums = {f"{part}_s": sum(row[f"{part}_s"] for row in others) for part in COMPONENTS}
    return [
        *(row for row in rows if any(row is each for each in longest)),
        {"phase": f"{len(others)} others", **sums},
    ]


def timeline_panel(result: ClusterResult) -> Panel:
    """The panel of the timeline: the components of each node in each phase, over simulated time."""
    table, numbers_by_name = result.phases, shown_nodes(result)
    bars = []
    for place, node in enumerate(numbers_by_name.values()):
        node_rows = table.filter(table["node"] == node)
        lengths = zip(*(node_rows[f"{part}_s"].to_list() for part in COLORS), strict=True)
        starts = node_rows["phase_start_s"].to_list()
        bars += [Bar(place, *bar) for bar in zip(starts, lengths, strict=True)]
    return Panel(
        "simulated time (s)",
        "what each node does",
        [Series(part, color, []) for part, color in COLORS.items()],
        steps=result.by_phase["phase"].to_list(),
        rows=list(numbers_by_name),
        bars=bars,
    )


def interactive_panels(result: ClusterResult, kind: str) -> Sequence[Panel]:
    """The panels of a figure that can be explored: the timeline, up to `MAX_BARS` bars; none of others."""
    panel = timeline_panel(result) if kind == "timeline" else None
    return [panel] if panel and len(panel.bars) <= MAX_BARS else ()


def timeline(result: ClusterResult) -> Figure:
    """What each node does in each phase, over simulated time."""
    panel = timeline_panel(result)
    fig, (axes,) = panels(
        1,
        1.2 + max(0.2, 0.34 - 0.006 * len(panel.rows)) * len(panel.rows),
        rows=len("\n".join(panel.rows).split("\n")),
    )
    for place in range(len(panel.rows)):
        row_bars = [bar for bar in panel.bars if bar.row == place]
        starts = [bar.start for bar in row_bars]
        for part, series in enumerate(panel.series):
            widths = [bar.lengths[part] for bar in row_bars]
            axes.barh([place] * len(widths), widths, left=starts, height=0.72, color=series.color)
            starts = [start + width for start, width in zip(starts, widths, strict=True)]
    name_rows(axes, panel.rows)
    axes.set_xlim(0, result.elapsed_s or 1.0)
    axes.set_xlabel("simulated time (s); within a phase, components one after the other")
    _name_phases(axes, result)
    legend(fig, COLORS)
    return fig


def shown_nodes(result: ClusterResult) -> dict[str, int]:
    """The nodes of the timeline by name: all, or of many those with minimum, median and maximum work."""
    names = node_names(result)
    if result.nodes <= MAX_ROWS:
        return {name: number for number, name in enumerate(names)}
    totals = dict.fromkeys(range(result.nodes), 0.0)
    for node, seconds in result.phases.select("node", "waiting_s").iter_rows():
        totals[node] += seconds
    least_work_first = sorted(totals, key=lambda node: (-totals[node], node))
    nodes_by_work = {
        "minimum work": least_work_first[0],
        "median": least_work_first[len(least_work_first) // 2],
        "maximum work": least_work_first[-1],
    }
    return {f"{names[node]}\n{work}": node for work, node in nodes_by_work.items()}


def _name_phases(axes: Axes, result: ClusterResult) -> None:
    """Mark the beginning of each phase by a line, with the name of the phase above if there is room."""
    placement: Any = {"transform": axes.get_xaxis_transform()}
    end = result.elapsed_s or 1.0
    for row in result.by_phase.iter_rows(named=True):
        if row["phase_start_s"] > 0 and result.by_phase.height <= MAX_LINES:
            axes.axvline(row["phase_start_s"], color=INK, linewidth=0.7)
        name, room_characters = row["phase"], row["elapsed_s"] / end * LETTERS * base_width() / SIZE[0]
        if room_characters > len(name) + 1:
            axes.text(
                row["phase_start_s"], 1.01, f" {name}", fontsize=9, color=QUIET, va="bottom", **placement
            )


def traffic(result: ClusterResult) -> Figure:
    """Bytes sent between nodes."""
    if not len(result.traffic_rows):
        raise Error(
            "too many nodes for a matrix", remedy="use `phases`, with bytes sent and received by each node"
        )
    names = node_names(result)
    return heat_map(result.traffic, [name.removeprefix("node ") for name in names])


def what_if(result: ClusterResult) -> Figure:
    """Time of the job with one component twice as fast."""
    if result.what_if.is_empty():
        raise Error("nothing was replayed twice as fast", remedy="omit what_if=False")
    rows = [("as it is", result.elapsed_s, f"{figure(result.elapsed_s)} s", QUIET)]
    for row in result.what_if.sort("elapsed_s", descending=True).iter_rows(named=True):
        label = f"{figure(row['elapsed_s'])} s, {saving(row['saved'])}"
        rows.append((f"{PART_NAMES[row['what']]} × 2", row["elapsed_s"], label, COLORS[row["what"]]))
    return _bars(rows, "time of the job (s)")


def energy(result: ClusterResult) -> Figure:
    """Where the energy goes."""
    cluster_energy = result.energy
    parts = (
        ("processors", cluster_energy.processor, BLUE),
        ("stores", cluster_energy.store, VERMILION),
        ("network", cluster_energy.network, GREEN),
        ("memories", cluster_energy.memory, QUIET),
    )
    total = cluster_energy.total or 1.0
    rows = [
        (name, value_j, f"{joules(value_j)}, {percent(value_j / total)}", color)
        for name, value_j, color in parts
    ]
    return _bars(rows, "energy (J)")


def _bars(rows: Sequence[tuple[str, float, str, str]], label: str) -> Figure:
    """Bars below each other, each with its name, a text at its end and its color."""
    fig, (axes,) = panels(1, max(0.9 + 0.34 * len(rows), SIZE[1] * 0.6))
    axes.barh(range(len(rows)), [row[1] for row in rows], height=0.62, color=[row[3] for row in rows])
    for place, (_, value, end_text, _) in enumerate(rows):
        label_right(axes, end_text, (value, place))
    name_rows(axes, [row[0] for row in rows])
    axes.set_xlim(0, max(row[1] for row in rows) or 1.0)
    axes.set_xlabel(label)
    return fig


KINDS: Mapping[str, Callable[[ClusterResult], Figure]] = {
    "phases": phases,
    "timeline": timeline,
    "traffic": traffic,
    "what_if": what_if,
    "energy": energy,
}
"""Functions that draw a figure, by its kind."""
