"""Parquet files, read in batches and written in row groups, so that a table need not fit in memory."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUP_ROWS = 131_072
"""Rows per row group of a file."""

COMPRESSION_LEVEL = 1
"""Level of zstd: higher levels write half as fast, and files become a few percent smaller."""


def row_count(path: str | Path) -> int:
    """Return the number of rows of a file."""
    count: int = polars.scan_parquet(path, glob=False).select(polars.len()).collect().item()
    return count


def batches(path: str | Path, columns: Sequence[str], rows: int) -> Iterator[polars.DataFrame]:
    """Read the columns of a file, at most `rows` rows at a time."""
    table = polars.scan_parquet(path, glob=False, hive_partitioning=False).select(columns)
    for start in range(0, row_count(path), rows):
        yield table.slice(start, rows).collect()


def write_table(table: polars.DataFrame, path: Path) -> None:
    """Write a table to a file."""
    table.write_parquet(path, compression_level=COMPRESSION_LEVEL, row_group_size=GROUP_ROWS)


class ParquetWriter:
    """Writes a table of any length.

    A table of more than one row group is kept in temporary files next to the result until it is complete,
    because polars writes only complete files.

    Examples:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "numbers.parquet"
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
        self._rows = 0
        self._directory: TemporaryDirectory[str] | None = None
        self._groups: list[Path] = []

    def write(self, frame: polars.DataFrame) -> None:
        """Add rows."""
        self._frames.append(frame)
        self._rows += frame.height
        if self._rows >= self._group_rows:
            self.save_group()

    def save_group(self) -> None:
        """Move the rows in memory to a temporary file."""
        if self._rows == 0:
            return
        if self._directory is None:
            parent = self._path.parent if os.access(self._path.parent, os.W_OK) else None
            self._directory = TemporaryDirectory(dir=parent, prefix=f"{self._path.name}-groups-")
        group = Path(self._directory.name) / f"{len(self._groups):08}.parquet"
        polars.concat(self._frames).write_parquet(group, compression="uncompressed", statistics=False)
        self._groups.append(group)
        self._frames, self._rows = [], 0

    def close(self) -> None:
        """Write the file and remove the temporary files."""
        try:
            if self._groups:
                self.save_group()
                polars.scan_parquet(self._groups, glob=False).sink_parquet(
                    self._path, compression_level=COMPRESSION_LEVEL, row_group_size=self._group_rows
                )
            elif self._frames:
                write_table(polars.concat(self._frames), self._path)
        finally:
            self.drop()

    def drop(self) -> None:
        """Remove the temporary files without writing the file."""
        self._frames, self._rows, self._groups = [], 0, []
        if self._directory is not None:
            self._directory.cleanup()
