"""Jobs and queries that a study records, once for each number of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.job import find as find_job
from sledlab.job.data.tpch import Tpch
from sledlab.job.parameters import apply_settings, class_parameters
from sledlab.job.query import find as find_query
from sledlab.job.query import names, record_query
from sledlab.job.record import record
from sledlab.model.plugins import check_plugins, find_plugins
from sledlab.runs.parsing import pair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from sledlab.job.task import Tell
    from sledlab.model.entries import ParameterSpec
    from sledlab.traces.work import Work

    # Called with the number of nodes, the seed, settings, and a function that shows progress.
    Record = Callable[[int, int, Mapping[str, str], Tell], Work]

ALL_QUERIES = "tpch"
"""The word that stands for all queries of TPC-H."""


@dataclass(frozen=True)
class Recordable:
    """A job or a query.

    Attributes:
        name: Its name in records.
        settings: Names of the parameters that can be set.
        record: Records it, or finds the cached record.
    """

    name: str
    settings: tuple[str, ...]
    record: Record


def recordables(
    jobs: Iterable[str | Path],
    queries: Iterable[str | Path],
    tables: str | Path | None,
    plugins: Collection[str],
) -> list[Recordable]:
    """Jobs and queries, checked.

    Args:
        jobs: Names of jobs, or Python files.
        queries: Queries of TPC-H, `tpch` for all of them, files of SQL, or SQL.
        tables: A directory of tables for the queries, if not those of TPC-H.
        plugins: Python files that may run as jobs, as of `allowed_plugins`.

    Raises:
        Error: There is no such job or query, a Python file is not allowed to run, or tables are given
            without a query.
    """
    jobs = list(jobs)
    check_plugins(find_plugins(jobs), plugins)
    requested = [name for query in queries for name in (names() if str(query) == ALL_QUERIES else [query])]
    if tables is not None and not requested:
        raise Error("`--tables` are a query's", remedy="name one: --query my.sql")
    return [*map(_job, jobs), *(_query(query, tables) for query in requested)]


def _job(job: str | Path) -> Recordable:
    """A job, to be recorded."""
    definition = find_job(job)

    def run(nodes: int, seed: int, settings: Mapping[str, str], tell: Tell) -> Work:
        arguments: dict[str, Any] = dict(settings)
        return record(job, nodes, seed=seed, progress=tell, **arguments)

    return Recordable(
        definition.name, tuple(spec.name for specs in definition.settings for spec in specs), run
    )


def _query(query: str | Path, tables: str | Path | None) -> Recordable:
    """A query, to be recorded. Of the settings of TPC-H it has the scale factor; widths are those of text."""
    specs: list[ParameterSpec] = []
    if tables is None:
        specs = [spec for spec in class_parameters(Tpch) if spec.name == "scale_factor"]

    def run(nodes: int, _seed: int, settings: Mapping[str, str], tell: Tell) -> Work:
        (arguments,) = apply_settings([specs], settings)
        return record_query(query, nodes, tables=tables, progress=tell, **arguments)

    return Recordable(find_query(query).name, tuple(spec.name for spec in specs), run)


def parse_job_settings(recordable_list: Sequence[Recordable], arguments: Sequence[str]) -> dict[str, str]:
    """Parameters given as `KEY=VALUE`.

    Raises:
        Error: A key is a parameter of no job or query, or has no value.
    """
    settings = dict(pair("--job-set", item) for item in arguments)
    known_names = list(dict.fromkeys(name for each in recordable_list for name in each.settings))
    if settings and not known_names:
        raise Error("queries on tables of your own have no settings", remedy="omit --job-set")
    if unknown_names := [name for name in settings if name not in known_names]:
        subject = f"`{recordable_list[0].name}`" if len(recordable_list) == 1 else "a job or query"
        raise unknown(f"setting of {subject}", unknown_names[0], known_names)
    return settings
