"""A query that DuckDB runs: its answer, and the profile with the rows that every operator gave."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.answer import digest, whole
from sledlab.job.data.tpch import TEXT_BYTES
from sledlab.job.query.database import connect, run_interruptibly
from sledlab.lazy import duckdb, polars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from duckdb import DuckDBPyRelation

    from sledlab.job.query.tables import QueryTable

# The first three, as with them DuckDB reports fewer rows than its operators see; the others, as with them it
# reads a table twice to fetch rows by their place in its files, which nodes do not do.
_DISABLED_OPTIMIZERS = (
    "join_filter_pushdown",
    "compressed_materialization",
    "statistics_propagation",
    "late_materialization",
    "top_n_window_elimination",
)


@dataclass(frozen=True)
class QueryProfile:
    """The results of a query that DuckDB ran.

    Attributes:
        rows: The answer.
        profile: DuckDB's profile of the run.
    """

    rows: polars.DataFrame
    profile: dict[str, Any]

    @property
    def digest(self) -> str:
        """A hash of the answer, equal to that of a job with the same answer."""
        return whole([digest(self.rows)])


def check(sql: str) -> None:
    """Refuses a text that is not exactly one query.

    Raises:
        Error: The text is no query, or several.
    """
    with connect() as connection:
        try:
            statements = run_interruptibly(connection, lambda: connection.extract_statements(sql))
        except duckdb.Error as error:
            raise _query_error(error, ()) from error
    if len(statements) != 1:
        raise Error(f"a query is one SELECT; there are {len(statements)} statements", remedy="keep one")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise Error(f"a query is a SELECT, not {statements[0].type.name}", remedy="use a SELECT")


def words(sql: str) -> set[str]:
    """The words of a query without its comments: names of tables are among them."""
    return set(re.findall(r"\w+", re.sub(r"--[^\n]*", "", sql).lower()))


def run(sql: str, tables: Sequence[QueryTable]) -> QueryProfile:
    """Runs a query. It sees the tables `tables`, and no other file of this machine.

    Raises:
        Error: DuckDB rejects the query.
    """
    with connect() as connection, tempfile.TemporaryDirectory(prefix="sledlab-") as directory:
        output = Path(directory) / "profile.json"
        files = [file for table in tables for file in table.files]

        def execute() -> DuckDBPyRelation:
            for table in tables:
                view = f"CREATE VIEW {_name(table.name)} AS FROM read_parquet({_list(table.files)})"
                connection.execute(view)
            connection.execute(f"SET disabled_optimizers = '{','.join(_DISABLED_OPTIMIZERS)}'")
            connection.execute("PRAGMA enable_profiling = 'json'")
            connection.execute(f"SET profiling_output = {_text(output)}")
            connection.execute(f"SET allowed_paths = {_list([*files, output])}")
            connection.execute(f"SET temp_directory = {_text(directory)}")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            return _readable(connection.sql(sql)).materialize()

        try:
            rows = polars.DataFrame(run_interruptibly(connection, execute))
        except duckdb.Error as error:
            raise _query_error(error, [table.name for table in tables]) from error
        return QueryProfile(rows, json.loads(output.read_text()))


def _readable(answer: DuckDBPyRelation) -> DuckDBPyRelation:
    """Return the answer as polars can read it: repeated names get a number, intervals become text."""
    names = _distinct(answer.columns)
    kinds = [str(kind) for kind in answer.types]
    if names == answer.columns and "INTERVAL" not in kinds:
        return answer
    columns = enumerate(zip(names, kinds, strict=True), 1)
    return answer.project(
        ", ".join(
            f"#{place}{'::VARCHAR' if kind == 'INTERVAL' else ''} AS {_name(name)}"
            for place, (name, kind) in columns
        )
    )


def _distinct(names: list[str]) -> list[str]:
    """Names of columns; repeated ones get a number: `id`, `id_1`."""
    result: dict[str, str] = {}
    for name in names:
        number, fresh = 0, name
        while fresh in result:
            number += 1
            fresh = f"{name}_{number}"
        result[fresh] = name
    return list(result)


def _query_error(error: Exception, names: Sequence[str]) -> Error:
    """The error about a query that DuckDB refused."""
    text = str(error).strip()
    if "disabled by configuration" in text:
        hint = "give the directory of its tables: --tables DIR"
        return Error(f"a query sees its tables only: {text}", remedy=hint)
    remedy = f"tables: {', '.join(names or TEXT_BYTES)}" if text.startswith("Catalog Error: Table") else None
    return Error(f"DuckDB rejects the query: {text}", remedy=remedy)


def _name(name: str) -> str:
    """A name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    """A text, quoted for SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def _list(values: Iterable[object]) -> str:
    """A list of texts, quoted for SQL."""
    return "[" + ", ".join(map(_text, values)) + "]"
