"""The tables that queries read: those of TPC-H, or the user's own Parquet files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.job.data.tpch import TEXT_BYTES, Tpch
from sledlab.job.query.database import connect, run_interruptibly
from sledlab.lazy import duckdb
from sledlab.traces.contents import content
from sledlab.traces.parquet import row_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Tell = Callable[[str, float | None], None]


_ROW_GROUPS = """
SELECT any_value(row_group_num_rows), any_value(row_group_bytes)
FROM parquet_metadata(?) GROUP BY row_group_id
"""
"""Rows and uncompressed bytes of each row group of a file."""


@dataclass(frozen=True)
class QueryTable:
    """A table.

    Attributes:
        name: Name of the table.
        files: Its Parquet files.
        rows: Number of rows.
        bytes: Bytes of the table on the stores of all nodes.
    """

    name: str
    files: tuple[Path, ...]
    rows: int
    bytes: int

    @property
    def content(self) -> list[str]:
        """Hashes of the table's files, independent of their directory."""
        return [content(file) for file in self.files]


def tpch_tables(scale_factor: float, words: Iterable[str], tell: Tell) -> list[QueryTable]:
    """Return the required tables of TPC-H; generate those that are not cached."""
    names = sorted(set(words) & set(TEXT_BYTES))
    data = Tpch(scale_factor)
    data.generate(names, tell)
    tables = []
    for name in names:
        files = tuple(data.parts(name))
        rows = sum(map(row_count, files))
        tables.append(QueryTable(name, files, rows, rows * TEXT_BYTES[name]))
    return tables


def directory_tables(directory: Path) -> list[QueryTable]:
    """The tables in a directory: each `NAME.parquet`, and each `NAME` with Parquet files in it.

    Raises:
        Error: The directory has no table, or one cannot be read.
    """
    files_by_name: dict[str, tuple[Path, ...]] = {}
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        files = (path,) if path.suffix == ".parquet" else tuple(sorted(path.glob("*.parquet")))
        if not files:
            continue
        if path.stem in files_by_name:
            raise Error(f"`{directory}` has two tables `{path.stem}`", remedy="rename one of them")
        files_by_name[path.stem] = files
    if not files_by_name:
        raise Error(
            f"there are no tables in `{directory}`",
            remedy="name a directory with NAME.parquet or NAME/*.parquet",
        )
    return [_user_table(name, files) for name, files in files_by_name.items()]


def _user_table(name: str, files: tuple[Path, ...]) -> QueryTable:
    """A table of the user's: it takes the bytes of its uncompressed columns."""
    rows = size = 0
    for file in files:
        try:
            with connect() as connection:
                execute = partial(connection.execute, _ROW_GROUPS, [str(file)])
                groups = run_interruptibly(connection, execute).fetchall()
        except duckdb.Error as error:
            raise Error(f"cannot read `{file}` as Parquet: {error}") from error
        rows += sum(group_rows for group_rows, _ in groups)
        size += sum(group_bytes for _, group_bytes in groups)
    return QueryTable(name, files, rows, max(rows, size) if rows else 0)
