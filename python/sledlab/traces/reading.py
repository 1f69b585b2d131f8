"""Options for reading a trace, and the clocks of traces that are used together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.ranges import is_number
from sledlab.model.settings import to_toml

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ReadingOptions:
    """How a trace is read; the fields are the keys of the table `[trace]` of an experiment.

    Attributes:
        format: The format; detected from the content if empty.
        columns: The meaning of the columns of a table, as in `read_trace`.
        sort_window: The number of requests by which a request may be out of order; 0 rejects any.
        start: The instant that becomes time 0: `first` (request) or `zero` (of the times in the file).
        spread_s: Resolution of the times in s, over which requests with equal times are distributed; 0 keeps
            times.
        sector_bytes: Bytes of a sector in the format `srt`; 0 for those that the trace states.
        from_s: Start of the part that is read, in s from the first request; times then count from it.
        until_s: End of the part that is read; 0 for the end of the trace.
    """

    format: str = ""
    columns: str = ""
    sort_window: int = 0
    start: str = "first"
    spread_s: float = 0.0
    sector_bytes: int = 0
    from_s: float = 0.0
    until_s: float = 0.0

    def __post_init__(self) -> None:
        """Check the values, which may be those of a file.

        Raises:
            Error: A value has another type than its default, or a number is negative or too large.
        """
        for name in ("format", "columns", "start"):
            if not isinstance(value := getattr(self, name), str):
                raise Error(f"`{name}`: expected text, found `{value!s:.60}`")
        number_types = {
            **dict.fromkeys(("sort_window", "sector_bytes"), int),
            **dict.fromkeys(("spread_s", "from_s", "until_s"), float),
        }
        for name, number_type in number_types.items():
            number = getattr(self, name)
            if not is_number(number) or number < 0 or number_type(number) != number:
                noun = "a whole number" if number_type is int else "a number"
                raise Error(f"`{name}`: expected {noun}, 0 or more, found `{number!s:.60}`")

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> ReadingOptions:
        """Return the options in the table `[trace]` of an experiment."""
        return cls(
            **{field.name: table[field.name] for field in fields(cls) if table.get(field.name) is not None}
        )

    def settings(self) -> dict[str, str]:
        """Return the settings of an experiment, except the format, that differ from the defaults, as TOML."""
        values_by_name = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name != "format"
        }
        defaults = ReadingOptions()
        return {
            f"trace.{name}": to_toml(value)
            for name, value in values_by_name.items()
            if value != getattr(defaults, name)
        }

    def open(self, path: str, continuation: _native.Continuation, file: Any = None) -> _native.Source:
        """Open a trace in a text or binary format.

        Args:
            path: Its path, or its name in messages if there is a `file`.
            continuation: The state that it shares with other traces.
            file: An open file to read instead.
        """
        return _native.Source.open(
            path,
            self.format or None,
            self.sort_window,
            continuation=continuation,
            file=file,
            columns=self.columns or None,
            start=self.start,
            spread_s=self.spread_s or None,
            sector_bytes=self.sector_bytes or None,
            from_s=self.from_s,
            until_s=self.until_s,
        )


def column_map(columns: str | Mapping[str, str] | None) -> str:
    """Return the meaning of columns as text.

    Examples:
        >>> column_map({"time": "epoch_s:s", "op": "verb"})
        'time=epoch_s:s,op=verb'
    """
    if isinstance(columns, Mapping):
        return ",".join(f"{key}={column}" for key, column in columns.items())
    return columns or ""


@runtime_checkable
class SharedOpener(Protocol):
    """An opener of requests that may share a clock and device names with other traces."""

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests at the first."""


@dataclass(frozen=True)
class TraceStart:
    """The first request of a trace on its clock.

    Attributes:
        has_date: Whether the clock counts from a date.
        ns: Time of the first request: in ns since 1970 for a clock with a date, else since the zero of the
            clock.
        ns_before_1970: The zero of a clock with a date, in ns before 1970; otherwise 0.
    """

    has_date: bool
    ns: int
    ns_before_1970: int


def read_start(opener: SharedOpener) -> TraceStart | None:
    """Return the start of a trace; `None` for an empty one.

    Raises:
        Error: The trace cannot be read.
    """
    return start_of(opener.open_shared(_native.Continuation()))


def start_of(source: _native.Source) -> TraceStart | None:
    """Return the start of an open trace, from which the first requests are taken; `None` for an empty one.

    Raises:
        Error: The trace cannot be read.
    """
    source.next_chunk()
    base_ns, before_1970 = source.continuation.base_ns, source.ns_before_1970
    if base_ns is None:
        return None
    return TraceStart(before_1970 is not None, base_ns - (before_1970 or 0), before_1970 or 0)


def common_zeros(starts: Sequence[TraceStart | None]) -> list[int | None]:
    """Return the time of each trace that becomes 0, so that traces on one clock keep their distance.

    Traces with dates share one clock. Traces without are taken to be recorded from the same instant on, and
    the first of them begins together with the first of those with dates.

    Examples:
        >>> common_zeros([TraceStart(True, 500, 100), TraceStart(False, 30, 0), TraceStart(True, 700, 0)])
        [600, 30, 500]
    """
    zeros_by_has_date = {
        has_date: min((start.ns for start in starts if start and start.has_date is has_date), default=0)
        for has_date in (True, False)
    }
    return [
        None if start is None else zeros_by_has_date[start.has_date] + start.ns_before_1970
        for start in starts
    ]


def check_table_options(reading: ReadingOptions, name: str) -> None:
    """Refuse options that only apply to text.

    Raises:
        Error: Columns or a sector size are given for a table of columns with types.
    """
    if reading.columns or reading.sector_bytes:
        raise Error(
            f"`{name}` is a table with names and types of columns: `columns` and `sector_bytes` do not apply",
            remedy="rename its columns to time_us, op, offset_bytes and length_bytes",
        )
