"""Maps of seek times, with the shape of their regions as the paper prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import later, mpl_patches, tomllib
from sledlab.lazy import numpy as np
from sledlab.model.experiment import experiment as experiments
from sledlab.reproduction.statements import PUBLISHED_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from sledlab.reproduction.changes import Changes
    from sledlab.reproduction.figure import Figure, FigurePanel

seek_map = later("sledlab.studies.seek_map:seek_map")
device_model = later("sledlab.model.catalog:device")

THRESHOLDS_MS = (0.3, 0.325, 0.35, 0.4)
OUTLINE_MS = 0.325
"""The time whose region gives the paper's rectangle its height, in ms."""


VISIBLE_BITS = 420
"""Bits shown to either side of the center; beyond, times grow with x alone."""


def draw_map(
    drawing: Drawing, axes: Axes, figure: Figure, panel: FigurePanel, changes: Changes
) -> dict[str, Any]:
    """Draw seek times from the center to even columns; return the paper's statement with its mark."""
    parameters = dict(tomllib.loads(experiments.text(figure.runs[0].experiment))["device"])
    device_settings = {key.removeprefix("device."): value for key, value in changes.settings.items()}
    preset = parameters.pop("preset")
    parameters = {} if changes.device else parameters
    seek_times = seek_map(device_model(changes.device or preset, **{**parameters, **device_settings}))
    even_columns = slice(None, None, 2)
    x, ms = seek_times.x_bit[even_columns], seek_times.ms[:, even_columns]
    mesh = axes.pcolormesh(x, seek_times.y_bit, ms, cmap="cividis_r", shading="nearest", rasterized=True)
    for index, threshold_ms in enumerate(THRESHOLDS_MS):
        _draw_outline(axes, x, seek_times.y_bit, ms, threshold_ms, 900 - 300 * index)
    axes.set_xlim(-VISIBLE_BITS, VISIBLE_BITS)
    color_bar = drawing.colorbar(mesh, ax=axes, label="positioning time (ms)", shrink=0.9)
    color_bar.outline.set_visible(False)
    reached_y = seek_times.y_bit[np.asarray(ms <= OUTLINE_MS).any(axis=1)]
    height = float(reached_y.max() - reached_y.min())
    assert panel.printed[0].by
    width = height / panel.printed[0].by[0]
    style: Any = {"fill": False, "edgecolor": PUBLISHED_COLOR, "linestyle": "--", "linewidth": 1.8}
    rectangle = mpl_patches.Rectangle((-width / 2, float(reached_y.min())), width, height, **style)
    axes.add_patch(rectangle)
    axes.set_xlabel(panel.labels[0])
    axes.set_ylabel(panel.labels[1])
    return {panel.printed[0].text: rectangle}


def _draw_outline(axes: Axes, x: Any, y: Any, ms: Any, threshold_ms: float, label_y: int) -> None:
    """Draw the outline of the region reached within a time, and the time to the right of all regions."""
    axes.contour(x, y, ms, levels=[threshold_ms], colors="white", linewidths=0.9)
    edge = int(x[np.asarray(ms <= threshold_ms).any(axis=0)].max())
    reached_y = y[ms[:, list(x).index(edge)] <= threshold_ms]
    axes.annotate(
        f"{threshold_ms:g} ms",
        (edge, min(max(label_y, int(reached_y.min())), int(reached_y.max()))),
        xytext=(VISIBLE_BITS - 12, label_y),
        color="white",
        fontsize=9,
        ha="right",
        va="center",
        arrowprops={"arrowstyle": "-", "color": "white", "linewidth": 0.7},
    )
