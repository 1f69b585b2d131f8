"""Widths of figures: half a page by default, or that of a paper's column or a slide."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIZE = (5.4, 3.3)
"""Width and height of one figure in inches: half a page wide, or a phone."""

WIDTHS_IN: Mapping[str, float] = {"ieee": 3.5, "acm": 3.33, "slides": 10.0}
"""Widths of figures in inches: a column of IEEE and of ACM papers, and a slide."""

MIN_WIDTH_IN, MAX_WIDTH_IN = 2.5, 40.0
"""Limits of a figure's width in inches."""

MAX_HEIGHT_IN = 4.0
"""Most inches that a figure of a chosen width is high, so that it fits into a column with text."""

ROW_IN = 0.16
"""Least height of a row in inches: a line of text."""

_width_in: ContextVar[float | None] = ContextVar("width_in", default=None)


@contextmanager
def at_width(width: str | None) -> Iterator[None]:
    """Within this context figures have a width: a name of `WIDTHS_IN`, or a number with `in`, `cm` or `mm`.

    Raises:
        Error: There is no such width.
    """
    token = _width_in.set(None if width is None else parse_width(width))
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
    return _width_in.get() or SIZE[0]


def has_chosen_width() -> bool:
    """Return whether `at_width` chose the width of figures."""
    return _width_in.get() is not None


def figure_height(preferred_in: float, rows: int = 0) -> float:
    """Return the height of a figure in inches: at most `MAX_HEIGHT_IN` where its width was chosen.

    Args:
        preferred_in: Its height without a limit.
        rows: Number of rows with a name each; many rows make a figure higher than the limit.
    """
    if not has_chosen_width():
        return preferred_in
    return min(preferred_in, max(MAX_HEIGHT_IN, 0.9 + ROW_IN * rows))
