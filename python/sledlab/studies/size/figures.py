"""Figures of the search for the smallest cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show import plots
from sledlab.show.cluster_figures import COLORS, PART_NAMES
from sledlab.show.palette import INK, QUIET
from sledlab.studies.size.search import doublings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.size.result import SmartSize


def times(result: SmartSize) -> Figure:
    """Time of the job against the number of nodes; the large point of each device is the answer."""
    fig, (axes,) = plots.panels(1, 3.4)
    ends = []
    for index, (device, node_count) in enumerate(result.smallest.items()):
        style, rows = plots.LINE_STYLES[index % len(plots.LINE_STYLES)], result.device_rows(device)
        color, _, _ = style
        times_s = [each.run.elapsed_s for each in rows]
        plots.plot_line(axes, [each.nodes for each in rows], times_s, style, device)
        ends.append((rows[-1].run.elapsed_s, device, color))
        if node_count is not None:
            answer_point = (node_count, result.find_row(device, node_count).run.elapsed_s)
            plots.draw_point(axes, answer_point, color, 9)
            ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5}
            font: Any = {"fontsize": 9, "fontweight": "bold", "color": color, "bbox": ground}
            axes.annotate(f"{node_count:,}", answer_point, xytext=(5, 6), textcoords="offset points", **font)
    _nodes_axis(axes, _node_range(result))
    seconds = [each.run.elapsed_s for each in result.rows]
    deadline = result.goal.deadline_s
    if deadline is not None:
        seconds.append(deadline)
        axes.axhline(deadline, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
        ends.append((deadline, f"deadline {deadline:g} s", QUIET))
    plots.value_axis(axes, seconds)
    axes.set_ylabel("time of the job (s)")
    plots.name_ends(axes, ends)
    return fig


def savings_figure(result: SmartSize) -> Figure:
    """What each component twice as fast saves, against the number of nodes; the line is at the answer."""
    fig, panels = plots.panels(len(result.smallest), 0.6 + 2.2 * len(result.smallest))
    part_styles = {part: style[1:] for part, style in zip(PART_NAMES, plots.LINE_STYLES, strict=False)}
    for axes, (device, node_count) in zip(panels, result.smallest.items(), strict=True):
        rows = result.device_rows(device)
        numbers = [each.nodes for each in rows]
        for part in PART_NAMES:
            shares = [100 * each.run.savings()[part] for each in rows]
            plots.plot_line(axes, numbers, shares, (COLORS[part], *part_styles[part]), part)
        if all(value >= 0 for each in rows for value in each.run.savings().values()):
            axes.set_ylim(bottom=0)
        if node_count is not None:
            axes.axvline(node_count, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        _nodes_axis(axes, _node_range(result))
        axes.set_title(
            device if node_count is None else f"{device}: {node_count:,} node{'s' if node_count > 1 else ''}"
        )
        axes.set_ylabel("time saved (%)")
        if axes is not panels[-1]:
            axes.set_xlabel("")
    lines = zip(PART_NAMES.values(), panels[0].lines, strict=False)
    plots.legend(fig, {f"{name} × 2": line for name, line in lines})
    return fig


def _node_range(result: SmartSize) -> tuple[int, int]:
    """Return the fewest and the most nodes replayed: a budget may not buy the largest number allowed."""
    numbers = [each.nodes for each in result.rows]
    return min(numbers), max(numbers)


def _nodes_axis(axes: Axes, nodes: tuple[int, int]) -> None:
    """Set an axis of numbers of nodes, logarithmic."""
    first, last = nodes
    ticks = doublings(first, last)
    if len(ticks) > 1 and ticks[-1] < 1.5 * ticks[-2]:
        del ticks[-2]
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
    ratio = max(last / first, 2.0)
    axes.set_xlim(first / ratio**0.04, last * ratio**0.04)
    axes.set_xlabel("nodes")
    axes.grid(visible=True, axis="y")


KINDS: Mapping[str, Callable[[SmartSize], Figure]] = {"times": times, "saved": savings_figure}
"""Every figure by its name."""


def draw(result: SmartSize, kind: str = "times") -> Figure:
    """One of the figures.

    Raises:
        Error: There is no such figure.
    """
    return plots.find_panel(KINDS, kind)(result)
