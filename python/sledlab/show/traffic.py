"""Bytes that each node sends each node, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.palette import FAINT
from sledlab.show.plots import color_bar, single_plot
from sledlab.show.widths import SIZE, base_width
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
    """Draw the bytes that nodes send each other: rows send, columns receive.

    Args:
        traffic: Bytes, a row for every sender, a column for every receiver.
        names: Names of the senders; receivers are the senders and the client.
    """
    fig, axes = single_plot(min(SIZE[1] * 1.05, base_width() * 0.8))
    unit, scale = next(
        (name, size)
        for name, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1))
        if _has_whole_unit(traffic, size)
    )
    amounts = traffic / scale
    largest = float(amounts.max(initial=0.0)) or 1.0
    image = axes.pcolormesh(amounts, cmap="Blues", vmin=0, vmax=largest, rasterized=len(names) > 64)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    _name_axes(axes, names)
    if len(names) <= MAX_TEXT:
        for row, column in ((row, column) for row in range(len(names)) for column in range(len(names) + 1)):
            color = "white" if amounts[row, column] > 0.6 * largest else "black"
            text = figure(float(amounts[row, column])) if traffic[row, column] else "·"
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=9, color=color)
    color_bar(fig, image, axes, f"{unit} in all phases")
    return fig


def _has_whole_unit(traffic: numpy.ndarray[Any, Any], size: float) -> bool:
    """Whether the largest number of bytes is at least one of a unit of `size` bytes."""
    return bool(traffic.max(initial=0) >= size) or size == 1


def _name_axes(axes: Axes, names: Sequence[str]) -> None:
    """Name rows and columns, only some of them if there are many."""
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
    receiver = [*names, "the client"][int(received.argmax())]
    least, most = data(int(sent.min())), data(int(sent.max()))
    senders = f"Every node sends {least}" if least == most else f"Nodes send {least} to {most} each"
    return f"{senders}; {receiver} receives the most, {data(int(received.max()))}. Collectives are omitted."
