"""Figures of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import QUIET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.studies.fleet.tables import Fleet

VOLUMES = (
    "99th percentile of each volume alone on a device, the fastest first; the dashed line is the goal. "
    "Hollow: overloaded."
)
GOALS = (
    "Devices required for each goal: every step is a placement that was tried. Hollow: some are overloaded."
)

MAX_NUMBERED = 12
"""Most volumes that are numbered one by one."""

MAX_POINTS = 50
"""Volumes from which on only those that overload a device have a point."""


def volumes(result: Fleet) -> Figure:
    """Volumes sorted by the 99th percentile of their response times, on each kind of device."""
    fig, (axes,) = plots.panels(1, 3.4)
    ends, values = [], []
    for index, name in enumerate(result.devices):
        rows: list[Any] = [row for row in result.table_rows("volumes") if row.device == name and row.fits]
        rows.sort(key=lambda row: float(row.p99_ms))
        times = [row.p99_ms for row in rows]
        if times:
            style = plots.LINE_STYLES[index % len(plots.LINE_STYLES)]
            color, dashes, _ = style
            axes.plot(range(1, len(times) + 1), times, color=color, linestyle=dashes, label=name)
            for place, row in enumerate(rows, 1):
                if len(rows) < MAX_POINTS or row.saturated:
                    plots.draw_point(axes, (place, row.p99_ms), color, 3, hollow=row.saturated)
            ends.append((times[-1], name, color))
            values += times
    goal = result.goal
    if goal is not None and goal.measure == "p99":
        values.append(goal.limit_ms)
        axes.axhline(goal.limit_ms, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
        ends.append((goal.limit_ms, f"goal {goal.limit_ms:g} ms", QUIET))
    volume_count = max((len(result.table_rows("volumes")) // len(result.devices), 1))
    axes.set(
        xlim=(0.5, max(volume_count + 0.5, 2)), xlabel="volumes", ylabel="99 % of its requests within (ms)"
    )
    if volume_count <= MAX_NUMBERED:
        axes.set_xticks(range(1, volume_count + 1), [str(place) for place in range(1, volume_count + 1)])
    plots.value_axis(axes, values)
    axes.grid(visible=True, axis="y")
    plots.name_ends(axes, ends)
    return fig


def goals(result: Fleet) -> Figure:
    """How many devices of each kind goals need."""
    tried = result.table_rows("tried")
    if not tried or result.goal is None:
        raise Error(
            "no placement was searched for", remedy="give a goal, and a placement that shares devices"
        )
    fig, (axes,) = plots.panels(1, 3.4)
    ends: list[tuple[float, str, str]] = []
    for index, name in enumerate(result.devices):
        rows = [row for row in tried if row.device == name and row.value_ms is not None]
        points = [(row.value_ms, row.devices) for row in rows]
        if not points:
            continue
        steps = _frontier(points)
        color, dashes, _ = plots.LINE_STYLES[index % len(plots.LINE_STYLES)]
        goals_ms, counts = zip(*steps, strict=True)
        axes.step(goals_ms, counts, where="post", color=color, linestyle=dashes, label=name)
        for row in rows:
            plots.draw_point(axes, (row.value_ms, row.devices), color, 4, hollow=row.overloaded > 0)
        ends.append((steps[-1][1], name, color))
    values = [row.value_ms for row in tried if row.value_ms is not None]
    axes.axvline(result.goal.limit_ms, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    longest_ms = max(*values, result.goal.limit_ms)
    axes.set_xlim(min(*values, result.goal.limit_ms) / 1.3, longest_ms * 1.3)
    plots.scale(
        axes,
        1.1 * max(row.devices for row in tried),
        "devices",
        f"goal: {result.goal.measure} (ms)",
    )
    plots.name_ends(axes, ends)
    return fig


def _frontier(points: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """The fewest devices that meet each goal, the strictest goal first, of pairs of both."""
    best_points: list[tuple[float, int]] = []
    for value_ms, devices in sorted(points):
        if not best_points or devices < best_points[-1][1]:
            best_points.append((value_ms, devices))
    return best_points


KINDS: Mapping[str, Callable[[Fleet], Figure]] = {"volumes": volumes, "goals": goals}
"""Every figure by its name."""


def draw(result: Fleet, kind: str = "volumes") -> Figure:
    """One of the figures.

    Raises:
        Error: There is no such figure.
    """
    return plots.find_panel(KINDS, kind)(result)
