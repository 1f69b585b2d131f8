"""Bytes that each node sends each node, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.palette import FAINT, INK, QUIET
from sledlab.show.plots import single_plot
from sledlab.show.widths import SIZE
from sledlab.show.wording import data, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_TEXT = 8
"""Most nodes for which every cell shows its number."""

MAX_NAMED_ROWS = 16
"""Most nodes for which every row shows its name."""


def heat_map(traffic: numpy.ndarray[Any, Any], names: Sequence[str]) -> Figure:
    """Draws the bytes that nodes send each other: rows send, columns receive.

    Args:
        traffic: Bytes, a row for every sender, a column for every receiver.
        names: Names of the senders; receivers are the senders and the client.
    """
    made, axes = single_plot(SIZE[1] * 1.05)
    unit, scale = next(
        (name, size)
        for name, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1))
        if _fits(traffic, size)
    )
    values = traffic / scale
    top = float(values.max(initial=0.0)) or 1.0
    image = axes.pcolormesh(values, cmap="Blues", vmin=0, vmax=top, rasterized=len(names) > 64)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    _name(axes, names)
    if len(names) <= MAX_TEXT:
        for row, column in ((row, column) for row in range(len(names)) for column in range(len(names) + 1)):
            color = "white" if values[row, column] > 0.6 * top else INK
            text = figure(float(values[row, column])) if traffic[row, column] else "·"
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=9, color=color)
    bar = made.colorbar(image, ax=axes, shrink=0.9, pad=0.02)
    bar.set_label(f"{unit} in all phases", color=QUIET)
    bar.outline.set_visible(False)
    return made


def _fits(traffic: numpy.ndarray[Any, Any], size: float) -> bool:
    """Whether the largest number of bytes is at least one of a unit of `size` bytes."""
    return bool(traffic.max(initial=0) >= size) or size == 1


def _name(axes: Axes, names: Sequence[str]) -> None:
    """Names rows and columns, only some of them if there are many."""
    receivers = [*names, "client"]
    step = 1 if len(names) <= MAX_NAMED_ROWS else -(-len(names) // (MAX_NAMED_ROWS // 2))
    rows = range(0, len(names), step)
    # The client's name takes the room of two columns.
    columns = [*(place for place in rows if step == 1 or place + step / 2 < len(names)), len(names)]
    axes.set_yticks([place + 0.5 for place in rows], [names[place] for place in rows])
    axes.set_xticks([place + 0.5 for place in columns], [receivers[place] for place in columns])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.set(xlabel="receives", ylabel="sends")
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def summarize_traffic(traffic: numpy.ndarray[Any, Any], names: Sequence[str]) -> str:
    """The traffic in two sentences: bytes sent by nodes, and the node that receives the most."""
    if not traffic.any():
        return "Nodes send data in collectives only."
    sent, received = traffic.sum(axis=1), traffic.sum(axis=0)
    to = [*names, "the client"][int(received.argmax())]
    minimum, greatest = data(int(sent.min())), data(int(sent.max()))
    each = (
        f"Every node sends {minimum}" if minimum == greatest else f"Nodes send {minimum} to {greatest} each"
    )
    return f"{each}; {to} receives the most, {data(int(received.max()))}. Collectives are omitted."
