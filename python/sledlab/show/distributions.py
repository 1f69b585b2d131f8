"""Distributions drawn as steps, with the median of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.wording import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from sledlab.show.series import Panel


def draw_distributions(axes: Axes, panel: Panel) -> None:
    """Draw distributions as steps, from the smallest value that the axis can show."""
    for series in panel.series:
        # The first step begins at zero.
        x, shares = [*series.x[:1], *series.x], [0.0, *(share or 0.0 for share in series.values)]
        axes.step(x, shares[: len(x)], where="post", color=series.color, linestyle=_dashes(series.dash))
    if panel.log_x:
        positive = [time for series in panel.series for time in series.x if time > 0]
        low, high = min(positive), max(positive)
        axes.set_xscale("log")
        axes.set_xlim(left=low if low < high else low / 2)
    plain_ticks(axes.xaxis)
    axes.set_ylim(0, 101)
    axes.grid(visible=True, axis="both")
    axes.set(xlabel=panel.x_name, ylabel=panel.y_name)


def _dashes(lengths: Sequence[float]) -> Any:
    """Return the style of a line with strokes and gaps of these lengths; solid without any."""
    return (0, tuple(lengths)) if lengths else "-"


def name_distributions(axes: Axes, median_ms_by_name: Mapping[str, tuple[float, str]]) -> None:
    """Mark the median of each curve of a distribution, and name the curves in the emptier corner.

    Args:
        axes: The axes with the curves.
        median_ms_by_name: Median and color of each curve.
    """
    handles = []
    for name, (median_ms, color) in median_ms_by_name.items():
        text = f"{name} {quantity(median_ms, 'ms')}"
        handles += axes.plot([median_ms], [50], marker="o", markersize=4.5, color=color, label=text)
    places = [
        axes.transData.transform(point) for line in axes.lines for point in np.column_stack(line.get_data())
    ]
    corners = {"lower right": (1.0, 0.0), "upper left": (0.0, 1.0)}
    distances = {
        corner: min(np.abs(axes.transAxes.inverted().transform(places) - place).max(axis=1))
        for corner, place in corners.items()
    }
    corner_legend(
        axes,
        max(corners, key=lambda corner: distances[corner]),
        handles=handles,
        title="median",
        handlelength=0.6,
        labelcolor="linecolor",
        handletextpad=0.4,
    )


def corner_legend(axes: Axes, corner: str, **options: Any) -> None:
    """Draw a legend in a corner of a plot, for which `figure_fit` makes room."""
    style: Any = {"loc": corner, "frameon": False, "alignment": "left", "borderaxespad": 0.2}
    axes.legend(**style, **options).set_in_layout(False)
