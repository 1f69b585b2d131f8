"""Columns of data frames and Parquet files, read by their types and passed to the simulator."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.traces.columns import COLUMNS, OPTIONAL_COLUMNS
from sledlab.traces.reading import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Chunk = tuple[str, tuple[bytes, bytes, bytes, bytes, bytes, bytes]]

DATE_OFFSET_NS = 2**63
"""Added to nanoseconds since 1970, so that dates before 1970 become unsigned numbers."""

MAX_INT64 = 2**63 - 1

NS_PER_UNIT = {"ns": 1, "us": 1000, "ms": 1_000_000}
NS_PER_DAY = 86_400_000_000_000

REMEDIES = {
    "time_us": "give integers, floats or decimals in microseconds, a Duration, a Datetime, a Date or a Time",
    "op": "give letters: R, W, T (trim) or F (flush)",
    "offset_bytes": "give integers",
    "length_bytes": "give integers",
    "device": "give integers",
    "metadata": "give 0 and 1, or booleans",
}
"""The types that a column may have, by column."""


class TraceClock(Enum):
    """What the times of a table count from; the values complete the sentence "times are ..."."""

    TRACE = "counted from the start of the trace"
    DATE = "dates"
    DAY = "times of day"


def from_batches(
    name: str,
    columns: Mapping[str, Any],
    batches: Iterator[polars.DataFrame],
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008 - immutable
    continuation: _native.Continuation | None = None,
) -> _native.Source:
    """Return a stream of the requests in data frames.

    Args:
        name: Name of the table in messages.
        columns: The types of the columns of the first frame.
        batches: The frames.
        reading: How the rows are read: in order, from which instant on.
        continuation: The clock and the notes, shared with tables that continue this one.

    Raises:
        Error: A column has a type that is not read.
    """
    clock = check_types(columns, name)
    chunks = to_chunks(batches, name, clock)
    return _native.Source.from_columns(
        name,
        chunks,
        clock.name.lower(),
        reading.sort_window,
        continuation,
        start=reading.start,
        spread_s=reading.spread_s or None,
        from_s=reading.from_s,
        until_s=reading.until_s,
    )


def check_types(columns: Mapping[str, Any], name: str) -> TraceClock:
    """Return what the times of a table count from.

    Args:
        columns: The types of its columns.
        name: Name of the table in messages.

    Raises:
        Error: A column has a type that is not read.
    """
    for column in (*COLUMNS, *OPTIONAL_COLUMNS):
        if column in columns and not _is_readable(column, columns[column]):
            raise Error(
                f"the column `{column}` is of type {_type_name(columns[column])}",
                Place(name, 0, 0, ""),
                REMEDIES[column],
            )
    time_type = columns["time_us"]
    if time_type in (polars.Datetime, polars.Date):
        return TraceClock.DATE
    return TraceClock.DAY if time_type == polars.Time else TraceClock.TRACE


def _is_readable(column: str, dtype: Any) -> bool:
    if dtype == polars.Null:  # without values: each row is an error, except ranges of flushes
        return True
    if column == "op":
        return dtype in (polars.String, polars.Categorical, polars.Enum, polars.Binary)
    if column == "time_us" and dtype.is_temporal():
        return True
    return dtype.is_numeric() or (column == "metadata" and dtype == polars.Boolean)


def _type_name(dtype: Any) -> str:
    return str(dtype.base_type().__name__)


def to_chunks(batches: Iterator[polars.DataFrame], name: str, clock: TraceClock) -> Iterator[Chunk]:
    """The columns of each batch as bytes; wrong types and missing values are errors with their row."""
    rows_before = 0
    for batch in batches:
        batch_clock = check_types(batch.schema, name)
        if batch_clock is not clock:
            raise Error(
                f"the times are {batch_clock.value}, and those of the rows before are {clock.value}",
                Place(name, rows_before + 1, 0, ""),
                "use one type of times",
            )
        reader = _Reader(batch, name, rows_before)
        unit, times = reader.times()
        op = reader.letters()
        offset, length = reader.integers("offset_bytes", op), reader.integers("length_bytes", op)
        device = reader.integers("device") if "device" in batch.columns else b""
        metadata = reader.integers("metadata", op) if "metadata" in batch.columns else b""
        yield unit, (times, op, offset, length, device, metadata)
        rows_before += batch.height


class _Reader:
    """Takes columns out of a batch that begins after `rows` rows of the table called `name`."""

    def __init__(self, batch: polars.DataFrame, name: str, rows_before: int) -> None:
        self.batch = batch
        self.name = name
        self.rows_before = rows_before

    def times(self) -> tuple[str, bytes]:
        """The times and their unit, as `_native.Source.from_columns` takes them."""
        values = self.batch["time_us"]
        dtype = values.dtype
        self._check_missing(values, values.is_null())
        if dtype.is_float():
            return "fractional us", _to_bytes(values.cast(polars.Float64))
        if dtype.is_integer():
            converted = values.cast(polars.Int64, strict=False)
            self._check_times(values, converted.is_null() if converted.null_count() else None)
            return "us", _to_bytes(converted)
        if dtype.is_decimal():
            return "ns", _to_bytes(self._decimal_ns(values))
        converted = self._temporal_ns(values)
        if dtype == polars.Time:
            self._check_midnight(converted)
        if dtype in (polars.Datetime, polars.Date):
            return "wall ns", (converted.to_numpy().view(np.uint64) ^ np.uint64(DATE_OFFSET_NS)).tobytes()
        return ("wall ns" if dtype == polars.Time else "ns"), _to_bytes(converted)

    def letters(self) -> bytes:
        """The operations as letters."""
        values = self.batch["op"]
        self._check_missing(values, values.is_null())
        try:
            op_words = values.cast(polars.String)
        except polars.exceptions.PolarsError as error:
            raise Error("op: the bytes are no text", self._error_place(0), REMEDIES["op"]) from error
        if (op_words.str.len_bytes() != 1).any():
            op_words = self._replace_words(op_words)
        letters: str = op_words.str.join().item()
        return letters.encode()

    def _replace_words(self, words: polars.Series) -> polars.Series:
        letters_by_word: dict[str, str] = {}
        for word in words.unique(maintain_order=True):
            letter = _native.op_letter(word)
            if letter is None:
                row = (words == word).arg_max() or 0
                raise Error(f"op: unknown operation `{word[:40]}`", self._error_place(row), REMEDIES["op"])
            letters_by_word[word] = letter
        return words.replace_strict(list(letters_by_word), list(letters_by_word.values()))

    def integers(self, column: str, op: bytes | None = None) -> bytes:
        """A column of whole numbers as bytes of type i64.

        Args:
            column: The column.
            op: The operations, if flushes need no value in this column.
        """
        values = self.batch[column]
        whole_numbers = values.cast(polars.Int64, strict=False)
        is_wrong = whole_numbers.is_null() if whole_numbers.null_count() else None
        if not (values.dtype.is_integer() or values.dtype in (polars.Boolean, polars.Null)):
            is_different = values != whole_numbers.cast(values.dtype)
            if whole_numbers.null_count() or is_different.any():
                is_wrong = is_different.fill_null(value=True)
        if is_wrong is not None:
            if op is not None:
                is_flush = np.isin(np.frombuffer(op, np.uint8), np.frombuffer(b"Ff", np.uint8))
                is_wrong &= polars.Series(~is_flush)
            if is_wrong.any():
                raise self._integer_error(values, is_wrong.arg_max() or 0)
            whole_numbers = whole_numbers.fill_null(0)
        return _to_bytes(whole_numbers)

    def _integer_error(self, values: polars.Series, row: int) -> Error:
        column, value = values.name, values[row]
        if value is None or value != value:  # noqa: PLR0124 - NaN, which pandas writes for a missing value
            return self._missing_error(column, row)
        if value % 1 != 0:
            return Error(f"{column}: {value} is not a whole number", self._error_place(row), REMEDIES[column])
        return Error(f"{column}: {value} is too large", self._error_place(row), "give integers of 64 bits")

    def _decimal_ns(self, values: polars.Series) -> polars.Series:
        """Microseconds with decimals in nanoseconds, exact; a fraction of a nanosecond is rounded."""
        whole_us = values.cast(polars.Int64, strict=False)
        is_outside = (whole_us.is_null() | (whole_us.abs() > MAX_INT64 // 1001)).fill_null(value=True)
        self._check_times(values, is_outside)
        fraction = (values - whole_us.cast(values.dtype)).cast(polars.Float64)
        return whole_us * 1000 + (fraction * 1000 + 0.5).floor().cast(polars.Int64)

    def _temporal_ns(self, values: polars.Series) -> polars.Series:
        """Durations, dates and times of day in nanoseconds: of the duration, since 1970, since midnight."""
        dtype: Any = values.dtype
        if dtype == polars.Time:
            factor = 1
        else:
            factor = NS_PER_DAY if dtype == polars.Date else NS_PER_UNIT[dtype.time_unit]
        counts = values.to_physical().cast(polars.Int64)
        if factor > 1:
            limit = MAX_INT64 // factor
            self._check_times(values, (counts > limit) | (counts < -limit))
        return counts * factor

    def _check_midnight(self, times: polars.Series) -> None:
        """Refuse times of day that start again: sorting them would join two days.

        Raises:
            Error: A time of day is half a day or more before the one above it.
        """
        starts_again = times.diff() < -NS_PER_DAY // 2
        if starts_again.any():
            raise Error(
                "time_us: the time of day starts again at midnight",
                self._error_place(starts_again.arg_max() or 0),
                "give a Datetime",
            )

    def _check_times(self, values: polars.Series, is_outside: polars.Series | None) -> None:
        """Refuse times that do not fit 64 bits.

        Raises:
            Error: A time does not fit.
        """
        if is_outside is None or not is_outside.any():
            return
        row = is_outside.arg_max() or 0
        if values.dtype in (polars.Datetime, polars.Date):
            raise Error(
                "time_us: the date is not in the years 1678 to 2261",
                self._error_place(row),
                "check the dates",
            )
        # Python has no durations as long as those of polars.
        shown_time = "the duration" if values.dtype == polars.Duration else values[row]
        raise Error(
            f"time_us: {shown_time} is not a time from 0 to 9e15 microseconds",
            self._error_place(row),
            "check the unit of the times",
        )

    def _check_missing(self, values: polars.Series, is_missing: polars.Series) -> None:
        if values.null_count():
            raise self._missing_error(values.name, is_missing.arg_max() or 0)

    def _missing_error(self, column: str, row: int) -> Error:
        return Error(f"{column}: the value is missing", self._error_place(row))

    def _error_place(self, row: int) -> Place:
        return Place(self.name, self.rows_before + row + 1, 0, "")


def _to_bytes(values: polars.Series) -> bytes:
    data: bytes = values.to_numpy().tobytes()
    return data
