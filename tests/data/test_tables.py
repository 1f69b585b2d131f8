"""Databases and data frames read the tables that sledlab writes, and all get the same sums."""

from __future__ import annotations

import importlib
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.cli import run
from sledlab.studies.compare.tables import Comparison
from sledlab.study.columns import frame

from tests.require import need

DEVICE = ("--device", "mems-g2", "--workload", "uniform", "--warmup", "0")
TABLES = {
    "run/requests.parquet": ("op", ("response_ns", "blocks", "seek_x_ns", "access_uj")),
    "comparison/runs.parquet": ("scheduler", ("requests", "mean_ms", "p99_ms", "energy_j", "startups")),
}
"""For each table, the column that groups its rows, and columns to sum up."""

Sums = dict[str, tuple[float, ...]]
"""The number of rows and the sums of columns by group."""


def race(seeds: str, limit: int) -> sl.Comparison:
    """A comparison with one seed or several, whose intervals have values or not."""
    uniform, schedulers = sl.workload("uniform"), ["fcfs", "sptf"]
    comparison: sl.Comparison = sl.compare(
        uniform, "mems-g2", scheduler=schedulers, speedup=[1], limit=limit, seed=seeds, parallel=1
    )
    return comparison


def test_types_of_columns_do_not_depend_on_values() -> None:
    one_seed, others = race("1", 20), [race("1..2", 20), race("1", 3000)]
    for name, table in one_seed.tables.items():
        for comparison in others:
            assert table.schema == comparison.tables[name].schema
        assert pl.Null not in table.schema.values()
        without_rows = frame((), Comparison.kinds[name]).schema if name in Comparison.kinds else {}
        assert without_rows.items() <= table.schema.items()
    assert one_seed.tables["curves"].schema["queue_max"] == pl.Float64  # a mean over seeds


@pytest.fixture(scope="module")
def results_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a comparison."""
    directory = tmp_path_factory.mktemp("left")
    assert run(["simulate", *DEVICE, "--limit", "5000", "--out", str(directory / "run")]) == 0
    arguments = ("--scheduler", "fcfs,sptf", "--speedup", "1,2,4", "--limit", "500", "--parallel", "1")
    assert run(["compare", *DEVICE, *arguments, "--out", str(directory / "comparison")]) == 0
    return directory


def polars_sums(file: Path, group: str, columns: tuple[str, ...]) -> Sums:
    frame = pl.read_parquet(file).group_by(group).agg(pl.len(), pl.col(columns).sum())
    return {row[0]: row[1:] for row in frame.iter_rows()}


def query(table: str, group: str, columns: tuple[str, ...]) -> str:
    sum_columns = ", ".join(f"sum({column})" for column in columns)
    return f"select {group}, count(*), {sum_columns} from {table} group by {group}"


def duckdb_sums(file: Path, group: str, columns: tuple[str, ...]) -> Sums:
    rows = importlib.import_module(need("duckdb")).sql(query(f"'{file}'", group, columns)).fetchall()
    return {row[0]: row[1:] for row in rows}


def pandas_sums(file: Path, group: str, columns: tuple[str, ...]) -> Sums:
    groups = importlib.import_module(need("pandas")).read_parquet(file).groupby(group)
    return {name: (len(rows), *rows[list(columns)].sum()) for name, rows in groups}


def sqlite_sums(file: Path, group: str, columns: tuple[str, ...]) -> Sums:
    frame = pl.read_parquet(file)
    database = sqlite3.connect(":memory:")
    database.execute(f"create table found ({', '.join(frame.columns)})")
    placeholders = ", ".join("?" * frame.width)
    database.executemany(f"insert into found values ({placeholders})", frame.iter_rows())
    return {row[0]: row[1:] for row in database.execute(query("found", group, columns))}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("reader", [duckdb_sums, pandas_sums, sqlite_sums])
def test_readers_give_equal_sums(reader: Callable[..., Sums], table: str, results_directory: Path) -> None:
    expected_sums = polars_sums(results_directory / table, *TABLES[table])
    reader_sums = reader(results_directory / table, *TABLES[table])
    assert len(expected_sums) == 2
    assert reader_sums.keys() == expected_sums.keys()
    for name, group_sums in expected_sums.items():
        assert [float(number) for number in reader_sums[name]] == pytest.approx(group_sums, rel=1e-12)


def test_the_program_of_sqlite_imports_runs(results_directory: Path) -> None:
    program = need("sqlite3")
    columns = ("requests", "mean_ms", "energy_j")
    file = results_directory / "comparison" / "runs.csv"
    steps = (".mode csv", f".import {file} runs", f"{query('runs', 'scheduler', columns)};\n")
    completed = subprocess.run([program], input="\n".join(steps), capture_output=True, text=True, check=True)
    assert completed.stderr == ""
    rows = (line.split(",") for line in completed.stdout.splitlines())
    sqlite_sums_by_group = {row[0]: [float(number) for number in row[1:]] for row in rows}
    expected_sums = polars_sums(results_directory / "comparison" / "runs.parquet", "scheduler", columns)
    assert sqlite_sums_by_group.keys() == expected_sums.keys()
    for name, group_sums in expected_sums.items():
        assert sqlite_sums_by_group[name] == pytest.approx(group_sums, rel=1e-9)
