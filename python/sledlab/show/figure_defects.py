"""Defects of a drawn figure, computed from the boxes of its artists: texts cut, texts over each other, ticks.

The boxes are those of the renderer that writes the file, so a figure is checked in the format it is saved in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_artist, mpl_collections, mpl_text, mpl_transforms
from sledlab.lazy import numpy as np
from sledlab.show.text_extents import text_box, tick_labels, to_pixels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

SLACK_PT = 0.75
"""Boxes may overlap, and texts may leave the figure, by this many points: letters do not fill their boxes."""

BAD_NUMBER = re.compile(r"\de[+-]?\d|\d,\d{1,2}(?!\d)|^[-−+]?\d{4,}(\.\d+)?$")
"""Numbers that no tick may show: powers as `1e+06`, `10,00`, and thousands without separators."""


@dataclass(frozen=True)
class FigureDefect:
    """Something wrong with a figure.

    Attributes:
        kind: `cut`, `text over text`, `text over axis`, `text over axes`, `text over marker`,
            `text over line`, `number` or `data cut`.
        texts: The texts concerned.
    """

    kind: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        """Return the kind and the texts."""
        return f"{self.kind}: {' | '.join(text.replace(chr(10), ' ') for text in self.texts)}"


@dataclass(frozen=True)
class _DrawnText:
    """A text with its box in points, and the axes that it belongs to."""

    text: str
    box: Bbox
    axes: Any
    is_tick: bool
    has_ground: bool


def find_defects(figure: Figure, file_format: str = "png") -> list[FigureDefect]:
    """Return the defects of a figure as it is saved in a format.

    Args:
        figure: The figure.
        file_format: `png`, `pdf` or `svg`.

    Examples:
        >>> from matplotlib.figure import Figure
        >>> figure = Figure(figsize=(2, 1))
        >>> _ = figure.text(0.9, 0.5, "text beyond the figure")
        >>> [str(defect) for defect in find_defects(figure)]
        ['cut: text beyond the figure']
    """
    defects: list[FigureDefect] = []

    class Probe(mpl_artist.Artist):
        """Looks at the boxes of the artists when all are drawn, with the renderer that drew them."""

        def draw(self, renderer: Any) -> None:
            defects[:] = _defects(figure, renderer)

    probe = Probe()
    probe.set(zorder=float("inf"), in_layout=False)
    figure.add_artist(probe)
    try:
        figure.savefig(BytesIO(), format=file_format)
    finally:
        probe.remove()
    return defects


def _defects(figure: Figure, renderer: Any) -> list[FigureDefect]:
    """Return the defects of a figure that a renderer has drawn."""
    texts = [*_texts(figure, renderer)]
    return [
        *_cut_texts(figure, texts),
        *(
            FigureDefect("text over text", (one.text, other.text))
            for one, other in combinations(texts, 2)
            if _overlap(one.box, other.box)
        ),
        *_texts_over_axes(figure, texts, renderer),
        *_texts_over_markers(figure, texts),
        *_texts_over_lines(figure, texts),
        *(
            FigureDefect("number", (each.text,))
            for each in texts
            if each.is_tick and BAD_NUMBER.search(each.text)
        ),
        *_cut_data(figure),
    ]


def _texts(figure: Figure, renderer: Any) -> Iterator[_DrawnText]:
    """Yield every visible text, with its box in pixels shrunk by the slack."""
    both_axes = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    drawn_ticks = {id(label) for axis in both_axes for label in tick_labels(axis)}
    all_ticks = {
        id(label)
        for axis in both_axes
        for tick in (*axis.majorTicks, *axis.minorTicks)
        for label in (tick.label1, tick.label2)
    }
    for text in figure.findobj(mpl_text.Text):
        is_drawn = text.get_visible() and text.get_text().strip() and _is_shown(text)
        if not is_drawn or id(text) in all_ticks - drawn_ticks:
            continue
        box = text_box(text, renderer)
        if box.width > 0:
            slack = to_pixels(figure, SLACK_PT)
            is_tick, has_ground = id(text) in drawn_ticks, text.get_bbox_patch() is not None
            yield _DrawnText(text.get_text(), box.padded(-slack), text.axes, is_tick, has_ground)


def _is_shown(artist: Artist) -> bool:
    """Return whether the axes of an artist are visible and have axes to show."""
    axes = artist.axes
    if axes is None or not axes.get_visible():
        return axes is None
    parts = (axes.xaxis.label, axes.yaxis.label)
    return axes.axison or not any(artist is part for part in parts)


def _overlap(one: Bbox, other: Bbox) -> bool:
    return bool(one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1)


def _cut_texts(figure: Figure, texts: Sequence[_DrawnText]) -> Iterator[FigureDefect]:
    """Yield texts that reach beyond the figure."""
    frame = figure.bbox
    for each in texts:
        box = each.box
        if box.x0 < frame.x0 or box.y0 < frame.y0 or box.x1 > frame.x1 or box.y1 > frame.y1:
            yield FigureDefect("cut", (each.text,))


def _texts_over_axes(figure: Figure, texts: Sequence[_DrawnText], renderer: Any) -> Iterator[FigureDefect]:
    """Yield texts over the line of an axis, and texts that lie over axes which they do not belong to."""
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        # A color bar has an outline in place of spines.
        spines = [spine for name, spine in axes.spines.items() if spine.get_visible() and name != "outline"]
        boxes = [spine.get_window_extent(renderer) for spine in spines] if axes.axison else []
        for each in texts:
            if any(_overlap(each.box, box.padded(0.01)) for box in boxes):
                yield FigureDefect("text over axis", (each.text,))
            elif (
                each.axes is not axes and not _share_place(each.axes, axes) and _overlap(each.box, axes.bbox)
            ):
                yield FigureDefect("text over axes", (each.text, axes.get_title() or axes.get_ylabel()))


def _share_place(one: Axes | None, other: Axes) -> bool:
    """Return whether two axes lie over each other, as twins do."""
    return one is not None and bool(np.allclose(one.bbox.extents, other.bbox.extents, atol=1))


def _texts_over_markers(figure: Figure, texts: Sequence[_DrawnText]) -> Iterator[FigureDefect]:
    """Yield texts over markers of lines, which are wider than the place that they mark."""
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() in ("", "None", None, " ", ".") or not line.get_visible():
                continue
            points = line.get_transform().transform(np.column_stack(line.get_data()).astype(float))
            half = to_pixels(figure, line.get_markersize() / 2 - SLACK_PT)
            for each in texts:
                box = each.box.padded(half)
                if any(box.contains(*point) for point in points):
                    yield FigureDefect("text over marker", (each.text,))


def _texts_over_lines(figure: Figure, texts: Sequence[_DrawnText]) -> Iterator[FigureDefect]:
    """Yield texts that a line of data runs through, except texts on a ground of their own."""
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_linestyle() in ("None", "", " ") or line.get_transform() != axes.transData:
                continue
            path = line.get_path().transformed(axes.transData)
            for each in texts:
                if not each.has_ground and path.intersects_bbox(each.box, filled=False):
                    yield FigureDefect("text over line", (each.text,))


def _cut_data(figure: Figure) -> Iterator[FigureDefect]:
    """Yield the bands and lines that reach beyond their axes, which cut them there."""
    for axes in figure.axes:
        view = mpl_transforms.Bbox(axes.viewLim.get_points()).transformed(axes.transData).padded(1)
        for band in axes.findobj(mpl_collections.PolyCollection):
            if band.get_transform() != axes.transData or not band.get_clip_on():
                continue
            for path in band.get_paths():
                points = axes.transData.transform(path.vertices)
                if len(points) and not _is_within(points, view):
                    yield FigureDefect("data cut", (axes.get_ylabel() or axes.get_title(),))
                    break
        for line in axes.lines:
            if line.get_transform() == axes.transData and line.get_visible():
                points = axes.transData.transform(np.column_stack(line.get_data(orig=False)))
                points = points[np.isfinite(points).all(axis=1)]
                if len(points) and line.get_clip_on() and not _is_within(points, view):
                    yield FigureDefect("data cut", (axes.get_ylabel() or axes.get_title(),))


def _is_within(points: Any, view: Bbox) -> bool:
    low, high = points.min(axis=0), points.max(axis=0)
    return bool((low >= view.min).all() and (high <= view.max).all())
