"""Databases and data frames read the tables that sledlab leaves, and all get the same numbers."""

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
"""What groups their rows, and columns to sum up."""

Sums = dict[str, tuple[float, ...]]
"""By group: number of rows, sums of the columns."""


def race(seeds: str, limit: int) -> sl.Comparison:
    """A comparison with one seed or several, whose intervals have values or not."""
    uniform, schedulers = sl.workload("uniform"), ["fcfs", "sptf"]
    result: sl.Comparison = sl.compare(
        uniform, "mems-g2", scheduler=schedulers, speedup=[1], limit=limit, seed=seeds, parallel=1
    )
    return result


def test_types_of_columns_do_not_depend_on_values() -> None:
    first, others = race("1", 20), [race("1..2", 20), race("1", 3000)]
    for name, table in first.tables.items():
        for each in others:
            assert table.schema == each.tables[name].schema
        assert pl.Null not in table.schema.values()
        without_rows = frame((), Comparison.kinds[name]).schema if name in Comparison.kinds else {}
        assert without_rows.items() <= table.schema.items()
    assert first.tables["curves"].schema["queue_max"] == pl.Float64  # a mean over seeds


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a comparison."""
    folder = tmp_path_factory.mktemp("left")
    assert run(["simulate", *DEVICE, "--limit", "5000", "--out", str(folder / "run")]) == 0
    race = ("--scheduler", "fcfs,sptf", "--speedup", "1,2,4", "--limit", "500", "--parallel", "1")
    assert run(["compare", *DEVICE, *race, "--out", str(folder / "comparison")]) == 0
    return folder


def polars_sums(file: Path, group: str, columns: tuple[str, ...]) -> Sums:
    frame = pl.read_parquet(file).group_by(group).agg(pl.len(), pl.col(columns).sum())
    return {row[0]: row[1:] for row in frame.iter_rows()}


def query(table: str, group: str, columns: tuple[str, ...]) -> str:
    sums = ", ".join(f"sum({column})" for column in columns)
    return f"select {group}, count(*), {sums} from {table} group by {group}"


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
    positions = ", ".join("?" * frame.width)
    database.executemany(f"insert into found values ({positions})", frame.iter_rows())
    return {row[0]: row[1:] for row in database.execute(query("found", group, columns))}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("reader", [duckdb_sums, pandas_sums, sqlite_sums])
def test_readers_give_equal_sums(reader: Callable[..., Sums], table: str, results_folder: Path) -> None:
    expected = polars_sums(results_folder / table, *TABLES[table])
    result = reader(results_folder / table, *TABLES[table])
    assert len(expected) == 2
    assert result.keys() == expected.keys()
    for name, sums in expected.items():
        assert [float(number) for number in result[name]] == pytest.approx(sums, rel=1e-12)


def test_the_program_of_sqlite_imports_runs(results_folder: Path) -> None:
    program = need("sqlite3")
    columns = ("requests", "mean_ms", "energy_j")
    file = results_folder / "comparison" / "runs.csv"
    steps = (".mode csv", f".import {file} runs", f"{query('runs', 'scheduler', columns)};\n")
    done = subprocess.run([program], input="\n".join(steps), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    rows = (line.split(",") for line in done.stdout.splitlines())
    result = {row[0]: [float(number) for number in row[1:]] for row in rows}
    expected = polars_sums(results_folder / "comparison" / "runs.parquet", "scheduler", columns)
    assert result.keys() == expected.keys()
    for name, sums in expected.items():
        assert result[name] == pytest.approx(sums, rel=1e-9)
