"""Scan, sort and join on tables of TPC-H against DuckDB, and totals of their records."""

from __future__ import annotations

import subprocess
import sys
from math import ceil
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.job.data.tpch import Tpch
from sledlab.job.sort import add_keys

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.traces.work import Work

LONG_TESTS = [pytest.mark.everything, pytest.mark.slow("a gigabyte of data, or very many nodes")]
SCALES = [
    0.01,
    pytest.param(0.1, marks=LONG_TESTS),
    pytest.param(1.0, marks=LONG_TESTS),
]


def sql(query: str, scale: float) -> Any:
    """The answer of DuckDB to a query about `lineitem` and `orders`."""
    tables = Tpch(scale)
    tables.prepare(1, 1, lambda what, share: None)
    for table in ("lineitem", "orders"):
        file_list = ", ".join(f"'{part}'" for part in tables.parts(table))
        query = query.replace(f"<{table}>", f"read_parquet([{file_list}])")
    return duckdb.sql(query)


def predicates(count: int) -> list[str]:
    """Predicates of one to three terms on line items, drawn with a seed."""
    random = np.random.default_rng(15)

    def term() -> str:
        match random.integers(6):
            case 0:
                return f"l_quantity {random.choice(['<', '>=', '='])} {random.integers(1, 51)}"
            case 1:
                return f"l_discount BETWEEN 0.0{random.integers(1, 5)} AND 0.0{random.integers(5, 10)}"
            case 2:
                return f"l_shipdate < DATE '{random.integers(1993, 1999)}-0{random.integers(1, 10)}-15'"
            case 3:
                return f"l_partkey % {random.integers(2, 50)} = 0"
            case 4:
                return f"l_returnflag = '{random.choice(['A', 'N', 'R'])}'"
        return f"l_commitdate < l_receiptdate AND l_shipmode <> '{random.choice(['AIR', 'RAIL'])}'"

    conjunctions = [" AND ".join(term() for _ in range(random.integers(1, 4))) for _ in range(count)]
    return [f"{each} OR {term()}" if number % 5 == 0 else each for number, each in enumerate(conjunctions)]


@pytest.mark.parametrize("scale", SCALES)
def test_scan_equals_that_of_duckdb(scale: float, tmp_path: Path) -> None:
    answer = tmp_path / "found.parquet"
    for number, where in enumerate(predicates(20)):
        sl.record("scan", 1 + number % 7, scale_factor=scale, where=where, memory_mb=4, answer=answer)
        selected = pl.read_parquet(answer)
        query = f"SELECT l_orderkey, l_linenumber FROM <lineitem> WHERE {where} ORDER BY ALL"
        assert selected.sort("l_orderkey", "l_linenumber").equals(sql(query, scale).pl()), where


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("nodes", "memory_mb"), [(1, 64), (4, 64), (3, 0.25), (7, 1)])
def test_sort_is_a_permutation_in_order(scale: float, nodes: int, memory_mb: float, tmp_path: Path) -> None:
    answer = tmp_path / "sorted.parquet"
    sl.record("sort", nodes, scale_factor=scale, memory_mb=memory_mb * max(1, scale / 0.1), answer=answer)
    ordered = pl.read_parquet(answer)
    keys = ordered["key"].to_numpy()
    assert (keys[1:] > keys[:-1]).all()
    rows_with_keys = add_keys(ordered.select("l_orderkey", "l_linenumber").to_numpy(structured=True))
    assert np.array_equal(rows_with_keys["key"], ordered["key"].to_numpy())
    rows = ordered.select("l_orderkey", "l_linenumber").sort("l_orderkey", "l_linenumber")
    assert rows.equals(sql("SELECT l_orderkey, l_linenumber FROM <lineitem> ORDER BY ALL", scale).pl())


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("method", ["nested-loop", "hash"])
@pytest.mark.parametrize(("nodes", "memory_mb"), [(1, 64), (4, 64), (5, 0.125)])
def test_join_equals_that_of_duckdb(
    scale: float, method: str, nodes: int, memory_mb: float, tmp_path: Path
) -> None:
    answer = tmp_path / "joined.parquet"
    for orders, items in (
        ("", ""),
        ("o_orderdate >= DATE '1995-06-01'", "l_quantity < 24 AND l_discount > 0.04"),
    ):
        sl.record(
            "join",
            nodes,
            scale_factor=scale,
            method=method,
            memory_mb=memory_mb * max(1, scale / 0.01),
            orders_where=orders,
            lineitem_where=items,
            answer=answer,
        )
        where = " AND ".join(["l_orderkey = o_orderkey", *filter(None, [orders, items])])
        query = """
            SELECT count(*), sum(hash(o_orderkey, l_linenumber, o_custkey, l_partkey)::HUGEINT),
                sum((o_totalprice * 100)::BIGINT % 1009 * ((l_extendedprice * 100)::BIGINT % 1013))
            FROM """
        job_sums = duckdb.sql(f"{query} read_parquet('{answer}')").fetchall()
        assert job_sums == sql(f"{query} <orders>, <lineitem> WHERE {where}", scale).fetchall()
        if scale == 1 and not orders:
            assert job_sums[0][0] == 6_001_215


