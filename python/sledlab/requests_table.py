"""The per-request table: chunks from the simulator, to memory, Parquet or CSV.

A chunk is a list of columns `(name, bytes)`: little-endian 64-bit integers, floating point where the name
ends in `_uj`, and a letter per row in `op`.
The bytes become Arrow arrays without another copy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error

if TYPE_CHECKING:
    from pathlib import Path

    import polars
    import pyarrow as pa

Column = tuple[str, bytes]

FIRST = ("id", "arrival_ns", "start_ns", "completion_ns", "lbn", "blocks", "op", "response_ns")
"""Columns that come first, in this order; the parts of the service time follow."""

GROUP_ROWS = 131_072
"""Rows per row group of a Parquet file: about 16 MB in memory."""

KEPT_ROWS = 2_000_000
"""Rows kept in memory unless told to keep all: about 250 MB."""


class Sink(Protocol):
    """Takes the chunks of a run in order."""

    def write(self, columns: list[Column]) -> None:
        """Takes one chunk."""

    def close(self) -> None:
        """Completes the file; after an interrupt, with what has come so far."""


class RequestsTable(Protocol):
    """Where a result finds its requests."""

    def frame(self) -> polars.DataFrame:
        """All rows."""


def to_batch(columns: list[Column]) -> pa.RecordBatch:
    """A chunk as an Arrow record batch that shares its memory."""
    import pyarrow as pa

    data = dict(columns)
    names = [*FIRST, *(name for name in data if name not in FIRST)]
    return pa.RecordBatch.from_arrays([_array(name, data[name]) for name in names], names=names)


def _array(name: str, data: bytes) -> pa.Array:
    import pyarrow as pa

    if name != "op":
        kind = pa.float64() if name.endswith("_uj") else pa.uint64()
        return pa.Array.from_buffers(kind, len(data) // 8, [None, pa.py_buffer(data)])
    rows = len(data)
    return pa.StringArray.from_buffers(rows, _offsets(rows), pa.py_buffer(data))


@cache
def _offsets(rows: int) -> pa.Buffer:
    """Where each of `rows` texts of one letter begins, and where the last ends."""
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.arange(rows + 1, dtype=np.int32))


@dataclass
class Memory:
    """Keeps rows in memory; lets go of all when more than `limit` come."""

    limit: int | None = None
    batches: list[Any] = field(default_factory=list)
    rows: int = 0
    overflowed: bool = False

    def write(self, columns: list[Column]) -> None:
        """Keeps one chunk."""
        if self.overflowed:
            return
        batch = to_batch(columns)
        self.rows += batch.num_rows
        self.batches.append(batch)
        if self.limit is not None and self.rows > self.limit:
            self.overflowed = True
            self.batches.clear()

    def close(self) -> None:
        """Nothing to complete."""

    def frame(self) -> polars.DataFrame:
        """All rows."""
        import polars
        import pyarrow as pa

        if self.overflowed:
            raise Error(
                f"this run had more than {self.limit:,} requests, so they were not kept",
                remedy="run with requests=True, or requests='requests.parquet' for very long runs",
            )
        frame = polars.from_arrow(pa.Table.from_batches(self.batches)) if self.batches else polars.DataFrame()
        assert isinstance(frame, polars.DataFrame)
        return frame


@dataclass
class ParquetFile:
    """Writes rows to a Parquet file, a row group at a time."""

    path: Path
    _writer: Any = None
    _waiting: list[Any] = field(default_factory=list)
    _rows: int = 0

    def write(self, columns: list[Column]) -> None:
        """Takes one chunk; writes when a row group is full."""
        batch = to_batch(columns)
        if self._writer is None:
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Numbers that seldom repeat but are near each other: faster than the default, and smaller.
            whole = (field.name for field in batch.schema if pa.types.is_integer(field.type))
            numbers = dict.fromkeys(whole, "DELTA_BINARY_PACKED")
            self._writer = pq.ParquetWriter(
                self.path, batch.schema, compression="zstd", use_dictionary=["op"], column_encoding=numbers
            )
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
        self._waiting = []
        self._rows = 0

    def close(self) -> None:
        """Writes what is left, and the footer."""
        if self._writer is not None:
            self._flush()
            self._writer.close()

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        import polars

        return polars.read_parquet(self.path)


@dataclass
class CsvFile:
    """Writes rows to a CSV file with a header."""

    path: Path
    _writer: Any = None

    def write(self, columns: list[Column]) -> None:
        """Writes one chunk."""
        batch = to_batch(columns)
        if self._writer is None:
            from pyarrow import csv

            options = csv.WriteOptions(quoting_style="none")
            self._writer = csv.CSVWriter(str(self.path), batch.schema, write_options=options)
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Completes the file."""
        if self._writer is not None:
            self._writer.close()

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        import polars

        return polars.read_csv(self.path)


@dataclass
class Tee:
    """Hands each chunk to several sinks."""

    sinks: list[Any]

    def write(self, columns: list[Column]) -> None:
        """Hands on one chunk."""
        for sink in self.sinks:
            sink.write(columns)

    def close(self) -> None:
        """Completes all."""
        for sink in self.sinks:
            sink.close()


def to_file(path: Path) -> ParquetFile | CsvFile:
    """The sink for a file, chosen by its name.

    Raises:
        Error: The name ends neither in `.parquet` nor in `.csv`.
    """
    kinds: dict[str, type[ParquetFile] | type[CsvFile]] = {".parquet": ParquetFile, ".csv": CsvFile}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise Error(
            f"cannot tell how to write the requests to `{path}`",
            remedy="end the name in .parquet or .csv",
        )
    return kind(path)
