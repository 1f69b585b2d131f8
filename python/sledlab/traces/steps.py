"""Steps over a trace, in the order in which `sledlab trace slice` takes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import repeat
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.device import describe
from sledlab.traces.reading import SharedOpener, read_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.traces.read import Trace
    from sledlab.traces.reading import TraceStart

OPS_BY_NAME = {"reads": "R", "writes": "W", "trims": "T", "flushes": "F"}
"""Letters of operations by the names of their kinds."""

NS_PER_DAY = 86_400 * 10**9


@dataclass(frozen=True)
class Steps:
    """The operations of a trace to keep, and the changes to make to them.

    Attributes:
        after: Drop operations that arrive before this time: s from the first request, a time of day such as
            `10:00`, or a date; the latter two need a trace with dates, and are in UTC.
        before: Drop operations that arrive at this time or later, given in the same ways.
        keep_times: Whether times keep counting from the start of the trace, instead of that of the window.
        devices: Keep operations on devices with these names only; on all devices when empty.
        ops: Keep these kinds of operations only, of `reads`, `writes`, `trims` and `flushes`; all when empty.
        block_range: `A:B`, keep operations that begin in blocks A to B - 1.
        scale_addresses: Factor by which addresses are multiplied; lengths stay.
        shift: Number of blocks to add to every address.
        place: Whether to place the devices of the trace one after another on one device.
        fit: Name of a device to whose capacity addresses are fitted.
        outside: How `fit` treats addresses past the end: `wrap`, `clip`, `scale` or `reject`.
        repeat: Number of times that the remaining operations are replayed, one after another.
        speedup: Factor by which the times between arrivals are divided.
        limit: Keep the remaining operations up to this many requests, reads and writes.
        plugins: Plug-ins that may run, as of `allowed_plugins`; the device of `fit` may be one of them.
    """

    after: str = "0"
    before: str | None = None
    keep_times: bool = False
    devices: Sequence[str] = ()
    ops: Sequence[str] = ()
    block_range: str | None = None
    scale_addresses: float | None = None
    shift: int | None = None
    place: bool = False
    fit: str | None = None
    outside: str = "scale"
    repeat: int = 1
    speedup: float | None = None
    limit: int | None = None
    plugins: Sequence[str] = ()

    def open(self, trace: Trace) -> _native.Source:
        """Open the operations of the trace after all steps."""
        if self.repeat == 1:
            source = self._open_fitted(trace)
        else:
            source = _native.sequence(map(self._open_fitted, repeat(trace, self.repeat)))
        if self.speedup is not None:
            source = _native.speedup(source, self.speedup)
        if self.limit is not None:
            source = _native.limit(source, self.limit)
        return source

    def _open_fitted(self, trace: Trace) -> _native.Source:
        source = self._open_until(trace)
        if self.fit is None:
            return source
        device = _native.Experiment().with_device(self.fit).with_plugins(self.plugins)
        capacity = describe(device)["capacity_blocks"]
        highest_end = (
            max(_native.survey(self._open_until(trace))[1], default=0) if self.outside == "scale" else None
        )
        return _native.fit(source, self.outside, capacity, highest_end)

    def _open_until(self, trace: Trace) -> _native.Source:
        """Open the operations after the steps up to `place`."""
        source = self._open_selection(trace)
        if self.scale_addresses is not None:
            source = _native.scale_addresses(source, self.scale_addresses)
        if self.shift is not None:
            source = _native.shift(source, self.shift)
        if self.place:
            source = _native.place(source, _native.survey(self._open_selection(trace))[1])
        return source

    def _open_selection(self, trace: Trace) -> _native.Source:
        """Open the operations of the chosen kinds, in the window and the range, on the kept devices."""
        source = trace.open()
        window = _Window(trace)
        from_ns = window.since_start_ns(self.after, "--from")
        until_ns = None if self.before is None else window.since_start_ns(self.before, "--until", from_ns)
        if from_ns > 0 or until_ns is not None:
            source = _native.time_window(source, from_ns, until_ns, not self.keep_times)
        if self.devices:
            source = _native.select_devices(source, list(self.devices))
        if self.ops:
            source = _native.select_ops(source, "".join(map(_op_letter, self.ops)))
        if self.block_range is not None:
            source = _native.block_range(source, *_parse_block_range(self.block_range))
        return source


class _Window:
    """Converts points in time to ns from the first request of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._start: TraceStart | None = None

    def since_start_ns(self, point: str, flag: str, after_ns: int = 0) -> int:
        """Return a point in time, given in s, as a time of day or as a date, in ns from the first request.

        A time of day is the first one at or after `after_ns`.

        Raises:
            Error: The point is none of these, or the trace has no dates.
        """
        try:
            seconds = float(point)
        except ValueError:
            return self._date_ns(point, flag, after_ns)
        if not 0 <= seconds < 9e9:
            raise Error(f"`{flag} {point}` is out of range", remedy="give seconds from the first request")
        return round(seconds * 1e9)

    def _date_ns(self, point: str, flag: str, after_ns: int) -> int:
        first_ns = self._first_ns(flag)
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?", point):
            try:
                time_of_day = time.fromisoformat(f"0{point}" if point[1] == ":" else point)
            except ValueError as error:
                raise _point_error(point, flag) from error
            since_midnight = datetime.combine(datetime.min, time_of_day) - datetime.min
            day_ns = _to_ns(since_midnight) - first_ns % NS_PER_DAY
            # The next such time of day, at or after the first request or the start of the window.
            return day_ns + -(-(after_ns - day_ns) // NS_PER_DAY) * NS_PER_DAY
        try:
            date = datetime.fromisoformat(point)
        except ValueError as error:
            raise _point_error(point, flag) from error
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(_to_ns(date - datetime(1970, 1, 1, tzinfo=UTC)) - first_ns, 0)

    def _first_ns(self, flag: str) -> int:
        """The first request, in ns since 1970."""
        opener = self._trace.opener
        if self._start is None and isinstance(opener, SharedOpener):
            self._start = read_start(opener)
        if self._start is None or not self._start.has_date:
            raise Error(
                f"`{flag}` names a time of day or a date, but the times of `{self._trace.name}` have no date",
                remedy="give seconds from the first request",
            )
        return self._start.ns


def _to_ns(span: timedelta) -> int:
    return span // timedelta(microseconds=1) * 1000


def _point_error(point: str, flag: str) -> Error:
    return Error(
        f"`{flag} {point}` is no point in time",
        remedy="give seconds from the first request, a time of day (10:30) or a date (2026-11-28T10:30)",
    )


def _op_letter(name: str) -> str:
    if letter := OPS_BY_NAME.get(name.lower()) or _native.op_letter(name):
        return letter
    raise Error(f"`{name}` is no kind of operation", remedy=f"choose from {', '.join(OPS_BY_NAME)}")


def _parse_block_range(text: str) -> tuple[int, int]:
    try:
        first, end = (int(part) for part in text.split(":"))
    except ValueError:
        first, end = -1, -1
    if not 0 <= first < end < 2**64:
        raise Error(f"`--range {text}` is not a range of blocks", remedy="write --range A:B with A below B")
    return first, end
