"""The figure of the reuse distances of a trace."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sledlab.show import plots
from sledlab.show.palette import BLUE, VERMILION
from sledlab.show.wording import short_figure, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


@plots.style()
def draw(info: Mapping[str, Any]) -> Figure:
    """The share of accesses to blocks up to each reuse distance: a line for reads and one for writes.

    Args:
        info: The characteristics of a trace, as `Trace.info` returns them.
    """
    distances = info["reuse_distances"]
    figure, axes = plots.single_plot()
    ends = []
    names = [distance_text(each["max_kb"]) for each in distances["read"]["bins"]]
    for kind, name, color in (("read", "reads", BLUE), ("write", "writes", VERMILION)):
        if distances[kind]["accesses"]:
            shares = list(accumulate(100 * each["share"] for each in distances[kind]["bins"]))
            dots = [(place, share, False) for place, share in enumerate(shares)]
            plots.draw_line(axes, dots, (color, "-" if kind == "read" else (0, (5, 1.5)), "o"), name)
            ends.append((shares[-1], name, color))
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.3, len(names) - 0.7)
    axes.set_ylim(0, 100)
    axes.set(xlabel="reuse distance, at most", ylabel="accesses to blocks (%)")
    axes.grid(visible=True, axis="y")
    plots.name_ends(axes, ends)
    return figure


def distance_text(max_kb: float) -> str:
    """Return a distance given in KiB, with the unit that reads best.

    Examples:
        >>> distance_text(4.0), distance_text(2048.0)
        ('4 KiB', '2 MiB')
    """
    return f"{short_figure(max_kb)} KiB" if max_kb < 1024 else size(max_kb / 1024)
