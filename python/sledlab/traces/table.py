"""Requests of the simulator as data frames, and written to files."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.traces.columns import BLOCK_BYTES, OPTIONAL_COLUMNS, PARQUET, format_to_write, schema
from sledlab.traces.parquet import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Tell = Callable[[int, float | None], Any]

HEAD_REQUESTS = 65_536
"""Requests read before a Parquet or CSV file is created: if none has metadata, that column is omitted."""

_ASCII = [chr(code) for code in range(128)]

DEVICES_REMEDY = (
    "add --device-column, pick one with `sledlab trace slice --device NAME`, or --place one after another"
)
"""The remedy for a trace with several devices that is written to a file without a column for them."""


def to_batches(source: _native.Source) -> Iterator[polars.DataFrame]:
    """Return a stream as data frames with the columns of a trace, `device` and `metadata`."""
    while (chunk := source.next_chunk()) is not None:
        arrival, op, lbn, length, device, metadata = chunk
        first_blocks = np.frombuffer(lbn, "<u8")
        yield polars.DataFrame(
            {
                "time_us": np.frombuffer(arrival, "<u8") / 1000,
                "op": decode_letters(op),
                "offset_bytes": (first_blocks * BLOCK_BYTES).astype(np.int64),
                "length_bytes": np.frombuffer(length, "<u8").astype(np.int64),
                "device": np.frombuffer(device, "<u2"),
                "metadata": np.frombuffer(metadata, "<u1"),
            }
        )


def categories(codes: Any, names: Sequence[str]) -> polars.Series:
    """Return codes, counted from 0, as the names that they stand for, one in each row.

    Examples:
        >>> categories([1, 0, 1], ["R", "W"]).to_list()
        ['W', 'R', 'W']
    """
    return polars.Series(names, dtype=polars.Categorical).gather(polars.Series(codes, dtype=polars.UInt32))


def decode_letters(codes: bytes) -> polars.Series:
    """Return ASCII codes as letters, one in each row.

    Examples:
        >>> decode_letters(b"RW").to_list()
        ['R', 'W']
    """
    return polars.Series(_ASCII).gather(polars.Series(np.frombuffer(codes, "u1")))


def to_rows(source: _native.Source) -> list[dict[str, Any]]:
    """A short stream as plain rows with the columns of a trace, `device` and `metadata`; needs no library."""
    rows = []
    while (chunk := source.next_chunk()) is not None:
        arrival, op, lbn, length, device, metadata = chunk
        columns = (
            array("Q", arrival),
            op.decode(),
            array("Q", lbn),
            array("Q", length),
            array("H", device),
            metadata,
        )
        rows += [
            {
                "time_us": time_ns // 1000 if time_ns % 1000 == 0 else time_ns / 1000,
                "op": letter,
                "offset_bytes": first * BLOCK_BYTES,
                "length_bytes": size_bytes,
                "device": device_number,
                "metadata": is_metadata,
            }
            for time_ns, letter, first, size_bytes, device_number, is_metadata in zip(*columns, strict=True)
        ]
    if not any(row["metadata"] for row in rows):
        for row in rows:
            del row["metadata"]
    return rows


def device_label(source: _native.Source, number: int) -> int | str:
    """The name of a device in the trace; an integer where the name is one."""
    name = source.device_name(number).decode(errors="replace")
    return int(name) if name.isdecimal() else name


def to_frame(source: _native.Source) -> polars.DataFrame:
    """A stream as a frame with the columns of a trace, `device`, and `metadata` if any request has it."""
    frame = polars.concat([polars.DataFrame(schema=schema()), *to_batches(source)])
    return frame if frame["metadata"].max() else frame.drop("metadata")


def write(
    source: _native.Source,
    path: str,
    format: str | None,
    *,
    progress: Tell | None = None,
    device_column: bool = False,
    media_only: bool = False,
) -> int:
    """Write a stream to a file, which appears only when whole, and return the number of operations written.

    Args:
        source: The stream.
        path: The file; `-` for standard output.
        format: Its format; by default as its name ends.
        progress: Called now and then with the requests written and the completed share where known.
        device_column: Whether to write the numbers of devices.
        media_only: Whether to omit trims and flushes.

    Raises:
        Error: The format is unknown or cannot express a request, or the file cannot be written.
    """
    format_name = format_to_write(path, format)
    if media_only:
        source = _native.select_ops(source, "RW")
    if format_name == PARQUET:
        if path == "-" or (Path(path).exists() and not Path(path).is_file()):
            raise Error(f"cannot write Parquet to `{path}`", remedy="name a file, or use --to csv")
        with atomic_write(Path(path)) as draft:
            return _write_parquet(source, draft, progress, device_column=device_column)
    if path == "-":
        return _write_text(source, path, format_name, progress, device_column=device_column)
    with atomic_write(Path(path)) as draft:
        return _write_text(source, str(draft), format_name, progress, device_column=device_column)


def _write_text(
    source: _native.Source, path: str, format: str, progress: Tell | None, *, device_column: bool
) -> int:
    try:
        return _native.write_trace(source, path, format, device_column, progress=progress)
    except Error as error:
        if "no column `device`" in error.message:
            error.remedy = DEVICES_REMEDY
        raise


def _has_nonzero(batch: polars.DataFrame, column: str) -> bool:
    return bool((batch[column] != 0).any())


def _check_omitted(batch: polars.DataFrame, omitted_columns: list[str]) -> None:
    """Refuse requests with a device or metadata if the file has no column for it.

    Raises:
        Error: A column that is omitted holds values that are not zero.
    """
    if "device" in omitted_columns and _has_nonzero(batch, "device"):
        raise Error("the trace has several devices", remedy=DEVICES_REMEDY)
    if "metadata" in omitted_columns and _has_nonzero(batch, "metadata"):
        raise Error(
            "the first request for metadata comes so late that the file was begun without that column",
            remedy="write the trace as Parquet from a frame, or cut it with `sledlab trace slice`",
        )


def _write_parquet(source: _native.Source, path: Path, progress: Tell | None, *, device_column: bool) -> int:
    batches = to_batches(source)
    first_batches: list[polars.DataFrame] = []
    for batch in batches:
        first_batches.append(batch)
        if sum(frame.height for frame in first_batches) >= HEAD_REQUESTS:
            break
    has_metadata = any(_has_nonzero(batch, "metadata") for batch in first_batches)
    omitted_columns = [
        name
        for name, is_written in zip(OPTIONAL_COLUMNS, (device_column, has_metadata), strict=True)
        if not is_written
    ]
    written_rows = 0
    writer = ParquetWriter(path)
    writer.write(polars.DataFrame(schema=schema()).drop(omitted_columns))
    try:
        for batch in chain(first_batches, batches):
            _check_omitted(batch, omitted_columns)
            writer.write(batch.drop(omitted_columns))
            written_rows += batch.height
            if progress:
                progress(written_rows, None)
        writer.close()
    finally:
        writer.drop()
    return written_rows
