"""The per-request table: chunks from the simulator, to memory, Parquet or CSV.

A chunk is a list of columns `(name, bytes)`: little-endian 64-bit integers, floating point where the name
ends in `_uj`, and a letter per row in `op`.
The bytes become Arrow arrays without another copy.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sledlab.errors import Error
from sledlab.files import Draft, writing
from sledlab.lazy import arrow_csv, parquet, polars
from sledlab.lazy import numpy as np
from sledlab.lazy import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Column = tuple[str, bytes]

FIRST = ("id", "arrival_ns", "start_ns", "completion_ns", "lbn", "blocks", "op", "response_ns")
"""Columns that come first, in this order; the parts of the service time follow."""

GROUP_ROWS = 131_072
"""Rows per row group of a Parquet file: about 16 MB in memory."""

KEPT_ROWS = 2_000_000
"""Most rows kept in memory unless all are asked for: about 250 MB."""


NO_DEVICE = 2**64 - 1
"""Value of the column `device` for requests that a cache answered."""


class Sink(Protocol):
    """Receives the chunks of a run's requests in order."""

    def write(self, columns: list[Column]) -> None:
        """Takes one chunk."""

    def close(self, *, keep: bool = True) -> None:
        """Ends the table: `keep` completes it with the rows so far, otherwise they are dropped."""


@runtime_checkable
class RequestsTable(Protocol):
    """The recorded requests of a run, in memory or in a file."""

    def frame(self) -> polars.DataFrame:
        """All rows as a data frame."""


def to_batch(columns: list[Column]) -> pa.RecordBatch:
    """A chunk as an Arrow record batch that shares its memory."""
    data = dict(columns)
    names = [*FIRST, *(name for name in data if name not in FIRST)]
    return pa.RecordBatch.from_arrays([_array(name, data[name]) for name in names], names=names)


def _array(name: str, data: bytes) -> pa.Array:
    if name == "device":
        numbers = np.frombuffer(data, dtype=np.uint64)
        return pa.array(numbers, type=pa.uint64(), mask=numbers == NO_DEVICE)
    if name != "op":
        kind = pa.float64() if name.endswith("_uj") else pa.uint64()
        return pa.Array.from_buffers(kind, len(data) // 8, [None, pa.py_buffer(data)])
    rows = len(data)
    return pa.StringArray.from_buffers(rows, _offsets(rows), pa.py_buffer(data))


@cache
def _offsets(rows: int) -> pa.Buffer:
    """Where each of `rows` texts of one letter begins, and where the last ends."""
    return pa.py_buffer(np.arange(rows + 1, dtype=np.int32))


@dataclass
class Memory:
    """Keeps rows in memory; drops all of them once there are more than `limit`."""

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

    def close(self, *, keep: bool = True) -> None:
        """Nothing to complete."""

    def frame(self) -> polars.DataFrame:
        """All rows."""
        if self.overflowed:
            raise Error(
                f"this run had more than {self.limit:,} requests, so they were not kept",
                remedy="run with requests=True, or requests='requests.parquet' for very long runs",
            )
        frame = polars.from_arrow(pa.Table.from_batches(self.batches)) if self.batches else polars.DataFrame()
        assert isinstance(frame, polars.DataFrame)
        return frame


class _File:
    """A file of rows, created with the first one; it gets its name when it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._draft: Draft | None = None
        self._writer: Any = None

    def _begin(self, place: Path, schema: pa.Schema) -> Any:
        """The writer of the file at `place`."""
        raise NotImplementedError

    def _put(self, batch: pa.RecordBatch) -> None:
        """Writes rows."""
        self._writer.write_batch(batch)

    def _finish(self) -> None:
        """Writes rows that are still buffered."""

    def write(self, columns: list[Column]) -> None:
        """Writes one chunk.

        Raises:
            Error: The file cannot be written.
        """
        batch = to_batch(columns)
        if self._draft is None:
            self._draft = Draft(self.path)
        with writing(self.path, self._draft.place):
            if self._writer is None:
                self._writer = self._begin(self._draft.place, batch.schema)
            self._put(batch)

    def close(self, *, keep: bool = True) -> None:
        """Completes the file and gives it its name, or drops it where not `keep`.

        Raises:
            Error: The file cannot be written.
        """
        if self._draft is None:
            return
        try:
            if keep:
                with writing(self.path, self._draft.place):
                    self._finish()
                    self._writer.close()
                    self._draft.keep()
            elif self._writer is not None:
                with suppress(OSError):  # the file is dropped anyway
                    self._writer.close()
        finally:
            self._draft.drop()

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        raise NotImplementedError


class ParquetWriter(_File):
    """Writes rows to a Parquet file, a row group at a time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def _begin(self, place: Path, schema: pa.Schema) -> Any:
        # Successive numbers differ little and seldom repeat: faster than the default, and smaller.
        whole = (field.name for field in schema if pa.types.is_integer(field.type))
        numbers = dict.fromkeys(whole, "DELTA_BINARY_PACKED")
        return parquet.ParquetWriter(
            place, schema, compression="zstd", use_dictionary=["op"], column_encoding=numbers
        )

    def _put(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= GROUP_ROWS:
            self._finish()

    def _finish(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
        self._waiting = []
        self._rows = 0

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        return polars.read_parquet(self.path)


class CsvFile(_File):
    """Writes rows to a CSV file with a header."""

    def _begin(self, place: Path, schema: pa.Schema) -> Any:
        return arrow_csv.CSVWriter(
            str(place), schema, write_options=arrow_csv.WriteOptions(quoting_style="none")
        )

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        return polars.read_csv(self.path)


@dataclass
class Tee:
    """Hands each chunk to several sinks."""

    sinks: Sequence[Sink]

    def write(self, columns: list[Column]) -> None:
        """Hands one chunk to every sink."""
        for sink in self.sinks:
            sink.write(columns)


def to_file(path: Path) -> ParquetWriter | CsvFile:
    """The sink for a file, chosen by its name.

    Raises:
        Error: The name ends neither in `.parquet` nor in `.csv`.
    """
    kinds: dict[str, type[ParquetWriter] | type[CsvFile]] = {".parquet": ParquetWriter, ".csv": CsvFile}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise Error(
            f"cannot tell how to write the requests to `{path}`",
            remedy="end the name in .parquet or .csv",
        )
    return kind(path)
