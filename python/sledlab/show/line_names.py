"""Names at the ends of lines: moved apart, or into a legend where they have no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.plots import LINE_END, legend
from sledlab.show.text_extents import shorten_middle, text_box, texts_with_role, to_pixels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SHARE = 0.3
"""Largest share of a figure's width for names at the ends of lines."""

NAME_PT = 11
"""Room for a name at the end of a line, in points."""

MOVED_PT = 2.0
"""A name that lies further from the end of its line than this has a thin line to it, in points."""


def move_names_to_legend(figure: Figure) -> bool:
    """Move names at the ends of lines into a legend where they have no room; return whether they moved."""
    texts_by_axes = {axes: texts_with_role(axes, LINE_END) for axes in figure.axes}
    room = MAX_SHARE * figure.bbox.width
    is_full = any(
        len(texts) * to_pixels(figure, NAME_PT) > axes.bbox.height + to_pixels(figure, NAME_PT)
        or any(text_box(text).width > room for text in texts)
        for axes, texts in texts_by_axes.items()
    )
    if not is_full:
        return False
    letters = int(figure.get_figwidth() * 72 / 5.5) - 8
    handles: dict[str, Any] = {}
    for axes, texts in texts_by_axes.items():
        for text in texts:
            name, color = text.get_text(), text.get_color()
            line = next((line for line in axes.lines if line.get_label() == name), color)
            handles[shorten_middle(name, letters)] = line
            text.remove()
    for former in figure.legends:
        handles = {
            text.get_text(): each for text, each in zip(former.texts, former.legend_handles, strict=True)
        } | handles
        former.remove()
    legend(figure, handles)
    return True


def spread_line_names(axes: Axes) -> bool:
    """Move names at the ends of lines apart; return whether any moved."""
    texts = texts_with_role(axes, LINE_END)
    to_points = 72 / axes.figure.dpi
    height_pt = axes.bbox.height * to_points
    heights_pt = [(axes.transData.transform((1, text.xy[1]))[1] - axes.bbox.y0) * to_points for text in texts]
    labels_pt = spread_heights(heights_pt, NAME_PT, height_pt)
    has_moved = False
    for text, line_pt, label_pt in zip(texts, heights_pt, labels_pt, strict=True):
        distance = label_pt - line_pt
        is_moved = abs(distance) > MOVED_PT
        has_moved |= abs(distance - text.xyann[1]) > 0.5
        text.xyann = (14 if is_moved else 6, distance)
        if text.arrow_patch is not None:
            text.arrow_patch.set_visible(is_moved)
    return has_moved


def spread_heights(heights: Sequence[float], distance: float, maximum: float) -> list[float]:
    """Heights moved as little as needed to be `distance` apart, within 0 and `maximum`.

    Examples:
        >>> spread_heights([10, 12, 50], 10, 100)
        [6.0, 16.0, 50.0]
    """
    blocks: list[tuple[float, list[int]]] = []
    for index in sorted(range(len(heights)), key=lambda index: (heights[index], -index)):
        blocks.append((_middle([index], heights, distance, maximum), [index]))
        while len(blocks) > 1 and _gap(blocks[-2], blocks[-1], distance) < 0:
            joined = blocks[-2][1] + blocks[-1][1]
            blocks[-2:] = [(_middle(joined, heights, distance, maximum), joined)]
    positions = [0.0] * len(heights)
    for middle, indices in blocks:
        for rank, index in enumerate(indices):
            positions[index] = middle + (rank - (len(indices) - 1) / 2) * distance
    return positions


def _middle(indices: Sequence[int], heights: Sequence[float], distance: float, maximum: float) -> float:
    """Return the middle of a block of names: the mean height of their lines, kept within bounds."""
    mean = sum(heights[index] for index in indices) / len(indices)
    half = (len(indices) - 1) * distance / 2
    return min(max(mean, half), max(maximum - half, half))


def _gap(lower: tuple[float, list[int]], upper: tuple[float, list[int]], distance: float) -> float:
    """Return the room between two blocks of names; negative where they overlap."""
    return upper[0] - lower[0] - (len(lower[1]) + len(upper[1])) * distance / 2
