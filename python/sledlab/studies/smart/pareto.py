"""The figure of good value: the time of a job against its cost."""

from __future__ import annotations

import math
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import mpl_ticker
from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.line_names import NAME_PT
from sledlab.show.money import JOB_COUNT
from sledlab.show.palette import INK, QUIET
from sledlab.show.widths import SIZE, base_width
from sledlab.studies.smart.labels import parts
from sledlab.studies.smart.money import MIN_COMPARED, comparable_runs, pareto_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from sledlab.studies.smart.tables import SmartRun, SmartStudy

BELOW_PT = 8
"""Distance of a name below its point, in points; no replay can be there: it would beat that point."""

LETTER_PT = 6
"""Width of a letter of a name, in points."""

LETTERS = 68
"""Number of letters of a name as wide as the axes, in a figure as wide as by default."""

FAR = 1000
"""Ratio of largest to smallest value from which an axis has ticks at powers of 10 only."""


def pareto(study: SmartStudy) -> Figure:
    """Money for a job against its time, a panel for each job; those that nothing beats in both are joined.

    Raises:
        Error: Fewer than three replays of every job have a price.
    """
    jobs = comparable_runs(study)
    if not jobs:
        raise Error(
            f"no job was replayed {MIN_COMPARED} times on clusters that have a price",
            remedy="replay it on more devices or nodes, or set missing prices: --price NAME=USD",
        )
    devices = list(dict.fromkeys(each.where.device for runs in jobs.values() for each in runs))
    colors = {device: style[0] for device, style in zip(devices, cycle(plots.LINE_STYLES), strict=False)}
    names_by_id = _names(study)
    varying_columns = {name for texts in parts(study) for name in texts}
    fig, panels = plots.panels(len(jobs), 0.7 + 3.1 * len(jobs))
    best_by_job = {job: pareto_runs(runs) for job, runs in jobs.items()}
    for axes, (job, runs) in zip(panels, jobs.items(), strict=True):
        axes.plot(*zip(*map(_position, best_by_job[job]), strict=True), color=INK, linewidth=0.9, zorder=1)
        for each in runs:
            is_best = any(each is one for one in best_by_job[job])
            nodes_text = f"{each.where.nodes:,}" if "nodes" in varying_columns and not is_best else ""
            _draw_run(axes, _position(each), colors[each.where.device], nodes_text, is_best=is_best)
        _money_axes(axes, runs, len(_short_name(names_by_id[id(best_by_job[job][0])], is_end=True)))
        axes.set_title(job if len(jobs) > 1 else "")
    if len(colors) > 1:
        plots.legend(fig, colors)
    fig.draw_without_rendering()  # positions of texts are known from here on
    for axes, job in zip(panels, jobs, strict=True):
        _write_names(fig, axes, best_by_job[job], names_by_id, colors)
    return fig


def _position(each: SmartRun) -> tuple[float, float]:
    """The position of a replay: time of the job in s, and USD for many of it."""
    return each.run.elapsed_s, JOB_COUNT * (each.cost.job_usd or 0.0)


def _names(study: SmartStudy) -> dict[int, list[str]]:
    """Values that distinguish replays of the same job and device, by `id`; the number of nodes first."""
    names_by_id = {}
    for run, texts_by_column in zip(study.runs, parts(study), strict=True):
        nodes = f"{run.where.nodes:,} node{'s' if run.where.nodes > 1 else ''}"
        labels = {**texts_by_column, "nodes": nodes} if "nodes" in texts_by_column else texts_by_column
        names_by_id[id(run)] = [text for name, text in labels.items() if name not in ("job", "device")]
    return names_by_id


def _short_name(name: Sequence[str], *, is_end: bool) -> str:
    """A name in a line: between the ends of a line that differs in nodes only, the number alone."""
    return name[0].split(" ")[0] if len(name) == 1 and not is_end else ", ".join(name)


def _draw_run(axes: Axes, place: tuple[float, float], color: str, label: str, *, is_best: bool) -> None:
    """Draw a replay, large where no replay beats it, else small, with the text `label`, if any."""
    plots.draw_point(axes, place, color, 7 if is_best else 4)
    if label:
        style: Any = {"textcoords": "offset points", "fontsize": 9, "color": QUIET}
        axes.annotate(label, place, xytext=(3, 2), **style)


def _write_names(
    fig: Figure,
    axes: Axes,
    best: Sequence[SmartRun],
    names: Mapping[int, Sequence[str]],
    colors: Mapping[str, str],
) -> None:
    """Write names below points that no replay beats, on their left; lower where another name is already."""
    to_points = 72 / fig.dpi
    occupied: list[tuple[float, float, float]] = []
    for each in best:
        text = _short_name(names[id(each)], is_end=each in (best[0], best[-1]))
        right_pt, height_pt = (
            coordinate * to_points for coordinate in axes.transData.transform(_position(each))
        )
        left_pt, name_pt = right_pt - LETTER_PT * len(text), height_pt - BELOW_PT
        while any(
            left_pt < end and start < right_pt and abs(name_pt - occupied_pt) < NAME_PT
            for start, end, occupied_pt in occupied
        ):
            name_pt -= 1
        occupied.append((left_pt, right_pt, name_pt))
        style: Any = {"textcoords": "offset points", "fontsize": 9, "fontweight": "bold"}
        style |= {"ha": "right", "va": "center", "color": colors[each.where.device]}
        axes.annotate(text, _position(each), xytext=(-4, name_pt - height_pt), **style)


def _money_axes(axes: Axes, runs: Sequence[SmartRun], letters: int) -> None:
    """Make both axes logarithmic: from few to many nodes, both time and money span large ratios.

    Args:
        axes: The axes.
        runs: The replays that are shown.
        letters: Length of the name of the fastest replay, which is written on its left.
    """
    seconds, usd = zip(*map(_position, runs), strict=True)
    axes.set(xscale="log", yscale="log", xlabel="time of the job (s)", ylabel=f"USD for {JOB_COUNT:,} jobs")
    share = min((letters + 4) / (LETTERS * base_width() / SIZE[0]), 0.5)
    axes.set_xlim(_axis_limits(seconds, share, 0.1))
    axes.set_ylim(_axis_limits(usd, 0.16, 0.1))
    _set_ticks(axes.xaxis, seconds)
    _set_ticks(axes.yaxis, usd)
    axes.grid(visible=True)


def _axis_limits(values: Sequence[float], share_before: float, share_after: float) -> tuple[float, float]:
    """Limits of a logarithmic axis that leave shares of it free before and after the values."""
    low, high = math.log(min(values)), math.log(max(values))
    span = max(high - low, math.log(1.5)) / (1 - share_before - share_after)
    return math.exp(low - share_before * span), math.exp(high + share_after * span)


def _set_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Set ticks as plain numbers, as many as have room."""
    subs = (1,) if max(values) > FAR * min(values) else (1, 2, 5)
    axis.set_major_locator(mpl_ticker.LogLocator(subs=subs))
    plain_ticks(axis)
