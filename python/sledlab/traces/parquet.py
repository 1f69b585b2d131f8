"""Parquet files, read in batches and written in row groups, so that a table need not fit in memory."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING

from sledlab.files import retry_interrupted
from sledlab.lazy import polars
from sledlab.traces import footer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

GROUP_ROWS = 131_072
"""Rows per row group of a file."""

COMPRESSION_LEVEL = 1
"""Level of zstd: higher levels write half as fast, and files become a few percent smaller."""


def row_count(path: str | Path) -> int:
    """Return the number of rows of a file."""
    count: int = polars.scan_parquet(path, glob=False).select(polars.len()).collect().item()
    return count


def batches(path: str | Path, columns: Sequence[str], max_rows: int) -> Iterator[polars.DataFrame]:
    """Read the columns of a file, at most `max_rows` rows at a time."""
    table = polars.scan_parquet(path, glob=False, hive_partitioning=False).select(columns)
    for start in range(0, row_count(path), max_rows):
        yield retry_interrupted(table.slice(start, max_rows).collect)


def write_table(table: polars.DataFrame, path: Path) -> None:
    """Write a table to a file.

    Raises:
        OSError: The file cannot be written. Where polars writes files itself, its error may not say why.
    """
    buffer = BytesIO()
    table.write_parquet(buffer, compression_level=COMPRESSION_LEVEL, row_group_size=GROUP_ROWS)
    path.write_bytes(buffer.getbuffer())


def encode(table: polars.DataFrame) -> BytesIO:
    """Return a table as a Parquet file with one row group."""

    def write() -> BytesIO:
        buffer = BytesIO()
        table.write_parquet(buffer, compression_level=COMPRESSION_LEVEL, row_group_size=max(1, table.height))
        return buffer

    return retry_interrupted(write)


class ParquetWriter:
    """Writes a table of any length, a row group at a time.

    polars writes only complete files. Each row group is written as a file in memory; its bytes are appended
    to the result, whose footer lists all row groups.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.parquet"
        >>> writer = ParquetWriter(path, group_rows=2)
        >>> for number in range(5):
        ...     writer.write(polars.DataFrame({"number": [number]}))
        >>> writer.close()
        >>> polars.read_parquet(path)["number"].to_list()
        [0, 1, 2, 3, 4]
    """

    def __init__(self, path: Path, group_rows: int = GROUP_ROWS) -> None:
        self._path = path
        self._group_rows = group_rows
        self._frames: list[polars.DataFrame] = []
        self._buffered_rows = 0
        self._file: BinaryIO | None = None
        self._rows = 0
        self._size = 0
        self._groups: list[footer.Struct] = []
        self._footer: footer.Struct = {}

    def write(self, frame: polars.DataFrame) -> None:
        """Add rows."""
        self._frames.append(frame)
        self._buffered_rows += frame.height
        if self._buffered_rows >= self._group_rows:
            self.write_group()

    def write_group(self) -> None:
        """Write the rows in memory as a row group."""
        if self._frames:
            self.append(encode(polars.concat(self._frames)), self._buffered_rows)
            self._frames, self._buffered_rows = [], 0

    def append(self, group_file: BytesIO, rows: int) -> None:
        """Write an encoded row group."""
        body, self._footer = footer.split(group_file.getbuffer())
        if self._file is None:
            self._file = self._path.open("wb")
            self._file.write(footer.MAGIC)
            self._size = len(footer.MAGIC)
        for group in footer.row_groups(self._footer):
            footer.move(group, self._size - len(footer.MAGIC), len(self._groups))
            self._groups.append(group)
        self._file.write(body)
        self._size += len(body)
        self._rows += rows

    def close(self) -> None:
        """Complete the file."""
        self.write_group()
        if self._file is not None:
            self._file.write(footer.end_of_file(self._footer, self._groups, self._rows))
            self._file.close()

    def drop(self) -> None:
        """Close the file as it is; a complete file stays complete."""
        self._frames = []
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
