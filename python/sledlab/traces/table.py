"""Requests passed between Arrow tables and the simulator, column by column."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.files import drafted
from sledlab.lazy import arrow_compute as pc
from sledlab.lazy import numpy as np
from sledlab.lazy import parquet, polars
from sledlab.lazy import pyarrow as pa
from sledlab.traces.columns import BLOCK_BYTES, OPTIONAL, PARQUET, format_to_write, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Chunk = tuple[bytes, bytes, bytes, bytes, bytes, bytes]
    Tell = Callable[[int, float | None], Any]

HELD_BACK = 65_536
"""Requests read before a Parquet or CSV file is begun: if none has metadata, its column is left out."""

GROUP_ROWS = 262_144
"""Rows per row group of a Parquet file."""

WITH_DEVICES = (
    "add --device-column, pick one with `sledlab trace slice --device N`, or --place one after another"
)
"""The remedy for a trace with several devices that is written to a file without a column for them."""


def from_batches(
    name: str, columns: pa.Schema, batches: Iterator[pa.RecordBatch], sort_window: int
) -> _native.Source:
    """A stream of the requests in Arrow record batches."""
    fractional = pa.types.is_floating(columns.field("time_us").type)
    return _native.Source.from_columns(
        name, to_chunks(batches, name, fractional=fractional), fractional, sort_window
    )


def to_chunks(batches: Iterator[pa.RecordBatch], name: str, *, fractional: bool) -> Iterator[Chunk]:
    """The columns of each batch as bytes; wrong types and missing values are errors with their row."""
    rows = 0
    time_type = pa.float64() if fractional else pa.int64()
    for batch in batches:
        read = _Reader(batch, name, rows)
        device, metadata = (
            read.numbers(column, pa.int64()) if column in batch.schema.names else b"" for column in OPTIONAL
        )
        yield (
            read.numbers("time_us", time_type),
            read.letters("op"),
            read.numbers("offset_bytes", pa.int64()),
            read.numbers("length_bytes", pa.int64()),
            device,
            metadata,
        )
        rows += batch.num_rows


class _Reader:
    """Takes columns out of a batch that begins after `rows` rows of the table called `name`."""

    def __init__(self, batch: pa.RecordBatch, name: str, rows: int) -> None:
        self.batch = batch
        self.name = name
        self.rows = rows

    def numbers(self, column: str, kind: pa.DataType) -> bytes:
        """A column of numbers as bytes of that type."""
        data: bytes = self._column(column, kind).to_numpy(zero_copy_only=False).tobytes()
        return data

    def letters(self, column: str) -> bytes:
        """A column of letters as bytes; anything longer or empty becomes `?`, which is refused later."""
        texts = self._column(column, pa.large_string())
        plain = pc.if_else(pc.equal(pc.binary_length(texts), 1), texts, "?")
        # Each text is one byte long now, and the bytes lie one behind another.
        _, places, letters = plain.buffers()
        first = np.frombuffer(places, "<i8")[plain.offset] if len(plain) else 0
        return bytes(memoryview(letters)[first : first + len(plain)]) if len(plain) else b""

    def _column(self, column: str, kind: pa.DataType) -> pa.Array:
        values = self.batch.column(column)
        if values.null_count:
            row = self.rows + values.is_null().to_pylist().index(True) + 1
            raise Error(f"{column}: the value is missing", Place(self.name, row, 0, ""))
        try:
            return values.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise Error(f"{column}: {error}", Place(self.name, self.rows + 1, 0, "")) from error


def to_batches(source: _native.Source) -> Iterator[pa.RecordBatch]:
    """A stream as Arrow record batches with the columns of a trace, `device` and `metadata`."""
    while (chunk := source.next_chunk()) is not None:
        arrival, op, lbn, length, device, metadata = chunk
        first = np.frombuffer(lbn, "<u8")
        yield pa.RecordBatch.from_pydict(
            {
                "time_us": np.frombuffer(arrival, "<u8") / 1000,
                "op": pa.array(np.frombuffer(op, "S1").astype("U1")),
                "offset_bytes": (first * BLOCK_BYTES).astype(np.int64),
                "length_bytes": np.frombuffer(length, "<u8").astype(np.int64),
                "device": np.frombuffer(device, "<u2"),
                "metadata": np.frombuffer(metadata, "<u1"),
            }
        )


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
                "length_bytes": count,
                "device": number,
                "metadata": flag,
            }
            for time_ns, letter, first, count, number, flag in zip(*columns, strict=True)
        ]
    if not any(row["metadata"] for row in rows):
        for row in rows:
            del row["metadata"]
    return rows


def to_frame(source: _native.Source) -> polars.DataFrame:
    """A stream as a frame with the columns of a trace, `device`, and `metadata` if any request has it."""
    frame = polars.from_arrow(pa.Table.from_batches(to_batches(source), schema=schema()))
    assert isinstance(frame, polars.DataFrame)
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
    """Writes a stream to a file, which appears only when whole, and returns the number of operations written.

    Args:
        source: The stream.
        path: The file; `-` for standard output.
        format: Its format; by default as its name ends.
        progress: Called now and then with the requests written and the share of the whole where known.
        device_column: Whether to write the numbers of devices.
        media_only: Whether to leave out trims and flushes.

    Raises:
        Error: The format is unknown or cannot express a request, or the file cannot be written.
    """
    chosen = format_to_write(path, format)
    if media_only:
        source = _native.media_only(source)
    if chosen == PARQUET:
        if path == "-" or (Path(path).exists() and not Path(path).is_file()):
            raise Error(
                f"Parquet goes only into files, not to `{path}`", remedy="name a file, or say --to csv"
            )
        with drafted(Path(path)) as place:
            return _write_parquet(source, place, progress, device_column=device_column)
    if path == "-":
        return _write_text(source, path, chosen, progress, device_column=device_column)
    with drafted(Path(path)) as place:
        return _write_text(source, str(place), chosen, progress, device_column=device_column)


def _write_text(
    source: _native.Source, path: str, format: str, progress: Tell | None, *, device_column: bool
) -> int:
    try:
        return _native.write_trace(source, path, format, device_column, progress=progress)
    except Error as error:
        if "no column `device`" in error.message:
            error.remedy = WITH_DEVICES
        raise


def _has(batch: pa.RecordBatch, column: str) -> bool:
    return bool(batch.column(column).to_numpy().any())


def _check(batch: pa.RecordBatch, left_out: list[str]) -> None:
    """Refuses requests with a device or metadata if the file has no column for it.

    Raises:
        Error: A column that is left out holds values that are not zero.
    """
    if "device" in left_out and _has(batch, "device"):
        raise Error("the trace has several devices", remedy=WITH_DEVICES)
    if "metadata" in left_out and _has(batch, "metadata"):
        raise Error(
            "the first request for metadata comes so late that the file was begun without that column",
            remedy="write the trace as Parquet from a frame, or cut it with `sledlab trace slice`",
        )


def _write_parquet(source: _native.Source, path: Path, progress: Tell | None, *, device_column: bool) -> int:
    batches = to_batches(source)
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(held.num_rows for held in head) >= HELD_BACK:
            break
    metadata = any(_has(batch, "metadata") for batch in head)
    left_out = [name for name, wanted in zip(OPTIONAL, (device_column, metadata), strict=True) if not wanted]
    columns = schema()
    for name in left_out:
        columns = columns.remove(columns.get_field_index(name))
    rows = 0
    with parquet.ParquetWriter(path, columns, compression="zstd") as writer:
        waiting: list[pa.RecordBatch] = []
        for batch in chain(head, batches):
            _check(batch, left_out)
            waiting.append(batch.select(columns.names))
            rows += batch.num_rows
            if sum(part.num_rows for part in waiting) >= GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
            if progress:
                progress(rows, None)
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return rows
