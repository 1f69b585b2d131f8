"""Figures of a study of smart storage, after figures 4 to 11 of paper 004."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.lazy import mpl_ticker
from sledlab.show import plots
from sledlab.show.cluster_figures import COLOURS
from sledlab.show.money import MANY
from sledlab.show.plots import INK, LINES
from sledlab.show.wording import figure
from sledlab.studies.smart.money import LEAST_COMPARED, compared, unbeaten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.smart.tables import Run, SmartStudy


def labels(study: SmartStudy) -> list[str]:
    """What tells each replay from the others: the columns of which there are several."""
    wheres = [each.where for each in study.runs]

    def several(name: str) -> bool:
        return len({getattr(where, name) for where in wheres}) > 1

    def said(each: Run) -> str:
        where = each.where
        parts = {
            "job": where.job,
            "nodes": f"{where.nodes} nodes",
            "device": where.device,
            "page_kb": f"{where.page_kb:g} KB" if where.page_kb else "",
            "network": where.network,
            "at": f"at {'the host' if where.at == 'host' else 'the nodes'}",
        }
        found = [part for name, part in parts.items() if several(name)]
        return ", ".join(found) or where.device

    return [said(each) for each in study.runs]


def times(study: SmartStudy) -> Figure:
    """Time of every job by component, mean over nodes."""
    rows = [(name, each.run.parts_s()) for name, each in zip(labels(study), study.runs, strict=True)]
    return _stacked(rows)


def phases(study: SmartStudy) -> Figure:
    """Time of every phase by component, mean over nodes, of the replays on most nodes."""
    most = max(each.where.nodes for each in study.runs)
    rows = []
    for name, each in zip(labels(study), study.runs, strict=True):
        if each.where.nodes == most:
            for phase in each.run.phases:
                parts = {part: float(phase[f"{part}_s"]) for part in COLOURS}
                rows.append((f"{name}: {phase['phase']}", parts))
    return _stacked(rows)


def _stacked(rows: Sequence[tuple[str, Mapping[str, float]]]) -> Figure:
    made, (axes,) = plots.panels(1, 1.1 + 0.3 * len(rows))
    left = [0.0] * len(rows)
    for part, colour in COLOURS.items():
        widths = [parts[part] for _, parts in rows]
        axes.barh(range(len(rows)), widths, left=left, height=0.66, color=colour)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    for place, end in enumerate(left):
        plots.beside(axes, f"{figure(end)} s", (end, place))
    plots.named_rows(axes, [name for name, _ in rows])
    axes.set_xlim(0, (max(left) or 1.0) * 1.18)
    axes.set_xlabel("time of a node (s), mean over nodes")
    plots.legend(made, COLOURS)
    return made


def scaling(study: SmartStudy) -> Figure:
    """Time of the job against the number of nodes, a line for each device, page size, network and place."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for name, each in zip(labels(study), study.runs, strict=True):
        rest = ", ".join(part for part in name.split(", ") if part != f"{each.where.nodes} nodes")
        lines.setdefault(rest, []).append((each.where.nodes, each.run.elapsed_s))
    made, (axes,) = plots.panels(1, 3.4)
    sizes = sorted({each.where.nodes for each in study.runs})
    ends = []
    for (name, points), colour in zip(lines.items(), _colours(len(lines)), strict=True):
        places = [sizes.index(nodes) for nodes, _ in points]
        axes.plot(places, [seconds for _, seconds in points], marker="o", markersize=4, color=colour)
        ends.append((points[-1][1], name, colour))
    _nodes_axis(axes, sizes)
    plots.value_axis(axes, [seconds for points in lines.values() for _, seconds in points])
    axes.set_ylabel("time of the job (s)")
    plots.name_ends(made, axes, len(sizes) - 1, ends)
    return made


def _colours(count: int) -> list[str]:
    return [LINES[index % len(LINES)] for index in range(count)]


