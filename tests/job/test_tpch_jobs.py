"""Q1, Q3 and Q6 as jobs: answers against DuckDB, and operations against the records of the same queries."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest
import sledlab as sl
from sledlab.job.data.tpch import TEXT_BYTES, TpchText
from sledlab.job.files import bounds
from sledlab.job.query import find, profile, tables

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.traces.work import Work

JOBS = ("q1", "q3", "q6")
LONG_TESTS = [pytest.mark.everything, pytest.mark.slow("a gigabyte of data")]
SCALES = [0.01, 0.1, pytest.param(1.0, marks=LONG_TESTS)]
CHANGED_PARAMETERS: dict[str, list[tuple[dict[str, Any], dict[str, str]]]] = {
    "q1": [({"days": 60}, {"'90'": "'60'"}), ({"days": 2000}, {"'90'": "'2000'"})],
    "q3": [
        (
            {"segment": "MACHINERY", "date": "1995-03-02"},
            {"BUILDING": "MACHINERY", "1995-03-15": "1995-03-02"},
        ),
        ({"date": "1991-01-01"}, {"1995-03-15": "1991-01-01"}),
    ],
    "q6": [
        (
            {"date": "1996-02-29", "discount": 0.02, "quantity": 25.0},
            {"1994-01-01": "1996-02-29", "0.06": "0.02", "< 24": "< 25"},
        ),
        ({"date": "1990-01-01"}, {"1994-01-01": "1990-01-01"}),
    ],
}
"""Other parameters than those of the validation run, and what they change in the text of the query."""


@pytest.fixture(scope="module", autouse=True)
def _generate_tables() -> None:
    """Generate the tables before any test is timed."""
    for scale in (0.01, 0.1):
        TpchText(scale).prepare(1, 1, lambda what, share: None)


def duckdb_answer(sql: str, scale: float) -> pl.DataFrame:
    """The answer of DuckDB with all optimizers."""
    with duckdb.connect() as connection:
        for table in tables.tpch_tables(scale, profile.words(sql), lambda what, share: None):
            file_list = ", ".join(f"'{file}'" for file in table.files)
            connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet([{file_list}])")
        return connection.sql(sql).pl()


def assert_same_answer(answer: Path, expected: pl.DataFrame) -> None:
    """Check that sums are equal, and means equal up to rounding."""
    frame = pl.read_parquet(answer)
    assert frame.schema == expected.schema
    mean_columns = [name for name in frame.columns if name.startswith("avg_")]
    assert frame.drop(mean_columns).rows() == expected.drop(mean_columns).rows()
    for name in mean_columns:
        assert frame[name].to_list() == pytest.approx(expected[name].to_list(), rel=1e-14)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("nodes", [1, 4, 8])
@pytest.mark.parametrize("job", JOBS)
def test_job_answers_equal_those_of_duckdb(job: str, nodes: int, scale: float, tmp_path: Path) -> None:
    answer = tmp_path / "answer.parquet"
    sl.record(job, nodes, scale_factor=scale, answer=answer)
    assert_same_answer(answer, duckdb_answer(find(job).sql, scale))


@pytest.mark.parametrize("job", JOBS)
def test_other_parameters_are_those_of_the_query(job: str, tmp_path: Path) -> None:
    answer = tmp_path / "answer.parquet"
    for settings, changes in CHANGED_PARAMETERS[job]:
        sql = find(job).sql
        for old, new in changes.items():
            assert old in sql
            sql = sql.replace(old, new)
        sl.record(job, 3, scale_factor=0.01, answer=answer, **settings)
        assert_same_answer(answer, duckdb_answer(sql, 0.01))


def job_and_plan_records(job: str, nodes: int, scale: float) -> tuple[Work, Work]:
    """The record of the job, and that of the query's plan."""
    works = sl.record(job, nodes, scale_factor=scale), sl.record_query(job, nodes, scale_factor=scale)
    assert works[0].description["answer"] == works[1].description["answer"]
    for name, sizes in works[1].files.items():
        # Where rows do not come out even, other nodes have one more.
        assert sum(works[0].files[name]) == sum(sizes)
        assert works[0].files[name] == pytest.approx(sizes, abs=TEXT_BYTES[name])
    return works


def phase_operations(work: Work) -> dict[str, dict[str, int]]:
    """Bytes and operations of each kind by phase, over all nodes."""
    return {
        row.pop("phase"): {name: count for name, count in row.items() if count}
        for row in work.phases.to_dicts()
    }


@pytest.mark.parametrize(
    ("scale", "nodes"),
    [
        *((scale, nodes) for scale in (0.01, 0.1) for nodes in (1, 4, 8)),
        *(pytest.param(1.0, nodes, marks=LONG_TESTS) for nodes in (1, 4, 8, 64)),
    ],
)
@pytest.mark.parametrize("job", JOBS)
def test_node_operations_match_the_plan(job: str, scale: float, nodes: int) -> None:
    """Counts agree within 1 %, except those that depend on the nodes of the groups of Q1 and Q3."""
    job_phases, plan_phases = (phase_operations(work) for work in job_and_plan_records(job, nodes, scale))
    assert list(job_phases) == list(plan_phases)
    for phase, planned in plan_phases.items():
        counted = job_phases[phase]
        if job == "q3" and nodes > 1:
            for name in _group_dependent(phase, nodes):
                counted.pop(name, None)
                planned.pop(name, None)
        if job == "q1" and phase == "sort 1":
            # Four groups go to the nodes of their hashes, and not evenly: those that share a node are sorted.
            assert 0 <= counted.pop("compare", 0) - planned.pop("compare", 0) <= 8
        assert counted == pytest.approx(planned, rel=0.01), phase


