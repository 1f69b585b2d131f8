"""DuckDB: its version, and new databases."""

from __future__ import annotations

from concurrent.futures import Future, wait
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from sledlab.errors import Error
from sledlab.lazy import duckdb

if TYPE_CHECKING:
    from collections.abc import Callable

    from duckdb import DuckDBPyConnection

T = TypeVar("T")

_REMEDY = "pip install 'sledlab[jobs]'"

POLL_S = 0.1
"""Seconds between two checks for signals, and between two interrupts of a database that a signal stops."""


def version() -> str:
    """The version of DuckDB.

    Raises:
        Error: DuckDB is not installed, or has another major version.
    """
    try:
        installed = str(duckdb.__version__)
    except ModuleNotFoundError as error:
        raise Error("queries are planned by DuckDB, which is not installed", remedy=_REMEDY) from error
    if installed.split(".", maxsplit=1)[0] != "2":
        raise Error(f"queries are planned by DuckDB 2; this is {installed}", remedy=_REMEDY)
    return installed


def connect() -> DuckDBPyConnection:
    """A new database. One thread: rows that operators give, and sums of floats, are then reproducible.

    Raises:
        Error: DuckDB is not installed, or has another major version.
    """
    version()
    return duckdb.connect(config={"threads": 1})


def run_interruptibly(connection: DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Return what `work` returns; a signal stops the statement that it executes.

    DuckDB executes in another thread: in the main thread it keeps signals from Python, or replaces their
    exception by its own.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except Exception as error:  # raised below, in the main thread
            outcome.set_exception(error)

    thread = Thread(target=run, daemon=True)
    try:
        thread.start()
        while not wait([outcome], POLL_S).done:
            pass  # Python handles signals between two waits; since polars was imported they do not end one
    except KeyboardInterrupt:
        while thread.ident is not None and not wait([outcome], POLL_S).done:
            connection.interrupt()
        raise
    return outcome.result()
