"""Parquet files written a row group at a time, read by three libraries."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from pyarrow import parquet
from sledlab.traces.parquet import ParquetWriter, batches, row_count


def frame(rows: int, generator: np.random.Generator) -> pl.DataFrame:
    """Random rows with a column of every type that sledlab writes."""
    bits = generator.integers(0, 2, rows).tolist()
    return pl.DataFrame(
        {
            "number": generator.integers(0, 2**60, rows).astype("u8"),
            "fraction": generator.random(rows),
            "flag": np.array(bits, bool),
            "text": pl.Series(["x" * each for each in bits], dtype=pl.String),
            "missing": pl.Series([each or None for each in bits], dtype=pl.Int64),
            "letter": pl.Series(["RW"[each] for each in bits], dtype=pl.Categorical),
            "money": pl.Series([decimal.Decimal("1.25")] * rows, dtype=pl.Decimal(38, 2)),
            "day": pl.Series([datetime.date(2020, 1, 1)] * rows, dtype=pl.Date),
        }
    )


@pytest.mark.parametrize("group_rows", [1, 3, 1000])
@pytest.mark.parametrize("sizes", [[0], [5], [0, 0, 3], [3, 3, 3, 1], [1] * 40, [1500, 7, 2500]], ids=str)
def test_row_groups_are_one_table(tmp_path: Path, sizes: list[int], group_rows: int) -> None:
    generator = np.random.default_rng(0)
    frames = [frame(rows, generator) for rows in sizes]
    path = tmp_path / "table.parquet"
    writer = ParquetWriter(path, group_rows)
    for each in frames:
        writer.write(each)
    writer.close()
    table = pl.concat(frames)
    read_back = pl.read_parquet(path)
    assert read_back.schema == table.schema
    assert read_back.equals(table)
    assert pl.concat(batches(path, table.columns, 7)).equals(table) if table.height else True
    assert row_count(path) == parquet.read_metadata(path).num_rows == table.height
    is_large = pl.col("number") > 2**59
    assert pl.scan_parquet(path).filter(is_large).collect().equals(table.filter(is_large))
    arrow_table = parquet.read_table(path)
    assert arrow_table["number"].to_pylist() == table["number"].to_list()
    assert arrow_table["letter"].to_pylist() == table["letter"].to_list()
    (row,) = duckdb.sql(f"select count(*), sum(number) from '{path}'").fetchall()
    assert row == (table.height, sum(table["number"].to_list()) or None)


def test_parquet_row_groups_are_written(tmp_path: Path) -> None:
    writer = ParquetWriter(tmp_path / "table.parquet", group_rows=10)
    for _ in range(5):
        writer.write(frame(4, np.random.default_rng(1)))
    writer.close()
    metadata = parquet.read_metadata(tmp_path / "table.parquet")
    assert [metadata.row_group(each).num_rows for each in range(metadata.num_row_groups)] == [12, 8]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import polars as pl
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.traces.parquet import write_table

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, numbers = Path(sys.argv[1]), range(200)
table = pl.DataFrame({f"column {i}": [0.1 * i * j for j in numbers] for i in range(200)})
write_table(table, path)
size = path.stat().st_size
path.unlink()
for limit_bytes in range(size - 65536, size, 1024):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))
    try:
        with atomic_write(path) as draft:
            write_table(table, draft)
        print("written to", limit_bytes)
    except Error as error:
        assert "cannot write" in str(error), error
    assert not path.exists()
print("end")
"""


def test_full_disk_is_named_wherever_a_table_ends(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "table.parquet")]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (completed.stdout, completed.stderr) == ("end\n", "")