def _group_dependent(phase: str, nodes: int) -> tuple[str, ...]:
    """Counts that depend on how many nodes have rows of a group, which a plan estimates."""
    aggregates = "scan lineitem" if nodes < 64 else "join 1"
    return {aggregates: ("hash", "pack", "unpack", "sent_bytes"), "aggregate 1": ("hash",)}.get(phase, ())


@pytest.mark.parametrize("scale", [0.01, 0.1])
@pytest.mark.parametrize("nodes", [4, 8])
def test_node_groups_match_their_line_items(nodes: int, scale: float) -> None:
    """The items of an order lie together, so that hardly any order has some on two nodes."""
    customers, items, orders = (
        pl.read_parquet(table.files)
        for table in tables.tpch_tables(scale, ("customer", "lineitem", "orders"), lambda what, share: None)
    )
    last_rows = [bounds(items.height, number, nodes)[1] for number in range(nodes)]
    node_numbers = pl.Series(last_rows).search_sorted(pl.Series(range(items.height)), side="right")
    items_with_node = items.with_columns(node=node_numbers)
    joined = (
        items_with_node.filter(pl.col("l_shipdate") > date(1995, 3, 15))
        .join(
            orders.filter(pl.col("o_orderdate") < date(1995, 3, 15)),
            left_on="l_orderkey",
            right_on="o_orderkey",
        )
        .join(
            customers.filter(pl.col("c_mktsegment") == "BUILDING"), left_on="o_custkey", right_on="c_custkey"
        )
    )
    group_count = joined.select("node", "l_orderkey").n_unique()
    job_phases, plan_phases = (phase_operations(work) for work in job_and_plan_records("q3", nodes, scale))
    assert job_phases["scan lineitem"]["hash"] == joined.height + group_count
    assert job_phases["aggregate 1"]["hash"] == group_count <= plan_phases["aggregate 1"]["hash"]
    packed_rows = job_phases["scan lineitem"]["pack"]
    assert packed_rows == pytest.approx(group_count * (1 - 1 / nodes), rel=0.05)
    assert job_phases["scan lineitem"]["sent_bytes"] == 32 * packed_rows


@pytest.mark.parametrize("nodes", [1, 3, 16])
def test_join_methods_give_equal_answers(nodes: int) -> None:
    works_by_method = {
        method: sl.record("q3", nodes, scale_factor=0.01, method=method)
        for method in ("broadcast", "exchange", "cheaper")
    }
    assert len({work.description["answer"] for work in works_by_method.values()}) == 1
    sent_bytes = {method: work.phases["sent_bytes"].sum() for method, work in works_by_method.items()}
    assert sent_bytes["cheaper"] <= min(sent_bytes["broadcast"], sent_bytes["exchange"])
    assert ("join 2" in works_by_method["exchange"].phases["phase"]) == (nodes > 1)
    for work in works_by_method.values():
        assert sl.replay(work, "mems-g2", what_if=False).elapsed_s > 0


@pytest.mark.parametrize(
    ("job", "settings", "message"),
    [
        ("q1", {"days": 10**9}, "there is no day 1,000,000,000 days before"),
        ("q3", {"segment": "BUILDINGS"}, "did you mean `BUILDING`"),
        ("q3", {"method": "sort"}, "unknown method `sort`"),
        ("q3", {"date": "15.3.1995"}, "is not a date"),
        ("q3", {"data": "tpch"}, "unknown file"),
        ("q3", {"memory_mb": 0.001}, "give nodes more memory"),
        ("q6", {"date": "1994"}, "write it as 1995-03-15"),
    ],
)
def test_invalid_settings_are_refused(job: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(sl.Error, match=message):
        sl.record(job, 2, scale_factor=0.01, **settings)


def test_user_jobs_have_clients(tmp_path: Path) -> None:
    job = tmp_path / "largest.py"
    job.write_text(
        "import numpy as np\n\n"
        "def data(number, nodes, seed):\n    return {'numbers': np.arange(10) + 10 * number}\n\n"
        "def largest(node):\n    node.phase('look')\n"
        "    found = max(int(rows.max()) for rows in node.read('numbers'))\n"
        "    yield node.barrier()\n    return found\n\n"
        "def client(parts):\n    return {'largest': max(parts)}\n"
    )
    answer = tmp_path / "answer.json"
    for mpi in (False, True):
        sl.record(job, 3, answer=answer, mpi=mpi)
        assert json.loads(answer.read_text()) == {"largest": 29}
    job.write_text(job.read_text().replace("max(parts)", "min()"))
    with pytest.raises(sl.Error, match="the client of the job `largest` failed: TypeError"):
        sl.record(job, 3)
