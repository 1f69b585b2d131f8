"""Seek-time maps drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import numpy as np
from sledlab.show.palette import VERMILION
from sledlab.show.plots import single_plot
from sledlab.show.series import Panel, PlaneTimes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.seek_map.times import SeekMap

X_NAME, Y_NAME = "x (bits from the center)", "y (bits from the center)"


def panels(result: SeekMap) -> list[Panel]:
    """Return the map as an interactive panel, where each time is the longer one of the moves in x and y."""
    x_ms, y_ms = result.ms.min(axis=0), result.ms.min(axis=1)
    if not np.array_equal(result.ms, np.maximum(x_ms[None, :], y_ms[:, None])):
        return []
    outlines = [region.threshold_ms for region in result.regions() if region.share > 0]
    y_bits = result.y_bit.tolist()
    times = PlaneTimes(Y_NAME, y_bits, x_ms.tolist(), y_ms.tolist(), result.start[:2], outlines)
    return [Panel(X_NAME, "positioning time (ms)", [], result.x_bit.tolist(), times=times)]


def seek_map(result: SeekMap) -> Figure:
    """Seek times from one place to all others, with the regions reached within some times outlined."""
    figure, axes = single_plot(4.5)
    mesh = axes.pcolormesh(
        result.x_bit, result.y_bit, result.ms, cmap="cividis_r", shading="nearest", rasterized=True
    )
    for index, region in enumerate(result.regions()):
        if region.share > 0:
            _outline(axes, result, region.threshold_ms, 900 - 250 * index)
    axes.plot(
        [result.start[0]], [result.start[1]], marker="+", color=VERMILION, markersize=9, markeredgewidth=2
    )
    color_bar = figure.colorbar(mesh, ax=axes, label="positioning time (ms)", shrink=0.8)
    color_bar.outline.set_visible(False)
    axes.set_aspect("equal")
    axes.set_xlabel(X_NAME)
    axes.set_ylabel(Y_NAME)
    axes.set_title(f"{result.device}: seek time from x = {result.start[0]}, y = {result.start[1]}")
    return figure


def _outline(axes: Axes, result: SeekMap, threshold_ms: float, y_label: int) -> None:
    """Outline the places reached within a time, and name it on the right, outside of the regions."""
    axes.contour(result.x_bit, result.y_bit, result.ms, levels=[threshold_ms], colors="white", linewidths=0.9)
    x_edge = max(result.x_bit[(result.ms <= threshold_ms).any(axis=0)])
    reached_y = result.y_bit[(result.ms[:, list(result.x_bit).index(x_edge)] <= threshold_ms)]
    axes.annotate(
        f"{threshold_ms:g} ms",
        (x_edge, min(max(y_label, reached_y.min()), reached_y.max())),
        xytext=(result.start[0] + 420, y_label),
        color="white",
        fontsize=9,
        va="center",
        arrowprops={"arrowstyle": "-", "color": "white", "linewidth": 0.7},
    )