def phase_bytes(work: Work) -> dict[str, tuple[int, int]]:
    """Bytes read and written in every phase."""
    return {row["phase"]: (row["read_bytes"], row["written_bytes"]) for row in work.phases.to_dicts()}


def test_join_without_matches_answers_an_empty_table(tmp_path: Path) -> None:
    answers = []
    for where in ("o_custkey < 0", "o_custkey < 100"):
        path = tmp_path / "answer.parquet"
        sl.record("join", 3, scale_factor=0.001, orders_where=where, answer=path, again=True)
        answers.append(pl.read_parquet(path))
    assert answers[0].height == 0 < answers[1].height
    assert answers[0].schema == answers[1].schema


@pytest.mark.parametrize("job", ["scan", "sort", "join"])
def test_bytes_are_independent_of_node_count(job: str) -> None:
    works = {nodes: sl.record(job, nodes, scale_factor=0.01) for nodes in (1, 2, 5, 8, 32)}
    one_node = phase_bytes(works[1])
    rows = {"lineitem": 60_175, "orders": 15_000}
    table_bytes = {"lineitem": rows["lineitem"] * 179, "orders": rows["orders"] * 115}
    if job == "join":
        assert (
            one_node["hash"]
            == one_node["re-distribution"]
            == (sum(table_bytes.values()), sum(table_bytes.values()))
        )
    else:
        assert all(read == table_bytes["lineitem"] for read, _ in one_node.values())
    for work in works.values():
        # A nested loop reads orders once, and line items for each block of them where there are any.
        assert phase_bytes(work) == one_node
        assert {name: sum(sizes) for name, sizes in work.files.items()} == {
            name: sum(sizes) for name, sizes in works[1].files.items()
        }


@pytest.mark.parametrize("job", ["sort", "join"])
@pytest.mark.parametrize("nodes", [2, 5, 8])
def test_sent_rows_are_received(job: str, nodes: int) -> None:
    work = sl.record(job, nodes, scale_factor=0.01)
    for row in work.phases.to_dicts():
        if row["phase"] == "re-distribution":
            assert row["pack"] == row["unpack"] > 0
    sent_bytes = work.traffic
    assert sent_bytes[:, nodes].sum() == 0
    tuple_bytes = {"sort": 60_175 * 179, "join": 60_175 * 179 + 15_000 * 115}[job]
    assert (
        sent_bytes.sum()
        == work.phases["sent_bytes"].sum()
        == pytest.approx(tuple_bytes * (1 - 1 / nodes), rel=0.02)
    )
    file_names = ["bucket"] if job == "sort" else ["orders-part", "lineitem-part"]
    for node in range(nodes):
        received_bytes = int(sent_bytes[:, node].sum())
        assert received_bytes <= sum(work.files[part][node] for part in file_names)


