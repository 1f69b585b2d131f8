"""Results: the tables of the papers' experiments that judges, pages and figures read.

`papers/results` holds one Parquet file for each topic. A row is a table of an experiment: its `experiment`,
its name `table`, and its content `csv` with a header line. The content is text because the columns differ
between tables, and because tables of new runs, which studies write as CSV, are then read by the same code.
"""

from __future__ import annotations

import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars

from . import directory_cache
from .paths import BUILD, RESULTS
from .runs import PlannedExperiment, TableReads

UNPACKED_TABLES = BUILD / "results"

RUN_DIGITS = 10
DIGITS = 7
"""Significant digits that are saved: of single runs, of which pages print up to nine, and of other tables."""


class ResultTable(NamedTuple):
    """A table of an experiment."""

    experiment: str
    table: str
    csv: str


def files() -> list[Path]:
    """Return the Parquet files of all topics."""
    return sorted(RESULTS.glob("*.parquet"))


def read(topic: str) -> list[ResultTable]:
    """Return the tables of a topic."""
    file = RESULTS / f"{topic}.parquet"
    return [ResultTable(*row) for row in polars.read_parquet(file).rows()] if file.is_file() else []


def write(topic: str, tables: Iterable[ResultTable]) -> None:
    """Write the tables of a topic, sorted by experiment and table."""
    frame = polars.DataFrame(
        sorted(tables), schema=dict.fromkeys(ResultTable._fields, polars.String), orient="row"
    )
    draft = RESULTS / f"{topic}.draft"
    frame.write_parquet(draft, compression="zstd", compression_level=19, statistics=False)
    draft.replace(RESULTS / f"{topic}.parquet")


def saved_experiments() -> set[str]:
    """Return the experiments with saved tables."""
    return {table.experiment for file in files() for table in read(file.stem)}


def directory() -> Path:
    """Return a directory with all tables as CSV files: a directory for each experiment."""
    return directory_cache.directory(
        UNPACKED_TABLES, directory_cache.hash_inputs(file.read_bytes() for file in files()), _unpack
    )


def _unpack(target: Path) -> None:
    for table in (table for file in files() for table in read(file.stem)):
        csv_file = target / table.experiment / f"{table.table}.csv"
        csv_file.parent.mkdir(exist_ok=True)
        csv_file.write_text(table.csv, encoding="utf-8", newline="")


def rows(experiment: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return polars.read_csv(directory() / experiment / f"{table}.csv", infer_schema_length=None).to_dicts()


@contextmanager
def overlay_directory(plan: Sequence[PlannedExperiment], directories: Mapping[str, Path]) -> Iterator[Path]:
    """Yield a directory with the experiments that ran, and the saved results of all others."""
    saved_directory = directory()
    with tempfile.TemporaryDirectory(prefix="sledlab-results-") as parent:
        overlay = Path(parent)
        for planned in plan:
            (overlay / planned.place).symlink_to(
                directories.get(planned.place, saved_directory / planned.place)
            )
        yield overlay


def replace(topic: str, tables: Iterable[ResultTable], existing: Container[str]) -> None:
    """Replace the tables of some experiments of a topic.

    Tables of experiments that are not among the `existing` ones are removed.
    """
    new_tables = list(tables)
    new_experiments = {table.experiment for table in new_tables}
    other_tables = (table for table in read(topic) if table.experiment not in new_experiments)
    write(topic, [*(table for table in other_tables if table.experiment in existing), *new_tables])


def read_tables(reads: TableReads) -> Iterator[ResultTable]:
    """Yield tables that were read, with the columns that their rows and the figures declare."""
    for file, columns in reads.columns_by_file.items():
        yield ResultTable(file.parent.name, file.stem, _select_columns(file, columns))


def _select_columns(file: Path, columns: set[str]) -> str:
    """Return some columns of a table as CSV, rounded."""
    frame = polars.read_csv(file, infer_schema_length=None)
    is_comparison = file.stem == "runs" and "speedup" in frame.columns  # jobs also have a table `runs`
    digits = RUN_DIGITS if is_comparison else DIGITS
    rounded_frame = frame.select(
        polars.col(name).round_sig_figs(digits) if frame[name].dtype.is_float() else polars.col(name)
        for name in frame.columns
        if name in columns
    )
    return rounded_frame.write_csv()
