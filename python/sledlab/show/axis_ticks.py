"""Ticks of the axes of figures, at the numbers of `ticks`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_ticker
from sledlab.show.ticks import linear_ticks, log_ticks, tick_text

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

MAX_TICKS = 8
"""Most labels of a linear axis."""


def plain_ticks(axis: Axis) -> None:
    """Format ticks as plain numbers: 0.1, 1, 10,000; on a logarithmic axis set them by `log_ticks`."""
    axis.set_major_formatter(mpl_ticker.FuncFormatter(lambda value, _: tick_text(value)))
    axis.set_minor_formatter(mpl_ticker.NullFormatter())
    if axis.get_scale() == "log":
        place_ticks(axis)


def place_ticks(axis: Axis) -> None:
    """Set ticks at multiples of 1, 2 or 5 times a power of ten, as many as have room."""
    axis.set_major_locator(_locator()())
    axis.set_minor_locator(mpl_ticker.NullLocator())


@cache
def _locator() -> type[Locator]:
    """Return the locator of `log_ticks` and `linear_ticks`; its base class is imported on first use."""

    class RoundTicks(mpl_ticker.Locator):
        """Ticks at round numbers, `max_ticks` at most where that is set."""

        max_ticks = 0

        @property
        def count(self) -> int:
            """The number of ticks that have room."""
            axis: Any = self.axis
            return self.max_ticks or max(axis.get_tick_space(), 3)

        def __call__(self) -> list[float]:
            axis: Any = self.axis
            low, high = sorted(axis.get_view_interval())
            count = self.count
            if axis.get_scale() == "log":
                ticks = log_ticks(low, high, count)
            else:
                ticks = linear_ticks(low, high, min(count, MAX_TICKS))
            return ticks[:: -(-len(ticks) // count)]

    return RoundTicks
