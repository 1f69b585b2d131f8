"""Queries: DuckDB runs one, and its plan with the rows that operators really gave becomes a work record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.files import check_writable, drafted
from sledlab.job import log
from sledlab.job.query import profile
from sledlab.job.query.operators import Execution
from sledlab.job.query.phases import Phases
from sledlab.job.query.plan import parse
from sledlab.job.query.tables import of_directory, of_tpch
from sledlab.job.task import MEMORY_MB, check_size
from sledlab.lazy import parquet
from sledlab.traces.work import Work

if TYPE_CHECKING:
    from sledlab.job.query.profile import Profiled
    from sledlab.job.query.tables import Table
    from sledlab.job.task import Tell

QUERIES = Path(__file__).parent.parent / "queries"
"""The queries of TPC-H."""

FOR_ROWS = 7 / 8
"""Share of that memory for hash tables and rows that wait; buffers have the rest."""


@dataclass(frozen=True)
class Query:
    """A query.

    Attributes:
        name: The job's name in the record.
        sql: Its text.
    """

    name: str
    sql: str


def find(query: str | Path) -> Query:
    """A query of TPC-H by its name, a file's, or the text itself.

    Raises:
        Error: There is none.
    """
    said = str(query).strip()
    if not any(character.isspace() for character in said) and (QUERIES / f"{said.lower()}.sql").is_file():
        return Query(said.lower(), (QUERIES / f"{said.lower()}.sql").read_text())
    if isinstance(query, Path) or said.endswith(".sql"):
        try:
            return Query(Path(said).stem, Path(said).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Error(f"cannot read the query `{said}`: {error}") from error
    if " " not in said:
        raise Error(f"unknown query `{said}`", remedy="name q1 to q22, or a file FILE.sql")
    return Query("query", said)


def record_query(
    query: str | Path,
    nodes: int = 4,
    *,
    work: str | Path | None = None,
    answer: str | Path | None = None,
    scale_factor: float = 1.0,
    tables: str | Path | None = None,
    memory_mb: float = MEMORY_MB,
    progress: Tell | None = None,
) -> Work:
    """Records what the plan of a query would have each node do, by the rows that its operators really gave.

    DuckDB runs the query on this machine; every table is shared evenly among the nodes. See docs/job.md.

    Args:
        query: A query of TPC-H (`q1` to `q22`), a file `FILE.sql`, or SQL.
        nodes: Number of nodes.
        work: A file to write the record to.
        answer: A Parquet file to write the answer to.
        scale_factor: Scale factor of the tables of TPC-H.
        tables: A directory of other tables: `NAME.parquet` or `NAME/*.parquet`.
        memory_mb: What a query may hold on a node, in MB of 2^20 bytes; more is written and read again.
        progress: Called now and then with what is going on and the share of it that is done.

    Returns:
        The record.

    Raises:
        Error: Something makes no sense, or DuckDB refuses the query.

    Examples:
        >>> import sledlab as sl
        >>> q6 = sl.record_query("q6", nodes=4, scale_factor=0.01)
        >>> q6.phases["phase"].to_list()
        ['scan lineitem', 'aggregate 1']
    """
    for path in (work, answer):
        if path is not None:
            check_writable(Path(path))
    check_size(nodes, memory_mb)
    tell: Tell = progress or (lambda what, share: None)
    found = find(query)
    profile.check(found.sql)
    where = (
        of_tpch(scale_factor, profile.words(found.sql), tell)
        if tables is None
        else of_directory(Path(tables))
    )
    tell("running the query", None)
    profiled = profile.run(found.sql, where)
    if answer is not None:
        with drafted(Path(answer)) as draft:
            parquet.write_table(profiled.rows.rename_columns(_apart(profiled.rows.column_names)), draft)
    data: dict[str, Any] = {"scale_factor": float(scale_factor)}
    if tables is not None:
        data = {"tables": ", ".join(table.name for table in where)}
    text = _record(found, nodes, memory_mb, profiled, where, data)
    native = _native.Work("the record", text)
    if work is not None:
        with drafted(Path(work)) as draft:
            native.write(str(draft))
    return Work(str(work or found.name), native)


def _apart(names: list[str]) -> list[str]:
    """Names of columns, of which those that repeat get a number: `id`, `id_1`."""
    found: dict[str, str] = {}
    for name in names:
        number, fresh = 0, name
        while fresh in found:
            number += 1
            fresh = f"{name}_{number}"
        found[fresh] = name
    return list(found)


def _record(
    query: Query, nodes: int, memory_mb: float, profiled: Profiled, where: list[Table], data: dict[str, Any]
) -> bytes:
    """The text of a record."""
    phases = Phases(nodes, int(memory_mb * 2**20 * FOR_ROWS))
    Execution(phases, where).run(parse(profiled.profile))
    logs = phases.logs()
    if not any(step.told() for each in logs for step in each.steps.values()):
        raise Error("the query leaves nothing for nodes to do", remedy="let it read a table")
    header = {
        "work": 1,
        "job": query.name,
        "parameters": {**data, "memory_mb": memory_mb, "sql": query.sql.strip()},
        "seed": 0,
        "nodes": nodes,
        "answer": profiled.digest,
    }
    return log.record(header, logs, [])
