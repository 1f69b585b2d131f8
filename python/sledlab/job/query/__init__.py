"""Queries: DuckDB runs one, and its plan with the row counts of its operators becomes a work record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.job import MEMORY_MB, log, sources_name
from sledlab.job.data import home
from sledlab.job.query import profile
from sledlab.job.query.database import version
from sledlab.job.query.operators import Execution
from sledlab.job.query.phases import QueryPhases
from sledlab.job.query.plan import parse
from sledlab.job.query.tables import directory_tables, tpch_tables
from sledlab.job.record import export_record, save_record
from sledlab.job.task import check_size
from sledlab.traces.parquet import write_table

if TYPE_CHECKING:
    from sledlab.job.query.plan import Operator
    from sledlab.job.query.tables import QueryTable
    from sledlab.job.task import Tell
    from sledlab.traces.work import Work

QUERIES = Path(__file__).parent.parent / "queries"
"""The directory of the queries of TPC-H."""

ROW_MEMORY_SHARE = 7 / 8
"""Share of a node's memory for hash tables and rows that wait for their phase; the rest is for buffers."""


@dataclass(frozen=True)
class Query:
    """A query.

    Attributes:
        name: The job's name in the record.
        sql: The query's text.
    """

    name: str
    sql: str


def names() -> list[str]:
    """Names of the queries of TPC-H."""
    return [f"q{number}" for number in range(1, 1 + len(list(QUERIES.glob("q*.sql"))))]


def find(query: str | Path) -> Query:
    """A query: one of TPC-H by name, the text of a file `FILE.sql`, or the SQL itself.

    Raises:
        Error: No query has the name, or the file cannot be read.
    """
    text = str(query).strip()
    if not any(character.isspace() for character in text) and (QUERIES / f"{text.lower()}.sql").is_file():
        return Query(text.lower(), (QUERIES / f"{text.lower()}.sql").read_text())
    if isinstance(query, Path) or text.endswith(".sql"):
        try:
            return Query(Path(text).stem, Path(text).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Error(f"cannot read the query `{text}`: {error}") from error
    if " " not in text:
        raise Error(f"unknown query `{text}`", remedy="use q1 to q22, or a file FILE.sql")
    return Query("query", text)


@dataclass(frozen=True)
class QueryRequest:
    """A query with the arguments of `record_query`.

    Attributes:
        query: The query.
        nodes: Number of nodes.
        memory_mb: Memory of a node for the query, in MB of 2^20 bytes.
        scale_factor: Scale factor of the tables of TPC-H.
        tables: The user's own tables; empty for those of TPC-H.
    """

    query: Query
    nodes: int
    memory_mb: float
    scale_factor: float
    tables: tuple[QueryTable, ...]

    @property
    def header(self) -> dict[str, Any]:
        """The header of the record, without files and answer."""
        data: dict[str, Any] = {"scale_factor": self.scale_factor}
        if self.tables:
            data = {"tables": ", ".join(table.name for table in self.tables)}
        return {
            "work": 1,
            "job": self.query.name,
            "parameters": {**data, "memory_mb": self.memory_mb, "sql": self.query.sql.strip()},
            "seed": 0,
            "nodes": self.nodes,
        }

    @cached_property
    def content(self) -> str:
        """A hash of everything that determines the record."""
        table_hashes = [table.content for table in self.tables]
        inputs = [self.header, table_hashes, version(), sources_name()]
        return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    def find_tables(self, tell: Tell) -> tuple[QueryTable, ...]:
        """The tables of the query; those of TPC-H are generated unless they are kept."""
        return self.tables or tuple(tpch_tables(self.scale_factor, profile.words(self.query.sql), tell))


def record_query(
    query: str | Path,
    node_count: int = 4,
    *,
    work: str | Path | None = None,
    answer: str | Path | None = None,
    scale_factor: float = 1.0,
    tables: str | Path | None = None,
    memory_mb: float = MEMORY_MB,
    again: bool = False,
    progress: Tell | None = None,
) -> Work:
    """Record what each node does in a query's plan, by the rows that its operators really give.

    DuckDB runs the query on this machine; every table is shared evenly among the nodes. Records are kept: the
    same query on the same tables returns the kept record, and DuckDB does not run. See docs/job.md.

    Args:
        query: A query of TPC-H (`q1` to `q22`), a file `FILE.sql`, or SQL.
        node_count: Number of nodes.
        work: A file to write the record to.
        answer: A Parquet file to write the answer to.
        scale_factor: Scale factor of the tables of TPC-H.
        tables: A directory of other tables: `NAME.parquet` or `NAME/*.parquet`.
        memory_mb: Memory of a node for the query, in MB of 2^20 bytes; rows that exceed it are spilled.
        again: Whether to run the query although its record is kept.
        progress: Called now and then with the current step and the share of it that is done.

    Returns:
        The record.

    Raises:
        Error: An argument is invalid, or DuckDB refuses the query.

    Examples:
        >>> import sledlab as sl
        >>> q6 = sl.record_query("q6", node_count=4, scale_factor=0.01)
        >>> q6.phases["phase"].to_list()
        ['scan lineitem', 'aggregate 1']
    """
    for path in (work, answer):
        if path is not None:
            check_writable(Path(path))
    check_size(node_count, memory_mb)
    user_tables = tuple(directory_tables(Path(tables))) if tables is not None else ()
    request = QueryRequest(find(query), node_count, float(memory_mb), float(scale_factor), user_tables)
    record_path = home() / "records" / f"{request.content}.work"
    tell: Tell = progress or (lambda step, share: None)
    if again or answer is not None or not record_path.exists():
        save_record(
            _build_record(request, Path(answer) if answer is not None else None, tell, again=again),
            record_path,
        )
    return export_record(record_path, work)


def _build_record(request: QueryRequest, answer: Path | None, tell: Tell, *, again: bool) -> bytes:
    """The text of the query's record.

    Raises:
        Error: DuckDB rejects the query, or its plan has no work for nodes.
    """
    profile.check(request.query.sql)
    query_tables = request.find_tables(tell)
    tell("running the query", None)
    if again or answer is not None:
        _run_query.cache_clear()
    plan, digest = _run_query(
        request.query.sql, query_tables, str([table.content for table in request.tables]), answer
    )
    phases = QueryPhases(request.nodes, int(request.memory_mb * 2**20 * ROW_MEMORY_SHARE))
    Execution(phases, query_tables).run(plan)
    logs = phases.logs()
    if not any(step.to_record() for node_log in logs for step in node_log.steps.values()):
        raise Error("the query has no work for nodes", remedy="read a table in it")
    return log.record({**request.header, "answer": digest}, logs, [])


@lru_cache(maxsize=1)
def _run_query(
    sql: str, tables: tuple[QueryTable, ...], _content: str, answer: Path | None
) -> tuple[Operator, str]:
    """Run a query in DuckDB: its plan, and a hash of the answer.

    The last query's are remembered, for a record on another number of nodes.
    """
    query_profile = profile.run(sql, tables)
    if answer is not None:
        with atomic_write(answer) as draft:
            write_table(query_profile.rows, draft)
    return parse(query_profile.profile), query_profile.digest
