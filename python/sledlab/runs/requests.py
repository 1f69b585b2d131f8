"""The per-request table: chunks from the simulator, to memory, Parquet or CSV.

A chunk is a list of columns `(name, bytes)`: little-endian 64-bit integers, floating point where the name
ends in `_uj`, and a letter per row in `op`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sledlab.errors import Error
from sledlab.files import Draft, retry_interrupted, write_errors
from sledlab.lazy import later, polars
from sledlab.lazy import numpy as np
from sledlab.results import read_errors
from sledlab.stop_signals import restore_handler
from sledlab.traces import parquet
from sledlab.traces.table import decode_letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor
    from io import BytesIO
    from pathlib import Path

thread_pool = later("concurrent.futures:ThreadPoolExecutor")

Column = tuple[str, bytes]

FIRST_COLUMNS = ("id", "arrival_ns", "start_ns", "completion_ns", "lbn", "blocks", "op", "response_ns")
"""Columns that come first, in this order; the parts of the service time follow."""

MAX_ROWS = 2_000_000
"""Maximum rows in memory by default: about 250 MB."""

ENCODERS = 2
"""Threads that encode chunks: zstd takes longer than the simulation."""

MAX_ENCODED = 4
"""Maximum chunks in memory that are encoded or wait for it: about 50 MB."""

NO_DEVICE = 2**64 - 1
"""Value of the column `device` for requests that a cache answered."""


class Sink(Protocol):
    """Receives the chunks of a run's requests in order."""

    def write(self, columns: list[Column]) -> None:
        """Take one chunk."""

    def close(self, *, keep: bool = True) -> None:
        """End the table: `keep` completes it with the rows so far, otherwise they are dropped."""


@runtime_checkable
class RequestsTable(Protocol):
    """The recorded requests of a run, in memory or in a file."""

    def frame(self) -> polars.DataFrame:
        """All rows as a data frame."""


def to_frame(columns: list[Column]) -> polars.DataFrame:
    """Return a chunk as a data frame."""
    bytes_by_column = dict(columns)
    names = [*FIRST_COLUMNS, *(name for name in bytes_by_column if name not in FIRST_COLUMNS)]
    return polars.DataFrame({name: _series(name, bytes_by_column[name]) for name in names})


def _number_type(name: str) -> str:
    """Return the name of the type of a column of numbers, in numpy."""
    return "float64" if name.endswith("_uj") else "uint64"


def column_types(names: Iterable[str]) -> dict[str, type[polars.DataType]]:
    """Return the types of columns of the table of requests, by name."""
    polars_types_by_numpy_type: dict[str, type[polars.DataType]] = {
        "float64": polars.Float64,
        "uint64": polars.UInt64,
    }
    return {
        name: polars.String if name == "op" else polars_types_by_numpy_type[_number_type(name)]
        for name in names
    }


def _series(name: str, data: bytes) -> polars.Series:
    if name == "op":
        return decode_letters(data)
    series = polars.Series(np.frombuffer(data, _number_type(name)))
    return series.replace(NO_DEVICE, None) if name == "device" else series


@dataclass
class Memory:
    """Keeps rows in memory; drops all of them once there are more than `limit`."""

    limit: int | None = None
    frames: list[polars.DataFrame] = field(default_factory=list)
    rows: int = 0
    has_overflowed: bool = False

    def write(self, columns: list[Column]) -> None:
        """Keep one chunk."""
        if self.has_overflowed:
            return
        frame = to_frame(columns)
        self.rows += frame.height
        self.frames.append(frame)
        if self.limit is not None and self.rows > self.limit:
            self.has_overflowed = True
            self.frames.clear()

    def close(self, *, keep: bool = True) -> None:
        """Nothing to complete."""

    def frame(self) -> polars.DataFrame:
        """All rows."""
        if self.has_overflowed:
            raise Error(
                f"this run had more than {self.limit:,} requests, so they were not recorded",
                remedy="run with requests=True, or requests='requests.parquet' for very long runs",
            )
        return polars.concat(self.frames) if self.frames else polars.DataFrame()


