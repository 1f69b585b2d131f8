"""Steps over a trace, in the order in which `sledlab trace slice` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.device import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.traces.read import Trace


@dataclass(frozen=True)
class Steps:
    """What to keep of a trace and what to change.

    Attributes:
        from_s: Drop what arrives before, in s.
        until_s: Drop what arrives then or later, in s.
        keep_times: Whether times go on counting from the start of the trace.
        devices: Keep these devices only, numbered anew; all when empty.
        block_range: `A:B`, keep what begins in blocks A to B - 1.
        shift: Blocks to add to every address.
        place: Whether to place the devices one after another on one.
        fit: Name of a device to whose capacity addresses are fitted.
        outside: How: `wrap`, `clip`, `scale` or `reject`.
        speedup: Divides the times between arrivals.
        limit: Keep what is left up to the last of so many requests, reads and writes.
    """

    from_s: float = 0.0
    until_s: float | None = None
    keep_times: bool = False
    devices: Sequence[int] = ()
    block_range: str | None = None
    shift: int | None = None
    place: bool = False
    fit: str | None = None
    outside: str = "scale"
    speedup: float | None = None
    limit: int | None = None

    def over(self, trace: Trace) -> _native.Source:
        """The requests of the trace after all steps."""
        source = self._placed(trace)
        if self.fit is not None:
            capacity = describe(_native.Experiment().with_device(self.fit))["capacity_blocks"]
            highest_end = (
                max(_native.survey(self._placed(trace))[1], default=0) if self.outside == "scale" else None
            )
            source = _native.fit(source, self.outside, capacity, highest_end)
        if self.speedup is not None:
            source = _native.speedup(source, self.speedup)
        if self.limit is not None:
            source = _native.limit(source, self.limit)
        return source

    def _placed(self, trace: Trace) -> _native.Source:
        """Everything up to the placement."""
        source = self._selected(trace)
        if self.shift is not None:
            source = _native.shift(source, self.shift)
        if self.place:
            source = _native.place(source, _native.survey(self._selected(trace))[1])
        return source

    def _selected(self, trace: Trace) -> _native.Source:
        """What is kept of the trace."""
        source = trace.open()
        if self.from_s > 0 or self.until_s is not None:
            until_ns = None if self.until_s is None else round(self.until_s * 1e9)
            source = _native.time_window(source, round(self.from_s * 1e9), until_ns, not self.keep_times)
        if self.devices:
            source = _native.only_devices(source, list(self.devices))
        if self.block_range is not None:
            source = _native.block_range(source, *_bounds(self.block_range))
        return source


def _bounds(text: str) -> tuple[int, int]:
    try:
        first, end = (int(part) for part in text.split(":"))
    except ValueError:
        first, end = -1, -1
    if not 0 <= first < end < 2**64:
        raise Error(f"`--range {text}` is not a range of blocks", remedy="write --range A:B with A below B")
    return first, end
