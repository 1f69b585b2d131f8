"""DuckDB: its version, and new databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.lazy import duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_REMEDY = "pip install 'sledlab[jobs]'"


def version() -> str:
    """The version of DuckDB.

    Raises:
        Error: DuckDB is not installed, or has another major version.
    """
    try:
        result = str(duckdb.__version__)
    except ModuleNotFoundError as error:
        raise Error("queries are planned by DuckDB, which is not installed", remedy=_REMEDY) from error
    if result.split(".", maxsplit=1)[0] != "2":
        raise Error(f"queries are planned by DuckDB 2; this is {result}", remedy=_REMEDY)
    return result


def connect() -> DuckDBPyConnection:
    """A new database. One thread: rows that operators give, and sums of floats, are then reproducible.

    Raises:
        Error: DuckDB is not installed, or has another major version.
    """
    version()
    return duckdb.connect(config={"threads": 1})
