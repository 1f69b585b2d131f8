"""Maps of seek times, with the shape of their regions as the paper prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import later, mpl_patches, tomllib
from sledlab.lazy import numpy as np
from sledlab.model.experiment import experiment as known
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
    """Draws seek times from the center to even columns; returns the paper's statement with its mark."""
    parameters = dict(tomllib.loads(known.text(figure.runs[0].experiment))["device"])
    set_here = {key.removeprefix("device."): value for key, value in changes.settings.items()}
    preset = parameters.pop("preset")
    parameters = {} if changes.device else parameters
    result = seek_map(device_model(changes.device or preset, **{**parameters, **set_here}))
    even = slice(None, None, 2)
    x, ms = result.x_bit[even], result.ms[:, even]
    mesh = axes.pcolormesh(x, result.y_bit, ms, cmap="cividis_r", shading="nearest", rasterized=True)
    for index, threshold_ms in enumerate(THRESHOLDS_MS):
        _outline(axes, x, result.y_bit, ms, threshold_ms, 900 - 300 * index)
    axes.set_xlim(-VISIBLE_BITS, VISIBLE_BITS)
    bar = drawing.colorbar(mesh, ax=axes, label="positioning time (ms)", shrink=0.9)
    bar.outline.set_visible(False)
    rows = result.y_bit[np.asarray(ms <= OUTLINE_MS).any(axis=1)]
    height = float(rows.max() - rows.min())
    assert panel.printed[0].by
    width = height / panel.printed[0].by[0]
    style: Any = {"fill": False, "edgecolor": PUBLISHED_COLOR, "linestyle": "--", "linewidth": 1.8}
    rectangle = mpl_patches.Rectangle((-width / 2, float(rows.min())), width, height, **style)
    axes.add_patch(rectangle)
    axes.set_xlabel(panel.labels[0])
    axes.set_ylabel(panel.labels[1])
    return {panel.printed[0].text: rectangle}


def _outline(axes: Axes, x: Any, y: Any, ms: Any, threshold_ms: float, label_y: int) -> None:
    """Outlines the region reached within a time, and writes the time on the right, outside of all regions."""
    axes.contour(x, y, ms, levels=[threshold_ms], colors="white", linewidths=0.9)
    edge = int(x[np.asarray(ms <= threshold_ms).any(axis=0)].max())
    inside = y[ms[:, list(x).index(edge)] <= threshold_ms]
    axes.annotate(
        f"{threshold_ms:g} ms",
        (edge, min(max(label_y, int(inside.min())), int(inside.max()))),
        xytext=(280, label_y),
        color="white",
        fontsize=9,
        va="center",
        arrowprops={"arrowstyle": "-", "color": "white", "linewidth": 0.7},
    )
