"""Extents of texts and plots in a drawn figure, in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox


def text_box(text: Text, renderer: Any = None) -> Bbox:
    """Return the box of a text, without the arrow of an annotation."""
    return mpl_text.Text.get_window_extent(text, renderer)


def tick_labels(axis: Axis) -> list[Text]:
    """Return the labels of an axis that are drawn: those of ticks within its view."""
    if not axis.get_visible() or not axis.axes.axison:
        return []
    low, high = sorted(axis.get_view_interval())
    edge = (high - low) * 1e-9
    ticks = [tick for tick in axis.get_major_ticks() if low - edge <= tick.get_loc() <= high + edge]
    labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
    return [label for label in labels if label.get_visible() and label.get_text()]


def to_pixels(figure: Any, points: float) -> float:
    """Return a length given in points in pixels."""
    return float(points * figure.dpi / 72)


def shorten_middle(text: str, maximum: int) -> str:
    """Return a text without its middle where it is longer than `maximum` characters.

    Examples:
        >>> shorten_middle("device.spring_factor = 0.4", 15)
        'device.…r = 0.4'
    """
    if len(text) <= maximum:
        return text
    end = maximum // 2
    return f"{text[: maximum - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def other_boxes(axes: Axes) -> list[Any]:
    """Return the boxes of the other visible axes of the figure."""
    return [each.bbox for each in axes.figure.axes if each is not axes and each.get_visible()]


def boxes_in_row(axes: Axes) -> list[Any]:
    """Return the boxes of the axes on the left and on the right of axes."""
    box = axes.bbox
    return [each for each in other_boxes(axes) if each.y0 < box.y1 and box.y0 < each.y1]


def right_bound(axes: Axes) -> float:
    """Return where the room of axes ends: at the next axes on the right, or at the edge of the figure."""
    right = axes.figure.bbox.x1 - to_pixels(axes.figure, 2)
    return min((each.x0 for each in boxes_in_row(axes) if each.x0 >= axes.bbox.x1), default=right)


def column_width(axes: Axes) -> float:
    """Return the width of the column of plots that axes are in, in pixels."""
    place = axes.get_subplotspec()
    columns = place.get_topmost_subplotspec().get_gridspec().ncols if place is not None else 1
    return float(axes.figure.bbox.width / columns)


def texts_with_role(axes: Axes, role: str) -> list[Annotation]:
    """Return the annotations of axes with a role."""
    return [text for text in axes.texts if text.get_label() == role and isinstance(text, mpl_text.Annotation)]
