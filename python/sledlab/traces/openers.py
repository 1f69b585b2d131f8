"""Openers of the requests of one volume: a text in any format, or Parquet files one after another."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.lazy import polars
from sledlab.traces import contents, parquet, remote
from sledlab.traces.columns import check_columns, is_parquet
from sledlab.traces.reading import ReadingOptions
from sledlab.traces.samples import locate
from sledlab.traces.table_reader import from_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO, Any

BATCH_ROWS = 65_536
"""Rows of a table that are handed to the simulator together."""


@dataclass(frozen=True)
class TextTrace:
    """A trace in a text format, on a path or at an address.

    Attributes:
        path: Path or address of the file.
        reading: How it is read.
        base_ns: The time of its clock that arrivals count from; by default the first request.
    """

    path: str
    reading: ReadingOptions = field(default=ReadingOptions())
    base_ns: int | None = None

    def open(self) -> _native.Source:
        """Open the requests at the first."""
        return self.open_shared(_native.Continuation(self.base_ns))

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests; traces that continue one another share device numbers and the clock."""
        file = remote.open_file(self.path) if remote.is_remote(self.path) else None
        return self.reading.open(self.path, continuation, file)

    def identity(self) -> str:
        """A text that differs for traces with different requests."""
        return f"{_identity(self.path)} {self.reading} {self.base_ns}"


@dataclass(frozen=True)
class Parts:
    """Parquet files with the columns of a trace, each continuing the one before.

    Attributes:
        paths: Paths or addresses of the files, in order.
        base_ns: The time of their clock that arrivals count from; by default the first request.
    """

    paths: tuple[str, ...]
    base_ns: int | None = None

    def open(self) -> _native.Source:
        """Open the requests at the first."""
        return self.open_shared(_native.Continuation(self.base_ns))

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests; files with the same clock share that of `continuation`.

        Raises:
            Error: The times are dates, and arrivals count from the start of the fleet.
        """
        with Part(self.paths[0]) as first:
            columns, schema = first.columns(), first.schema
        frames = read_rows(self.paths, columns)
        source = from_batches(self.paths[0], schema, frames, continuation=continuation)
        if source.ns_before_1970 is not None and self.base_ns == 0:
            raise Error(
                "times are dates here, but not in all volumes of the fleet",
                Place(self.paths[0], 0, 0, ""),
                "give all volumes the same type of times",
            )
        return source

    def identity(self) -> str:
        """A text that differs for traces with different requests."""
        clock = [] if self.base_ns is None else [str(self.base_ns)]
        return " ".join([*(_identity(path) for path in self.paths), *clock])


class Part:
    """A Parquet file while it is read; errors about it name the file.

    Attributes:
        path: Its path or address.
        schema: The types of its columns.
    """

    def __init__(self, path: str) -> None:
        """Open the file and read its footer.

        Raises:
            Error: The file cannot be opened, or is no Parquet.
        """
        self.path = path
        try:
            self._file = remote.open_file(path) if remote.is_remote(path) else Path(path).open("rb")  # noqa: SIM115
        except OSError as error:
            raise Error(f"cannot open: {error.strerror}", Place(path, 0, 0, ""), "check the path") from error
        try:
            self.schema: Mapping[str, Any] = polars.read_parquet_schema(BytesIO(_footer(self._file)))
        except polars.exceptions.PanicException as error:
            # On types that polars does not know, even if unused.
            self._file.close()
            raise Error(
                f"a column is of a type that polars does not read: {error}",
                Place(path, 0, 0, ""),
                "write the file without that column, or intervals as integers",
            ) from error
        except Exception as error:
            self._file.close()
            raise self._read_error(error) from error

    def __enter__(self) -> Part:
        """The open file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def columns(self) -> list[str]:
        """The columns of a trace that the file has.

        Raises:
            Error: The file has no column that a trace requires.
        """
        return check_columns(list(self.schema), self.path)

    def batches(self, columns: list[str]) -> Iterator[polars.DataFrame]:
        """The rows of the file, with those of the columns that it has.

        Raises:
            Error: The file cannot be read, or it is at an address and pyarrow is not installed.
        """
        present_columns = [column for column in columns if column in self.schema]
        try:
            if remote.is_remote(self.path):
                yield from remote.parquet_batches(self._file, present_columns, BATCH_ROWS)
            else:
                yield from parquet.batches(self.path, present_columns, BATCH_ROWS)
        except Error:
            raise
        except (polars.exceptions.PolarsError, OSError, ValueError) as error:
            raise self._read_error(error) from error

    def _read_error(self, error: Exception) -> Error:
        return Error(
            f"not a Parquet file that can be read: {str(error).splitlines()[0]}",
            Place(self.path, 0, 0, ""),
            "copy, download or write the file again",
        )


def _footer(file: IO[bytes]) -> bytes:
    """Return the end of a Parquet file, from which its schema can be read without reading all of the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size - 8 - length))
    return b"PAR1" + file.read()


def read_rows(paths: Sequence[str], columns: list[str]) -> Iterator[polars.DataFrame]:
    """The rows of Parquet files, one file after another.

    Raises:
        Error: A file cannot be read, or has no column that a trace requires.
    """
    for path in paths:
        with Part(path) as part:
            part.columns()
            yield from part.batches(columns)


def starts_as_parquet(path: str) -> bool:
    """Whether a file begins with the bytes of Parquet; `False` for a path that cannot be read.

    Raises:
        Error: An address cannot be read.
    """
    if remote.is_remote(path):
        with remote.open_file(path) as file:
            return file.read(4) == b"PAR1"
    return is_parquet(str(locate(path)))


def _identity(path: str) -> str:
    if remote.is_remote(path):
        return remote.identity(path)
    try:
        return contents.content(locate(path))
    except OSError as error:
        raise Error(f"cannot read: {error.strerror}", Place(path, 0, 0, ""), "check the path") from error
