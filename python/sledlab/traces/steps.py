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
    """The operations of a trace to keep, and the changes to make to them.

    Attributes:
        from_s: Drop operations that arrive before this time, in s.
        until_s: Drop operations that arrive at this time or later, in s.
        keep_times: Whether times keep counting from the start of the trace, instead of that of the window.
        devices: Keep operations on these devices only, numbered anew; on all devices when empty.
        block_range: `A:B`, keep operations that begin in blocks A to B - 1.
        shift: Number of blocks to add to every address.
        place: Whether to place the devices of the trace one after another on one device.
        fit: Name of a device to whose capacity addresses are fitted.
        outside: How `fit` treats addresses past the end: `wrap`, `clip`, `scale` or `reject`.
        speedup: Factor by which the times between arrivals are divided.
        limit: Keep the remaining operations up to this many requests, reads and writes.
        plugins: Plug-ins that may run, as of `allowed_plugins`; the device of `fit` may be one of them.
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
    plugins: Sequence[str] = ()

    def open(self, trace: Trace) -> _native.Source:
        """Opens the operations of the trace after all steps."""
        source = self._open_until(trace)
        if self.fit is not None:
            device = _native.Experiment().with_device(self.fit).with_plugins(self.plugins)
            capacity = describe(device)["capacity_blocks"]
            highest_end = (
                max(_native.survey(self._open_until(trace))[1], default=0)
                if self.outside == "scale"
                else None
            )
            source = _native.fit(source, self.outside, capacity, highest_end)
        if self.speedup is not None:
            source = _native.speedup(source, self.speedup)
        if self.limit is not None:
            source = _native.limit(source, self.limit)
        return source

    def _open_until(self, trace: Trace) -> _native.Source:
        """Opens the operations after the steps up to `place`."""
        source = self._open_selection(trace)
        if self.shift is not None:
            source = _native.shift(source, self.shift)
        if self.place:
            source = _native.place(source, _native.survey(self._open_selection(trace))[1])
        return source

    def _open_selection(self, trace: Trace) -> _native.Source:
        """Opens the operations within the window, on the kept devices and in the range of blocks."""
        source = trace.open()
        if self.from_s > 0 or self.until_s is not None:
            until_ns = None if self.until_s is None else round(self.until_s * 1e9)
            source = _native.time_window(source, round(self.from_s * 1e9), until_ns, not self.keep_times)
        if self.devices:
            source = _native.select_devices(source, list(self.devices))
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
