"""Arrange the texts of a figure by their measured extents: names, ticks, labels, and texts at rows.

Constrained layout makes room for texts around the plots. What does not fit at the width of the figure is
wrapped, shortened in the middle, thinned, or moved into a legend.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_text, mpl_ticker
from sledlab.show.axis_ticks import place_ticks, plain_ticks
from sledlab.show.line_names import NAME_PT, move_names_to_legend, spread_line_names
from sledlab.show.plots import CELL, ROW_END, ROW_HEADING, finish_figure
from sledlab.show.text_extents import (
    boxes_in_row,
    column_width,
    other_boxes,
    right_bound,
    shorten_middle,
    text_box,
    texts_with_role,
    tick_labels,
    to_pixels,
)
from sledlab.show.wording import keep_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

MAX_PASSES = 6
"""Most times that a figure is measured and arranged."""

MAX_ROW_NAME, MAX_ROW_TEXT = 0.42, 0.36
"""Largest shares of the width of a column of plots for names and for texts of rows."""

LEGEND_ROOM = 0.2
"""Share by which an x axis is extended to make room for a legend."""

MIN_ROW_PT = 6.5
"""Least size of the texts of rows, in points."""

MIN_CELL_PT = 5.5
"""Least size of the values in the cells of a heat map, in points; smaller ones are left out."""

MIN_TICKS = 2
"""Fewest labels of an axis of numbers."""

TICK_GAP_PT = 5.0
"""Least room between the labels of two ticks, in points."""


def complete_figure(figure: Figure, creator: str) -> Figure:
    """Return the figure with its texts arranged; its files name `creator` in their metadata."""
    fit(figure)
    return finish_figure(figure, creator)


def fit(figure: Figure) -> None:
    """Arrange the texts of a figure so that none is cut or overlaps another one."""
    for axis in _axes_of(figure):
        if isinstance(axis.get_major_locator(), mpl_ticker.AutoLocator):
            plain_ticks(axis)
            place_ticks(axis)
    with warnings.catch_warnings():
        # A plot without room gets some when its texts are arranged.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        for _ in range(MAX_PASSES):
            figure.draw_without_rendering()
            if not _arrange(figure):
                break
    for axis in _axes_of(figure):
        _restore_third_tick(axis)
        _keep_tick_count(axis)


def _restore_third_tick(axis: Axis) -> None:
    """Show three ticks where a plot has got room for them after all but two were left out."""
    locator: Any = axis.get_major_locator()
    figure: Any = axis.axes.figure
    if getattr(locator, "max_ticks", 0) == MIN_TICKS:
        locator.max_ticks = MIN_TICKS + 1
        figure.draw_without_rendering()
        if not _has_room(axis, tick_labels(axis)):
            locator.max_ticks = MIN_TICKS


def _keep_tick_count(axis: Axis) -> None:
    """Keep the number of ticks in files of all formats, whose texts differ a little in width."""
    locator = axis.get_major_locator()
    if hasattr(locator, "max_ticks"):
        locator.max_ticks = locator.count  # type: ignore[attr-defined]


def _arrange(figure: Figure) -> bool:
    """Arrange the texts of a figure by their present extents; return whether any changed."""
    changes = [move_names_to_legend(figure)]
    for axes in figure.axes:
        changes += [
            _shorten_row_names(axes),
            _shorten_row_texts(axes),
            _thin_ticks(axes.xaxis),
            _thin_ticks(axes.yaxis),
            _wrap_labels(axes),
            spread_line_names(axes),
            _fit_cells(axes),
            _make_room_for_legend(axes),
        ]
    return any(changes)


def _axes_of(figure: Figure) -> Iterator[Axis]:
    """Yield every axis that is shown."""
    for axes in figure.axes:
        if axes.axison:
            yield from (axes.xaxis, axes.yaxis)


def _row_lines(axes: Axes) -> int:
    """Return the lines of text that a row has room for."""
    ticks = sorted(axes.transData.transform([(1, tick) for tick in axes.get_yticks()])[:, 1])
    pitch = min((after - before for before, after in pairwise(ticks)), default=axes.bbox.height)
    return max(1, int(pitch / to_pixels(axes.figure, NAME_PT)))


def _fit_text(text: str, width: float, room: float, lines: int) -> str:
    """Return a text wrapped into lines, or else shortened in the middle.

    Args:
        text: The text.
        width: Its present width.
        room: The width that it may have, in the same unit.
        lines: Number of lines that it may have.
    """
    if width <= room:
        return text
    longest = max(len(line) for line in text.split("\n"))
    letters = max(int(longest * room / width), 4)
    wrapped = [part for line in text.split("\n") for part in _wrap(line, letters)]
    if len(wrapped) <= lines and all(len(line) <= letters for line in wrapped):
        return "\n".join(wrapped)
    return shorten_middle(text.replace("\n", " "), letters)


def _wrap(text: str, letters: int) -> list[str]:
    """Return the lines of a text, broken between words but not between a number and its unit."""
    return wrap(keep_units(text), letters, break_long_words=False, break_on_hyphens=False)


def _shorten_row_names(axes: Axes) -> bool:
    """Shorten the names of rows on the left of a plot; return whether any changed."""
    labels = tick_labels(axes.yaxis)
    if not isinstance(axes.yaxis.get_major_locator(), mpl_ticker.FixedLocator) or not labels:
        return False
    room, lines = MAX_ROW_NAME * column_width(axes), _row_lines(axes)
    names = [_fit_text(label.get_text(), text_box(label).width, room, lines) for label in labels]
    if names == [label.get_text() for label in labels]:
        return False
    axes.set_yticks(axes.get_yticks(), names)
    return True


def _shorten_row_texts(axes: Axes) -> bool:
    """Wrap the texts at the ends of rows, or cut their last parts; return whether any changed."""
    room, has_changed = MAX_ROW_TEXT * column_width(axes), False
    for heading in (text for text in axes.texts if text.get_label() == ROW_HEADING):
        has_changed |= _cut_clauses(axes, heading)
    for text in texts_with_role(axes, ROW_END):
        former, width, lines = text.get_text(), text_box(text).width, _row_lines(axes)
        fitted = _fit_text(former, width, room, lines)
        if "…" in fitted and ", " in former:
            fitted = former.rpartition(", ")[0]
        elif former.count("\n") >= max(lines, 1):
            fitted = former.partition("\n")[0]
        text.set_text(fitted)
        has_changed |= fitted != former
    return has_changed


def _cut_clauses(axes: Axes, text: Text) -> bool:
    """Cut the last clauses of a text that reaches beyond the figure; return whether it changed."""
    overhang = text.get_window_extent().x1 - right_bound(axes)
    shorter = next((former for sign in (", ", ": ") if (former := text.get_text().rpartition(sign)[0])), "")
    if overhang <= 0 or not shorter:
        return False
    text.set_text(shorter)
    return True


def _thin_ticks(axis: Axis) -> bool:
    """Leave out labels of an axis that have no room; return whether any were left out."""
    labels = tick_labels(axis)
    if _has_room(axis, labels):
        return False
    is_x, spans, gap = axis is axis.axes.xaxis, _label_spans(axis, labels), _label_gap(axis)
    length = axis.axes.bbox.width if is_x else axis.axes.bbox.height
    slots = max(int(length / (max(end - start for start, end in spans) + gap)), 1)
    locator = axis.get_major_locator()
    if hasattr(locator, "max_ticks"):
        # Later passes may give the plot more room, and a single tick shows no scale.
        former, locator.max_ticks = locator.max_ticks, max(min(slots, len(labels) - 1), MIN_TICKS)
        return bool(locator.max_ticks != former)
    # Each column of a heat map needs its label.
    has_cells = any(text.get_label() == CELL for text in axis.axes.texts)
    is_heat_map = is_x and has_cells and not labels[0].get_rotation()
    if is_heat_map or not all(_is_number(label.get_text()) for label in labels):
        slot = length / len(labels)
        return _turn_names(axis, labels, slot) if is_x else _shrink_rows(axis, labels, slot)
    return _keep_separate(axis, labels, spans, gap)


def _has_room(axis: Axis, labels: Sequence[Text]) -> bool:
    """Return whether labels of an axis are far enough apart."""
    gap = _label_gap(axis)
    return all(after[0] - before[1] >= gap for before, after in pairwise(_label_spans(axis, labels)))


def _label_spans(axis: Axis, labels: Sequence[Text]) -> list[tuple[float, float]]:
    """Return the ends of labels along their axis, in order."""
    boxes = [label.get_window_extent() for label in labels]
    return sorted((box.x0, box.x1) if axis is axis.axes.xaxis else (box.y0, box.y1) for box in boxes)


def _label_gap(axis: Axis) -> float:
    """Return the least room between labels of an axis, in pixels."""
    return to_pixels(axis.axes.figure, TICK_GAP_PT if axis is axis.axes.xaxis else 0.0)


def _shrink_rows(axis: Axis, labels: Sequence[Text], slot: float) -> bool:
    """Shrink the texts of rows whose names have no room; return whether that was possible."""
    size = float(labels[0].get_fontsize())
    smaller = max(size * slot / max(label.get_window_extent().height for label in labels), MIN_ROW_PT)
    axis.set_tick_params(labelsize=smaller)
    for text in texts_with_role(axis.axes, ROW_END):
        text.set_fontsize(smaller)
    return smaller < size


def _is_number(text: str) -> bool:
    return bool(text) and text.strip("×x−-+")[:1].isdigit()


def _turn_names(axis: Axis, labels: Sequence[Text], slot: float) -> bool:
    """Wrap the names below an axis; turn them where that is not enough."""
    names = [label.get_text() for label in labels]
    wrapped = [
        _fit_text(name, text_box(label).width, slot * 0.95, 2)
        for name, label in zip(names, labels, strict=True)
    ]
    if wrapped != names and not any("…" in name for name in wrapped):
        axis.set_ticks(axis.get_ticklocs(), wrapped)
        return True
    if labels[0].get_rotation():
        return False
    axis.set_ticks(
        axis.get_ticklocs(), [shorten_middle(name.replace("\n", " "), 18) for name in names], rotation=90
    )
    return True


def _keep_separate(
    axis: Axis, labels: Sequence[Text], spans: Sequence[tuple[float, float]], gap: float
) -> bool:
    """Keep the last label, and of the others those that have room before the next one."""
    low, high = sorted(axis.get_view_interval())
    places = [place for place in axis.get_ticklocs() if low <= place <= high]
    texts = [label.get_text() for label in labels]
    if len(places) != len(labels):
        return False
    kept, next_start = list(texts), float("inf")
    for index in range(len(texts) - 1, -1, -1):
        start, end = spans[index]
        if end + gap > next_start:
            kept[index] = ""
        else:
            next_start = start
    axis.set_ticks(places, kept)
    return kept != texts


def _wrap_labels(axes: Axes) -> bool:
    """Wrap titles and labels of axes that are longer than their room; return whether any changed."""
    figure, box = axes.figure, axes.bbox
    margin = to_pixels(figure, 2)
    column = [each for each in other_boxes(axes) if each.x0 < box.x1 and box.x0 < each.x1]
    left = max((each.x1 for each in boxes_in_row(axes) if each.x1 <= box.x0), default=figure.bbox.x0 + margin)
    right = right_bound(axes)
    bottom = max(
        ((each.y1 + box.y0) / 2 for each in column if each.y1 <= box.y0), default=figure.bbox.y0 + margin
    )
    top = min(
        ((each.y0 + box.y1) / 2 for each in column if each.y0 >= box.y1), default=figure.bbox.y1 - margin
    )
    middle_x, middle_y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    has_changed = False
    for text, room in (
        (_title(axes, "left"), right - box.x0 - 2 * margin),
        (_title(axes, "right"), box.x1 - left),
        (axes.xaxis.label, 2 * min(middle_x - left, right - middle_x)),
        (axes.yaxis.label, 2 * min(middle_y - bottom, top - middle_y)),
        *((text, figure.bbox.width - 2 * margin) for text in figure.texts),
    ):
        has_changed |= text is not None and _wrap_label(text, room)
    return has_changed


def _title(axes: Axes, side: str) -> Text | None:
    """Return a title of axes; none without one."""
    title = axes.get_title(side)  # type: ignore[arg-type]
    texts = [
        text for text in axes.get_children() if isinstance(text, mpl_text.Text) and text not in axes.texts
    ]
    return next((text for text in texts if title and text.get_text() == title), None)


def _wrap_label(text: Text, room: float) -> bool:
    """Wrap a title or label to the room that it has; return whether it changed."""
    former, box = text.get_text(), text.get_window_extent()
    length = box.height if text.get_rotation() == 90 else box.width
    if not former or length <= room:
        return False
    letters = max(int(max(len(line) for line in former.split("\n")) * room / length), 8)
    text.set_text("\n".join(_wrap(former.replace("\n", " "), letters)))
    return bool(text.get_text() != former)


def _make_room_for_legend(axes: Axes) -> bool:
    """Extend the x axis where a line runs through the legend of axes; return whether it was extended."""
    corner_legend = axes.get_legend()
    if corner_legend is None:
        return False
    box = corner_legend.get_window_extent()
    paths = [line.get_path().transformed(line.get_transform()) for line in axes.lines]
    if not any(path.intersects_bbox(box, filled=False) for path in paths):
        return False
    corner_legend.set_loc("lower right")
    low, high = axes.get_xlim()
    is_log = axes.get_xscale() == "log"
    axes.set_xlim(right=high * (high / low) ** LEGEND_ROOM if is_log else high + (high - low) * LEGEND_ROOM)
    return True


def _fit_cells(axes: Axes) -> bool:
    """Give the values in the cells of a heat map a size that fits; return whether it changed."""
    texts = [text for text in axes.texts if text.get_label() == CELL and text.get_visible()]
    if not texts:
        return False
    (x0, y0), (x1, y1) = axes.transData.transform([(0, 0), (1, 1)])
    boxes = [text.get_window_extent() for text in texts]
    width, height = max(box.width for box in boxes), max(box.height for box in boxes)
    share = min(0.8 * abs(x1 - x0) / width, 0.8 * abs(y1 - y0) / height)
    size = float(texts[0].get_fontsize()) * share
    if share >= 1:
        return False
    for text in texts:
        text.set(fontsize=max(size, MIN_CELL_PT), visible=size >= MIN_CELL_PT)
    return True
