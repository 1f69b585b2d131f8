"""A query that DuckDB runs: its answer, and the profile with the rows that every operator gave."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.answer import combine_digests, digest
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
        return combine_digests([digest(self.rows)])


def check(sql: str) -> None:
    """Refuse a text that is not exactly one query.

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
    """Run a query. It sees the tables `tables`, and no other file of this machine.

    Raises:
        Error: DuckDB rejects the query.
    """
    with connect() as connection, tempfile.TemporaryDirectory(prefix="sledlab-") as directory:
        profile_path = Path(directory) / "profile.json"
        files = [file for table in tables for file in table.files]

        def execute() -> DuckDBPyRelation:
            for table in tables:
                view = (
                    f"CREATE VIEW {_quote_name(table.name)} AS FROM read_parquet({_quote_list(table.files)})"
                )
                connection.execute(view)
            connection.execute(f"SET disabled_optimizers = '{','.join(_DISABLED_OPTIMIZERS)}'")
            connection.execute("PRAGMA enable_profiling = 'json'")
            connection.execute(f"SET profiling_output = {_quote_text(profile_path)}")
            connection.execute(f"SET allowed_paths = {_quote_list([*files, profile_path])}")
            connection.execute(f"SET temp_directory = {_quote_text(directory)}")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            return _readable(connection.sql(sql)).materialize()

        try:
            rows = polars.DataFrame(run_interruptibly(connection, execute))
        except duckdb.Error as error:
            raise _query_error(error, [table.name for table in tables]) from error
        return QueryProfile(rows, json.loads(profile_path.read_text()))


def _readable(answer: DuckDBPyRelation) -> DuckDBPyRelation:
    """Return the answer as polars can read it: repeated names get a number, intervals become text."""
    names = _unique_names(answer.columns)
    type_names = [str(column_type) for column_type in answer.types]
    if names == answer.columns and "INTERVAL" not in type_names:
        return answer
    columns = enumerate(zip(names, type_names, strict=True), 1)
    return answer.project(
        ", ".join(
            f"#{position}{'::VARCHAR' if type_name == 'INTERVAL' else ''} AS {_quote_name(name)}"
            for position, (name, type_name) in columns
        )
    )


def _unique_names(names: list[str]) -> list[str]:
    """Names of columns; repeated ones get a number: `id`, `id_1`."""
    names_by_unique_name: dict[str, str] = {}
    for name in names:
        number, unique_name = 0, name
        while unique_name in names_by_unique_name:
            number += 1
            unique_name = f"{name}_{number}"
        names_by_unique_name[unique_name] = name
    return list(names_by_unique_name)


def _query_error(error: Exception, names: Sequence[str]) -> Error:
    """The error about a query that DuckDB refused."""
    message = str(error).strip()
    if "disabled by configuration" in message:
        hint = "give the directory of its tables: --tables DIR"
        return Error(f"a query sees its tables only: {message}", remedy=hint)
    remedy = (
        f"tables: {', '.join(names or TEXT_BYTES)}" if message.startswith("Catalog Error: Table") else None
    )
    return Error(f"DuckDB rejects the query: {message}", remedy=remedy)


def _quote_name(name: str) -> str:
    """A name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _quote_text(value: object) -> str:
    """A text, quoted for SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def _quote_list(values: Iterable[object]) -> str:
    """A list of texts, quoted for SQL."""
    return "[" + ", ".join(map(_quote_text, values)) + "]"