class _File(ABC):
    """A file of rows, created with the first one; it gets its name when it is whole.

    Threads encode chunks while the simulation produces the next ones.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._draft: Draft | None = None
        self._writer: Any = None
        self._executor: ThreadPoolExecutor | None = None
        self._encodings: deque[Future[Any]] = deque()

    @abstractmethod
    def _create_writer(self, draft: Path) -> Any:
        """Return the writer of the file at `draft`."""

    @abstractmethod
    def _encode(self, frame: polars.DataFrame) -> Any:
        """Return a chunk as the method `append` of the writer takes it."""

    def write(self, columns: list[Column]) -> None:
        """Write one chunk.

        Raises:
            Error: An earlier chunk could not be written.
        """
        if self._draft is None:
            self._draft = Draft(self.path)
            self._executor = thread_pool(max_workers=ENCODERS)
        assert self._executor is not None
        self._encodings.append(self._executor.submit(self._encode_columns, columns))
        self._append(MAX_ENCODED)

    def _encode_columns(self, columns: list[Column]) -> Any:
        return self._encode(retry_interrupted(lambda: to_frame(columns)))

    def _append(self, max_left: int) -> None:
        """Append encoded chunks to the file until at most `max_left` are left."""
        assert self._draft is not None
        while len(self._encodings) > max_left:
            encoded_chunk = self._encodings.popleft().result()
            restore_handler()  # Ctrl-C must not interrupt polars in other threads
            with write_errors(self.path, self._draft.write_path):
                if self._writer is None:
                    self._writer = self._create_writer(self._draft.write_path)
                self._writer.append(*encoded_chunk)

    def close(self, *, keep: bool = True) -> None:
        """Complete the file and give it its name, or drop it where not `keep`.

        Raises:
            Error: The file cannot be written.
        """
        if self._draft is None:
            return
        try:
            if keep:
                self._append(0)
                with write_errors(self.path, self._draft.write_path):
                    self._writer.close()
                    self._draft.keep()
            elif self._writer is not None:
                self._writer.drop()
        finally:
            if self._executor is not None:
                self._executor.shutdown(cancel_futures=True)
            self._draft.drop()

    @abstractmethod
    def frame(self) -> polars.DataFrame:
        """Return all rows, from the file."""


class RequestsParquet(_File):
    """Writes rows to a Parquet file."""

    def _create_writer(self, draft: Path) -> parquet.ParquetWriter:
        return parquet.ParquetWriter(draft)

    def _encode(self, frame: polars.DataFrame) -> tuple[BytesIO, int]:
        return parquet.encode(frame), frame.height

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        with read_errors(self.path):
            return polars.read_parquet(self.path)


class _CsvWriter:
    """An open CSV file, whose header is written before the first row."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._has_header = False

    def append(self, names: Sequence[str], csv_rows: str) -> None:
        """Write encoded rows."""
        if not self._has_header:
            self._file.write(f"{','.join(names)}\n".encode())
            self._has_header = True
        self._file.write(csv_rows.encode())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def drop(self) -> None:
        """Close a file that is removed afterwards."""
        with suppress(OSError):
            self._file.close()


class RequestsCsv(_File):
    """Writes rows to a CSV file with a header."""

    def _create_writer(self, draft: Path) -> _CsvWriter:
        return _CsvWriter(draft)

    def _encode(self, frame: polars.DataFrame) -> tuple[Sequence[str], str]:
        write = partial(frame.write_csv, include_header=False, quote_style="never")
        return frame.columns, retry_interrupted(write)

    def frame(self) -> polars.DataFrame:
        """All rows, from the file."""
        with read_errors(self.path):
            names = polars.read_csv(self.path, n_rows=0).columns
            return polars.read_csv(self.path, schema=column_types(names))


@dataclass
class Tee:
    """Hands each chunk to several sinks."""

    sinks: Sequence[Sink]

    def write(self, columns: list[Column]) -> None:
        """Hand one chunk to every sink."""
        for sink in self.sinks:
            sink.write(columns)


def to_file(path: Path) -> RequestsParquet | RequestsCsv:
    """The sink for a file, chosen by its name.

    Raises:
        Error: The name ends neither in `.parquet` nor in `.csv`.
    """
    sink_classes_by_ending: dict[str, type[RequestsParquet] | type[RequestsCsv]] = {
        ".parquet": RequestsParquet,
        ".csv": RequestsCsv,
    }
    sink_class = sink_classes_by_ending.get(path.suffix.lower())
    if sink_class is None:
        raise Error(
            f"unknown format of the file for requests: `{path}`",
            remedy="use a name that ends in .parquet or .csv",
        )
    return sink_class(path)