@pytest.mark.parametrize(("memory_mb", "buffer_kb", "nodes"), [(1, 64, 2), (0.25, 16, 1), (0.125, 32, 3)])
def test_little_memory_forces_runs_and_passes(memory_mb: float, buffer_kb: int, nodes: int) -> None:
    work = sl.record("sort", nodes, scale_factor=0.01, memory_mb=memory_mb, buffer_kb=buffer_kb)
    rows_in_memory = int(memory_mb * 2**20) // 179
    fan_in = int(memory_mb * 1024) // buffer_kb - 1
    passes = [0] * nodes
    for node, bucket in enumerate(work.files["bucket"]):
        runs = ceil(bucket // 179 / rows_in_memory)
        while runs > 1:
            runs, passes[node] = ceil(runs / fan_in), passes[node] + 1
    merge_phases = [phase for phase in work.phases["phase"] if phase.startswith("merge")]
    assert len(merge_phases) == max(passes) >= 1
    merged_rows = work.phases.filter(pl.col("phase").is_in(merge_phases))["merge"].sum()
    assert merged_rows == sum(
        each * (bucket // 179) for each, bucket in zip(passes, work.files["bucket"], strict=True)
    )
    in_memory = sl.record("sort", nodes, scale_factor=0.01, buffer_kb=buffer_kb)
    assert work.description["answer"] == in_memory.description["answer"]


@pytest.mark.parametrize(
    ("scale", "nodes", "excess_share"),
    [
        (0.01, 8, 0.1),
        pytest.param(1.0, 64, 0.1, marks=LONG_TESTS),
        pytest.param(1.0, 1024, 0.25, marks=LONG_TESTS),
    ],
)
def test_buckets_are_even(scale: float, nodes: int, excess_share: float) -> None:
    buckets = sl.record("sort", nodes, scale_factor=scale).files["bucket"]
    assert max(buckets) / (sum(buckets) / nodes) <= 1 + excess_share


@pytest.mark.parametrize(
    ("job", "settings", "message"),
    [
        ("scan", {"where": "l_quantity <"}, "is not SQL"),
        ("scan", {"where": "l_quantiy < 3"}, "did you mean `l_quantity`"),
        ("scan", {"where": "l_quantity + 3"}, "is not a truth value"),
        ("scan", {"where": "l_comment = 'x'"}, "text of up to"),
        ("join", {"method": "merge"}, "unknown method `merge`"),
        ("sort", {"sample_share": 2.0}, "use a sample_share"),
        ("sort", {"buffer_kb": 40_000}, "are too few for three buffers of 40000 KB"),
        ("scan", {"scale_factor": -1.0}, "invalid scale factor -1"),
        ("scna", {}, "did you mean `scan`"),
    ],
)
def test_invalid_settings_are_refused(job: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(sl.Error, match=message):
        sl.record(job, 2, **{"scale_factor": 0.01, **settings})


@pytest.mark.parametrize(("nodes", "memory_mb", "seed"), [(0, 64, 1), (5000, 64, 1), (2, 0, 1), (2, 64, -1)])
def test_sizes_out_of_range_are_refused(nodes: int, memory_mb: float, seed: int) -> None:
    with pytest.raises(sl.Error, match=r"cannot|invalid seed"):
        sl.record("scan", nodes, memory_mb=memory_mb, seed=seed, scale_factor=0.01)


PRINT_PEAK_KB = """
import resource, sys
import sledlab as sl
settings = {"scale_factor": 1, "memory_mb": 1024, "mpi": True, "again": True}
sl.record("sort", int(sys.argv[1]), **settings)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.everything
@pytest.mark.slow("a gigabyte of data")
def test_memory_per_rank_falls_with_rank_count() -> None:
    def peak_kb(ranks: int) -> int:
        """Peak memory of the largest rank, in KiB."""
        command = [sys.executable, "-c", PRINT_PEAK_KB, str(ranks)]
        return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    peaks_kb = [peak_kb(ranks) for ranks in (1, 2, 4, 8)]
    assert peaks_kb == sorted(peaks_kb, reverse=True)
    assert peaks_kb[3] < peaks_kb[0] / 2


@pytest.mark.everything
@pytest.mark.slow("a gigabyte of data")
@pytest.mark.parametrize("job", ["scan", "sort", "join"])
@pytest.mark.parametrize("nodes", [4, 32])
def test_full_size_jobs_fit_on_a_published_node(job: str, nodes: int) -> None:
    result = sl.replay(sl.record(job, nodes, scale_factor=1), "mems-g3", what_if=False)
    assert result.by_phase.height == len(sl.record(job, nodes, scale_factor=1).phases)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLEDLAB_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(sl.Error, match="tpchgen-cli") as caught:
        sl.record("scan", scale_factor=0.01)
    assert "sledlab[jobs]" in str(caught.value)
    with pytest.raises(sl.Error, match="the MPI launcher `mpiexec`") as caught:
        sl.record("mafia", 2, records=1000, mpi=True)
    assert "sledlab[mpi]" in str(caught.value)
