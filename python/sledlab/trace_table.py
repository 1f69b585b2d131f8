"""Requests between Arrow tables and the simulator, column by column."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.traces import OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars
    import pyarrow as pa

Chunk = tuple[bytes, bytes, bytes, bytes, bytes, bytes]

BLOCK_BYTES = 512
"""Bytes in a logical block."""

HELD_BACK = 65_536
"""Requests read before a Parquet file is begun, as for CSV: one for metadata among them adds a column."""


def to_chunks(batches: Iterator[pa.RecordBatch], name: str, *, fractional: bool) -> Iterator[Chunk]:
    """The columns of each batch as bytes; wrong types and missing values are errors with their row."""
    import pyarrow as pa

    rows = 0
    time_type = pa.float64() if fractional else pa.int64()
    for batch in batches:
        read = _Reader(batch, name, rows)
        device, metadata = (
            read.numbers(name, pa.int64()) if name in batch.schema.names else b"" for name in OPTIONAL
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
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = self._column(column, pa.large_string())
        plain = pc.if_else(pc.equal(pc.binary_length(texts), 1), texts, "?")
        return b"".join(text.encode() for text in plain.to_pylist())

    def _column(self, column: str, kind: pa.DataType) -> pa.Array:
        import pyarrow as pa

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
    import numpy as np
    import pyarrow as pa

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
    from array import array

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


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        {
            "time_us": pa.float64(),
            "op": pa.string(),
            "offset_bytes": pa.int64(),
            "length_bytes": pa.int64(),
            "device": pa.uint16(),
            "metadata": pa.uint8(),
        }
    )


def to_frame(source: _native.Source) -> polars.DataFrame:
    """A stream as a frame with the columns of a trace, `device`, and `metadata` where there is some."""
    import polars
    import pyarrow as pa

    frame = polars.from_arrow(pa.Table.from_batches(to_batches(source), schema=_schema()))
    assert isinstance(frame, polars.DataFrame)
    return frame if frame["metadata"].max() else frame.drop("metadata")


def write(
    source: _native.Source,
    path: str,
    format: str | None,
    *,
    progress: Callable[[int, float | None], Any] | None = None,
    device_column: bool = False,
    media_only: bool = False,
) -> int:
    """Writes a stream to a file and returns how many requests it holds."""
    if format == "parquet" or (format is None and path.endswith(".parquet")):
        if media_only:
            source = _native.media_only(source)
        return _write_parquet(source, path, progress, device_column=device_column)
    return _native.write_trace(source, path, format, device_column, media_only, progress=progress)


def _has(batch: pa.RecordBatch, column: str) -> bool:
    return bool(batch.column(column).to_numpy().any())


def _check(batch: pa.RecordBatch, left_out: list[str]) -> None:
    """Refuses to lose what stands in columns that the file does not have."""
    if "device" in left_out and _has(batch, "device"):
        raise Error(
            "the trace has several devices",
            remedy="add --device-column, or pick one with `sledlab trace slice`",
        )
    if "metadata" in left_out and _has(batch, "metadata"):
        raise Error(
            "the first request for metadata comes so late that the file was begun without that column",
            remedy="write the trace as Parquet from a frame, or cut it with `sledlab trace slice`",
        )


def _write_parquet(
    source: _native.Source,
    path: str,
    progress: Callable[[int, float | None], Any] | None,
    *,
    device_column: bool,
) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = to_batches(source)
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(held.num_rows for held in head) >= HELD_BACK:
            break
    metadata = any(_has(batch, "metadata") for batch in head)
    left_out = [name for name, wanted in zip(OPTIONAL, (device_column, metadata), strict=True) if not wanted]
    schema = _schema()
    for name in left_out:
        schema = schema.remove(schema.get_field_index(name))
    rows = 0
    with pq.ParquetWriter(Path(path), schema, compression="zstd") as writer:
        waiting: list[pa.RecordBatch] = []
        for batch in chain(head, batches):
            _check(batch, left_out)
            waiting.append(batch.select(schema.names))
            rows += batch.num_rows
            if sum(part.num_rows for part in waiting) >= 262_144:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
            if progress:
                progress(rows, None)
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return rows
