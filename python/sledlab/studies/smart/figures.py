"""Figures of a study of smart storage, after figures 4 to 11 of Chiu 2004."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from sledlab.show import plots
from sledlab.show.cluster_figures import COLORS
from sledlab.show.wording import figure
from sledlab.studies.smart.labels import labels
from sledlab.studies.smart.pareto import pareto

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.smart.tables import SmartStudy


def times(study: SmartStudy) -> Figure:
    """Time of every job by component, mean over nodes."""
    rows = [(name, each.run.parts_s()) for name, each in zip(labels(study), study.runs, strict=True)]
    return _draw_stacks(rows)


def phases(study: SmartStudy) -> Figure:
    """Time of every phase by component, mean over nodes, of the replays on most nodes."""
    most_nodes = max(each.where.nodes for each in study.runs)
    rows = []
    for name, each in zip(labels(study), study.runs, strict=True):
        if each.where.nodes == most_nodes:
            for phase in each.run.phases:
                parts = {part: float(phase[f"{part}_s"]) for part in COLORS}
                rows.append((f"{name}: {phase['phase']}", parts))
    return _draw_stacks(rows)


def _draw_stacks(rows: Sequence[tuple[str, Mapping[str, float]]]) -> Figure:
    fig, (axes,) = plots.panels(1, 1.1 + plots.row_height() * len(rows), rows=len(rows))
    ends = [0.0] * len(rows)
    for part, color in COLORS.items():
        widths = [parts[part] for _, parts in rows]
        axes.barh(range(len(rows)), widths, left=ends, height=0.66, color=color)
        ends = [start + width for start, width in zip(ends, widths, strict=True)]
    for place, end in enumerate(ends):
        plots.label_right(axes, f"{figure(end)} s", (end, place))
    plots.name_rows(axes, [name for name, _ in rows])
    axes.set_xlim(0, max(ends) or 1.0)
    axes.set_xlabel("time of a node (s), mean over nodes")
    plots.legend(fig, COLORS)
    return fig


def scaling(study: SmartStudy) -> Figure:
    """Time of the job against the number of nodes, a line for each device, page size, network and place."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for name, each in zip(labels(study), study.runs, strict=True):
        line_name = ", ".join(part for part in name.split(", ") if part != f"{each.where.nodes:,} nodes")
        lines.setdefault(line_name, []).append((each.where.nodes, each.run.elapsed_s))
    fig, (axes,) = plots.panels(1, 3.4)
    node_counts = sorted({each.where.nodes for each in study.runs})
    ends = []
    for (name, points), style in zip(lines.items(), cycle(plots.LINE_STYLES), strict=False):
        positions = [node_counts.index(nodes) for nodes, _ in points]
        color, _, _ = style
        plots.plot_line(axes, positions, [seconds for _, seconds in points], style, name)
        ends.append((points[-1][1], name, color))
    _nodes_axis(axes, node_counts)
    plots.value_axis(axes, [seconds for points in lines.values() for _, seconds in points])
    axes.set_ylabel("time of the job (s)")
    plots.name_ends(axes, ends)
    return fig


def _nodes_axis(axes: Axes, node_counts: Sequence[int]) -> None:
    axes.set_xticks(range(len(node_counts)), [f"{size:,}" for size in node_counts])
    axes.set_xlim(-0.3, len(node_counts) - 0.7)
    axes.set_xlabel("nodes")
    axes.grid(visible=True, axis="y")


KINDS: Mapping[str, Callable[[SmartStudy], Figure]] = {
    "times": times,
    "phases": phases,
    "scaling": scaling,
    "pareto": pareto,
}
"""Every figure by its name."""


def draw(study: SmartStudy, section: str = "times") -> Figure:
    """One of the figures.

    Raises:
        Error: There is no such figure, or too little for it.
    """
    return plots.find_panel(KINDS, section)(study)