def _nodes_axis(axes: Axes, sizes: Sequence[int]) -> None:
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set_xlim(-0.3, len(sizes) - 1 + 0.2 * max(len(sizes), 2))
    axes.set_xlabel("nodes")
    axes.grid(visible=True, axis="y")


def pareto(study: SmartStudy) -> Figure:
    """Money for a job against its time, a panel for each job; those that nothing beats in both are joined.

    Raises:
        Error: Fewer than three replays of every job have a price.
    """
    jobs = compared(study)
    if not jobs:
        raise Error(
            f"no job was replayed {LEAST_COMPARED} times on clusters that have a price",
            remedy="replay one on more devices or nodes, or say prices that lack: --price NAME=USD",
        )
    kinds = _without_nodes(study)
    colours = dict(zip(dict.fromkeys(kinds.values()), _colours(len(set(kinds.values()))), strict=True))
    made, panels = plots.panels(len(jobs), 0.7 + 3.3 * len(jobs))
    for axes, (job, runs) in zip(panels, jobs.items(), strict=True):
        best = unbeaten(runs)
        axes.plot(*zip(*map(_place, best), strict=True), color=INK, linewidth=0.9, zorder=1)
        for each in runs:
            rank = next((rank for rank, one in enumerate(best) if one is each), None)
            said = f"{each.where.nodes:,}"
            if rank in (0, len(best) - 1):
                said = f"{said} node{'s' if each.where.nodes > 1 else ''}"
            _point(axes, _place(each), said, colours[kinds[id(each)]], is_best=rank is not None)
        _money_axes(axes, [_place(each) for each in runs])
        axes.set_title(job if len(jobs) > 1 else "")
    if len(colours) > 1:
        plots.legend(made, colours)
    return made


def _place(each: Run) -> tuple[float, float]:
    """Where a replay stands: time of the job in s, and USD for 1,000 of it."""
    return each.run.elapsed_s, MANY * (each.cost.job_usd or 0.0)


def _point(axes: Axes, place: tuple[float, float], said: str, colour: str, *, is_best: bool) -> None:
    """A replay with its number of nodes: large and below the line where nothing beats it, else above."""
    plots.dot(axes, place, colour, 7 if is_best else 4)
    style: Any = {
        "fontsize": 8.5 if is_best else 7,
        "fontweight": "bold" if is_best else "normal",
        "ha": "right" if is_best else "left",
        "va": "top" if is_best else "bottom",
    }
    by = (-4, -4) if is_best else (3, 2)
    axes.annotate(said, place, xytext=by, textcoords="offset points", color=colour, **style)


def _money_axes(axes: Axes, places: Sequence[tuple[float, float]]) -> None:
    """Logarithmic axes: few nodes and many are far apart in both time and money."""
    for axis, values, name in ((axes.xaxis, 0, "time of the job (s)"), (axes.yaxis, 1, "USD for 1,000 jobs")):
        numbers = [place[values] for place in places]
        (axes.set_xscale if values == 0 else axes.set_yscale)("log")
        room = (max(numbers) / min(numbers)) ** 0.1 * 1.06
        # Names stand on the left of the fastest.
        left = room**2 if values == 0 else room
        (axes.set_xlim if values == 0 else axes.set_ylim)(min(numbers) / left, max(numbers) * room)
        axis.set_major_locator(mpl_ticker.LogLocator(subs=(1, 2, 5)))
        plots.plain_ticks(axis)
        axis.set_label_text(name)
    axes.grid(visible=True)


def _without_nodes(study: SmartStudy) -> dict[int, str]:
    """What tells replays of one job from others besides the number of nodes, by `id`."""
    found = {}
    for name, each in zip(labels(study), study.runs, strict=True):
        known = (f"{each.where.nodes} nodes", each.where.job)
        rest = [part for part in name.split(", ") if part not in known]
        found[id(each)] = ", ".join(rest) or each.where.device
    return found


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
    if section not in KINDS:
        raise unknown("section", section, list(KINDS))
    return KINDS[section](study)
