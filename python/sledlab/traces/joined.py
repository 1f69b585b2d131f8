"""Several traces as one: merged in order of arrival, or one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.traces.reading import common_zeros, read_start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledlab.traces.read import Trace
    from sledlab.traces.reading import TraceStart


class JoinedTraces:
    """Traces that are read as one.

    Args:
        traces: The traces, each of a file.
        keep_devices: Whether devices with equal names in different traces are the same device.
        in_sequence: Whether each trace begins after the end of the one before; otherwise traces are merged,
            and those whose times are dates keep their distance.
    """

    def __init__(
        self, traces: Sequence[Trace], *, keep_devices: bool = False, in_sequence: bool = False
    ) -> None:
        self.sources: list[_native.Source] = []
        """The traces as they were opened last."""
        self._traces = traces
        self._keep_devices = keep_devices
        self._in_sequence = in_sequence
        self._starts: list[TraceStart | None] = []

    def open(self) -> _native.Source:
        """Open the requests of all traces.

        Raises:
            Error: A trace cannot be read.
        """
        self.sources = []
        if self._in_sequence:
            return _native.sequence(self._open_each())
        if not self._starts:
            # Standard input can be read only once.
            self._starts = [
                None if trace.name == "-" else read_start(trace.opener)  # type: ignore[arg-type]
                for trace in self._traces
            ]
        zeros = common_zeros(self._starts)
        self.sources = [
            trace.opener.open_shared(_native.Continuation(zero))  # type: ignore[attr-defined]
            for trace, zero in zip(self._traces, zeros, strict=True)
        ]
        return _native.merge(self.sources, self._keep_devices)

    def _open_each(self) -> Iterator[_native.Source]:
        for trace in self._traces:
            source = trace.open()
            self.sources.append(source)
            yield source

    def clock_note(self) -> str:
        """A sentence about traces that share no clock; empty if all have dates."""
        undated = [
            trace.name
            for trace, start in zip(self._traces, self._starts, strict=False)
            if start is not None and not start.has_date
        ]
        if not undated or len(self._traces) < 2:
            return ""
        if len(undated) == len(self._traces):
            return "the times have no dates: all traces are taken to be recorded from the same instant on"
        return f"{', '.join(undated)}: no dates; taken to begin together with the first of the others"
