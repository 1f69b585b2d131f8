"""Widths of figures: half a page by default, or that of a paper's column or a slide."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (5.4, 3.3)
"""Width and height of one figure in inches: half a page wide, or a phone."""

WIDTHS_IN: Mapping[str, float] = {"ieee": 3.5, "acm": 3.33, "slides": 10.0}
"""Widths of figures in inches: a column of IEEE and of ACM papers, and a slide."""

MIN_WIDTH_IN, MAX_WIDTH_IN = 2.5, 40.0
"""Limits of a figure's width in inches."""

MAX_STEPS, ROOM_STEP = 20, 1.12
"""Most steps by which an axis grows until its texts have room, and their ratio."""

_width_in = ContextVar("width_in", default=SIZE[0])


@contextmanager
def at_width(width: str | None) -> Iterator[None]:
    """Within this context figures have a width: a name of `WIDTHS_IN`, or a number with `in`, `cm` or `mm`.

    Raises:
        Error: There is no such width.
    """
    token = _width_in.set(SIZE[0] if width is None else parse_width(width))
    try:
        yield
    finally:
        _width_in.reset(token)


def parse_width(width: str) -> float:
    """Return a width in inches.

    Raises:
        Error: The width is neither a name nor a length, or a figure cannot have it.

    Examples:
        >>> parse_width("ieee"), parse_width("3.5in"), round(parse_width("8.9cm"), 2)
        (3.5, 3.5, 3.5)
    """
    if width in WIDTHS_IN:
        return WIDTHS_IN[width]
    match = re.fullmatch(r"([\d.]+)(in|cm|mm)", width.strip())
    names = ", ".join(WIDTHS_IN)
    if match is None or match[1].count(".") > 1 or match[1] == ".":
        raise Error(f"unknown width `{width}`", remedy=f"use {names}, or a length such as 3.5in or 89mm")
    inches = float(match[1]) / {"in": 1.0, "cm": 2.54, "mm": 25.4}[match[2]]
    if not MIN_WIDTH_IN <= inches <= MAX_WIDTH_IN:
        raise Error(
            f"a figure cannot be {width} wide",
            remedy=f"give a width of {MIN_WIDTH_IN:g} to {MAX_WIDTH_IN:g} inches",
        )
    return inches


def base_width() -> float:
    """Return the width of a figure in inches, half a page wide unless `at_width` changes it."""
    return _width_in.get()


def fit_width(figure: Figure, width_in: float) -> None:
    """Give a figure a width, its height in proportion, and room for the texts at the ends of its bars."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width_in, height * width_in / width)
    for _ in range(MAX_STEPS):
        figure.draw_without_rendering()
        overflowing = [axes for axes in figure.axes if _overflows(axes, figure)]
        for axes in overflowing:
            _, right_limit = axes.get_xlim()
            axes.set_xlim(right=right_limit * ROOM_STEP)
        if not overflowing:
            return


def _overflows(axes: Axes, figure: Figure) -> bool:
    """Return whether a text within the axes extends beyond the right edge of the figure."""
    texts = (text.get_window_extent() for text in axes.texts if text.get_text())
    return axes.get_xscale() == "linear" and any(box.x1 > figure.bbox.x1 for box in texts)
