"""Openers of the requests of one volume: a text in any format, or Parquet files one after another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.lazy import parquet
from sledlab.lazy import pyarrow as pa
from sledlab.traces import contents, remote
from sledlab.traces import table as tables
from sledlab.traces.columns import check_columns, is_parquet
from sledlab.traces.samples import located

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow

BATCH_ROWS = 65_536
"""Rows of a table that are handed to the simulator together."""


@dataclass(frozen=True)
class TextTrace:
    """A trace in a text format, on a path or at an address.

    Attributes:
        path: Path or address of the file.
        format: Its format; detected from its content when left out.
        base_ns: Wall-clock time that arrivals count from, for formats with one; by default the first request.
    """

    path: str
    format: str | None = None
    base_ns: int | None = None

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        return self.shared(_native.Sequel(self.base_ns))

    def shared(self, sequel: _native.Sequel, sort_window: int = 0) -> _native.Source:
        """Opens the requests, with numbers of devices and a clock shared with other traces of a sequel."""
        file = remote.opened(self.path) if remote.is_remote(self.path) else None
        return _native.Source.open(self.path, self.format, sort_window, sequel=sequel, file=file)

    def identity(self) -> str:
        """A text that differs for traces with different requests."""
        return f"{_identity(self.path)} {self.format} {self.base_ns}"


@dataclass(frozen=True)
class Parts:
    """Parquet files with the columns of a trace, each continuing the one before; a device column is ignored.

    Attributes:
        paths: Paths or addresses of the files, in order.
    """

    paths: tuple[str, ...]

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        with Part(self.paths[0]) as first:
            columns, schema = first.columns(), first.file.schema_arrow
        return tables.from_batches(self.paths[0], schema, rows_of(self.paths, columns), 0)

    def identity(self) -> str:
        """A text that differs for traces with different requests."""
        return " ".join(_identity(path) for path in self.paths)


class Part:
    """A Parquet file while it is read; errors about it name the file."""

    def __init__(self, path: str) -> None:
        """Opens the file.

        Raises:
            Error: The file cannot be opened, or is no Parquet.
        """
        self.path = path
        try:
            self._bytes = remote.opened(path) if remote.is_remote(path) else Path(path).open("rb")  # noqa: SIM115
        except OSError as error:
            raise Error(f"cannot open: {error.strerror}", Place(path, 0, 0, ""), "check the path") from error
        try:
            self.file = parquet.ParquetFile(self._bytes)
        except Exception as error:
            self._bytes.close()
            raise self._wrong(error) from error

    def __enter__(self) -> Part:
        """The open file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        self._bytes.close()

    def columns(self, *more: str) -> list[str]:
        """The columns of a trace that the file has, without `device`, and those of `more` that it has."""
        names = self.file.schema_arrow.names
        found = [column for column in check_columns(names, self.path) if column != "device"]
        return [*found, *(column for column in more if column in names)]

    def batches(self, columns: list[str]) -> Iterator[pyarrow.RecordBatch]:
        """The rows of the file, with those of the columns that it has."""
        present = [column for column in columns if column in self.file.schema_arrow.names]
        try:
            yield from self.file.iter_batches(batch_size=BATCH_ROWS, columns=present)
        except (pa.ArrowException, OSError) as error:
            raise self._wrong(error) from error

    def _wrong(self, error: Exception) -> Error:
        return Error(
            f"not a Parquet file that can be read: {error}",
            Place(self.path, 0, 0, ""),
            "copy, download or write the file again",
        )


def rows_of(paths: Sequence[str], columns: list[str]) -> Iterator[pyarrow.RecordBatch]:
    """The rows of Parquet files, one file after another.

    Raises:
        Error: A file cannot be read, or lacks a column of a trace.
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
        with remote.opened(path) as file:
            return file.read(4) == b"PAR1"
    return is_parquet(str(located(path)))


def _identity(path: str) -> str:
    if remote.is_remote(path):
        return remote.identity(path)
    try:
        return contents.content(located(path))
    except OSError as error:
        raise Error(f"cannot read: {error.strerror}", Place(path, 0, 0, ""), "check the path") from error
