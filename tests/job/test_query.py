"""Plans of queries as work records: rows, bytes and answers compared with DuckDB queries and polars."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.job.data.tpch import TEXT_BYTES
from sledlab.job.query import database, find, profile, tables
from sledlab.job.query.operators import Execution
from sledlab.job.query.phases import QueryPhases
from sledlab.job.query.plan import Operator, parse
from sledlab.lazy import _LazyModule

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledlab.traces.work import Work

    from tests.conftest import Answer

SCALE_FACTOR = 0.01
NAMES = [f"q{number}" for number in range(1, 23)]
ROWS = {"customer": 1500, "lineitem": 60_175, "nation": 25, "orders": 15_000, "part": 2000}
ROWS |= {"partsupp": 8000, "region": 5, "supplier": 100}


@pytest.fixture(scope="module", autouse=True)
def _generate_tables() -> None:
    """Generate all tables before any test is timed."""
    all_tables()


def record(query: str | Path, nodes: int = 4, **options: Any) -> Work:
    return sl.record_query(query, nodes, **{"scale_factor": SCALE_FACTOR, **options})


def all_tables() -> list[tables.QueryTable]:
    return tables.tpch_tables(SCALE_FACTOR, TEXT_BYTES, lambda what, share: None)


def frames(*names: str) -> list[pl.DataFrame]:
    return [pl.read_parquet(table.files) for table in all_tables() if table.name in names]


def plan(query: str) -> Operator:
    return parse(profile.run(find(query).sql, all_tables()).profile)


def count(tables_and_predicate: str) -> int:
    """Rows that DuckDB counts without a profile and with all optimizers."""
    with duckdb.connect() as connection:
        for table in all_tables():
            connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{table.files[0]}')")
        count_row = connection.execute(f"SELECT count(*) FROM {tables_and_predicate}").fetchone()
    assert count_row is not None
    return int(count_row[0])


@pytest.mark.parametrize("query", NAMES)
def test_every_tpch_query_can_be_recorded_and_replayed(query: str) -> None:
    work = record(query)
    assert (work.job, work.nodes, work.parameters["scale_factor"]) == (query, 4, SCALE_FACTOR)
    assert sl.replay(work, "mems-g2", what_if=False).elapsed_s > 0
    bytes_by_table = {name: sum(sizes) for name, sizes in work.files.items()}
    assert bytes_by_table == {name: ROWS[name] * TEXT_BYTES[name] for name in bytes_by_table}
    # Each scan reads its table once, whole.
    scans = work.phases.filter(pl.col("phase").str.starts_with("scan "))
    scanned_bytes = [bytes_by_table[name.split()[1]] for name in scans["phase"]]
    assert scans["read_bytes"].to_list() == scanned_bytes
    assert work.phases["read_bytes"].sum() == sum(scanned_bytes)
    assert work.phases["pack"].sum() >= work.phases["unpack"].sum()


@pytest.mark.everything
@pytest.mark.slow("a gigabyte of data")
@pytest.mark.parametrize("nodes", [4, 8, 16, 32, 64])
def test_every_query_of_tpch_replays_at_full_size(nodes: int) -> None:
    for query in NAMES:
        work = record(query, nodes, scale_factor=1)
        assert sl.replay(work, "mems-g2", what_if=False).elapsed_s > 0
        assert sum(work.files.get("lineitem", [0])) in (0, 6_001_215 * TEXT_BYTES["lineitem"])


@pytest.mark.parametrize(("nodes", "memory_mb"), [(1, 64), (1, 0.01), (7, 0.01), (64, 0.002)])
def test_any_number_of_nodes_with_little_memory_replays(nodes: int, memory_mb: float) -> None:
    for query in ("q2", "q9", "q13", "q18", "q20", "q21", "q22"):
        work = record(query, nodes, memory_mb=memory_mb)
        assert sl.replay(work, "mems-g2", what_if=False).elapsed_s > 0
        if nodes == 1:
            assert not work.traffic[:, :1].any()
            assert work.phases["sent_bytes"].sum() == work.traffic[0, 1] > 0


SHIPPED_LATE = "l_shipdate > DATE '1995-03-15'"
ORDERED_EARLY = "o_orderdate < DATE '1995-03-15'"
BUILDERS = "c_mktsegment = 'BUILDING'"


def test_join_operations_match_its_rows() -> None:
    phases = record("q3").phases
    late_items, early_orders = count(f"lineitem WHERE {SHIPPED_LATE}"), count(f"orders WHERE {ORDERED_EARLY}")
    assert dict(zip(phases["phase"], phases["tuple"], strict=True)) == {
        "scan customer": 1500,
        "scan orders": 15_000,
        "scan lineitem": 60_175,
        "aggregate 1": 0,
    }
    assert phases["probe"].to_list() == [0, early_orders, late_items, 0]
    # All nodes get all builders and their early orders, which are fewer bytes than the rows that probe them.
    builders = count(f"customer WHERE {BUILDERS}")
    assert phases["hash"][0] == 4 * builders
    assert phases["sent_bytes"][0] == 3 * 8 * builders


def discounted_price(prices: str = "l_extendedprice", discounts: str = "l_discount") -> pl.Expr:
    """The price paid, in ten thousandths."""
    return cents(prices) * (100 - cents(discounts))


def cents(name: str) -> pl.Expr:
    return (pl.col(name).cast(pl.Float64) * 100).round().cast(pl.Int64)


def polars_answer(query: str) -> list[tuple[Any, ...]]:
    """The answer, with money in whole cents or ten thousandths."""
    match query:
        case "q1":
            (items,) = frames("lineitem")
            shipped_early = items.filter(pl.col("l_shipdate") <= date(1998, 9, 2))
            groups = shipped_early.group_by("l_returnflag", "l_linestatus").agg(
                discounted_price().sum().alias("paid"), pl.len().alias("rows")
            )
            return groups.sort("l_returnflag", "l_linestatus").rows()
        case "q3":
            customers, items, orders = frames("customer", "lineitem", "orders")
            joined = (
                customers.filter(pl.col("c_mktsegment") == "BUILDING")
                .join(
                    orders.filter(pl.col("o_orderdate") < date(1995, 3, 15)),
                    left_on="c_custkey",
                    right_on="o_custkey",
                )
                .join(
                    items.filter(pl.col("l_shipdate") > date(1995, 3, 15)),
                    left_on="o_orderkey",
                    right_on="l_orderkey",
                )
            )
            groups = joined.group_by("o_orderkey", "o_orderdate").agg(discounted_price().sum().alias("paid"))
            top = groups.sort(["paid", "o_orderdate"], descending=[True, False]).head(10)
            return top.select("o_orderkey", "paid").rows()
        case "q4":
            items, orders = frames("lineitem", "orders")
            late_items = items.filter(pl.col("l_commitdate") < pl.col("l_receiptdate"))
            is_in_quarter = pl.col("o_orderdate").is_between(date(1993, 7, 1), date(1993, 9, 30))
            late_orders = orders.filter(is_in_quarter).join(
                late_items, left_on="o_orderkey", right_on="l_orderkey", how="semi"
            )
            return late_orders.group_by("o_orderpriority").len().sort("o_orderpriority").rows()
        case "q6":
            (items,) = frames("lineitem")
            discounted = items.filter(
                pl.col("l_shipdate").is_between(date(1994, 1, 1), date(1994, 12, 31))
                & cents("l_discount").is_between(5, 7)
                & (cents("l_quantity") < 2400)
            )
            return discounted.select((cents("l_extendedprice") * cents("l_discount")).sum()).rows()
    customers, orders = frames("customer", "orders")
    ordinary_orders = orders.filter(~pl.col("o_comment").str.contains("special.*requests"))
    with_orders = customers.join(ordinary_orders, left_on="c_custkey", right_on="o_custkey", how="left")
    counts = with_orders.group_by("c_custkey").agg(pl.col("o_orderkey").count().alias("count"))
    return counts.group_by("count").len().sort(["len", "count"], descending=True).rows()


COLUMNS = {"q1": [0, 1, 4, 9], "q3": [0, 1], "q4": [0, 1], "q6": [0], "q13": [0, 1]}
SCALED_COLUMNS = {"q1": [4], "q3": [1], "q6": [0]}


@pytest.mark.parametrize("query", COLUMNS)
def test_answers_are_those_of_polars(query: str, tmp_path: Path) -> None:
    answer = tmp_path / "answer.parquet"
    record(query, answer=answer)
    scaled_answer = [
        tuple(
            int(row[column] * 10_000) if column in SCALED_COLUMNS.get(query, []) else row[column]
            for column in COLUMNS[query]
        )
        for row in pl.read_parquet(answer).rows()
    ]
    assert scaled_answer == polars_answer(query)


def test_query_recorded_twice_gives_equal_bytes(tmp_path: Path) -> None:
    for query in ("q2", "q16", "q22"):
        works = [tmp_path / name for name in ("one.work", "two.work")]
        for work in works:
            record(query, 5, work=work, again=True)
        assert works[0].read_bytes() == works[1].read_bytes()


def test_reused_record_needs_no_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLEDLAB_DATA", str(tmp_path / "kept"))
    pl.DataFrame({"id": range(100)}).write_parquet(tmp_path / "t.parquet")
    run_queries: list[str] = []
    run = profile.run
    monkeypatch.setattr(profile, "run", lambda sql, files: run_queries.append(sql) or run(sql, files))
    query = "SELECT count(*) FROM t WHERE id < 50 -- of the user's"

    def record(nodes: int = 3, **options: Any) -> Work:
        return sl.record_query(query, nodes, **{"tables": tmp_path, **options})

    first = record()
    assert len(run_queries) == 1
    with monkeypatch.context() as patch:
        patch.setattr(profile, "connect", lambda: pytest.fail("DuckDB is queried"))
        assert record().name == first.name
        record(work=tmp_path / "copy.work")
    assert (tmp_path / "copy.work").read_bytes() == Path(first.name).read_bytes()
    # The profile of DuckDB is reused for any number of nodes and any memory.
    assert record(nodes=5).nodes == 5
    assert record(memory_mb=1).name != first.name
    assert len(run_queries) == 1
    record(again=True)
    assert len(run_queries) == 2
    # The same rows elsewhere are the same tables; other rows under the same name are not.
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "t.parquet").write_bytes((tmp_path / "t.parquet").read_bytes())
    assert record(tables=moved).name == first.name
    pl.DataFrame({"id": range(1, 101)}).write_parquet(tmp_path / "t.parquet")
    assert record().name != first.name
    assert len(run_queries) == 3
    monkeypatch.setattr("sledlab.job.query.version", lambda: "2.99.0")
    assert record(nodes=7).nodes == 7
    assert record(tables=moved).name != first.name
    assert len(run_queries) >= 4


def test_shared_rows_are_split_evenly() -> None:
    for nodes, total in ((1, 5), (3, 10), (8, 3), (64, 1000)):
        phases = QueryPhases(nodes, 1 << 20)
        for rows_by_node in (phases.spread_evenly(total), phases.place_on_first(total)):
            exchanged = phases.exchange_by_hash(rows_by_node)
            assert np.array_equal(exchanged.sum(axis=1), rows_by_node)
            assert np.array_equal(exchanged[:, :nodes].sum(axis=0), phases.spread_evenly(total))
            assert (exchanged.max(axis=1) - exchanged[:, :nodes].min(axis=1)).max() <= 1


def test_partial_groups_are_bounded_by_groups_and_rows() -> None:
    for nodes in (1, 4, 64):
        execution = Execution(QueryPhases(nodes, 1 << 20), [])
        for rows, groups in ((0, 0), (1000, 1), (1000, 1000), (60_175, 15_000), (10**9, 10)):
            partial_rows = execution._estimate_groups(rows, groups)
            assert groups <= partial_rows <= min(rows, nodes * groups)
        assert execution._estimate_groups(10**9, 10) == nodes * 10
        assert execution._estimate_groups(1000, 1000) == 1000


def test_excess_data_is_spilled_and_read_back(tmp_path: Path) -> None:
    pl.DataFrame({"key": range(10_000), "left": range(10_000)}).write_parquet(tmp_path / "l.parquet")
    pl.DataFrame({"key": range(10_000), "right": range(10_000)}).write_parquet(tmp_path / "r.parquet")
    query = "SELECT l.left, r.right FROM l JOIN r ON l.key = r.key ORDER BY l.left"
    roomy, tight = (sl.record_query(query, 2, tables=tmp_path, memory_mb=memory) for memory in (64, 0.01))
    assert not any(name.startswith("spill") for name in roomy.files)
    assert roomy.phases["written_bytes"].sum() == 0
    # 10,000 rows of 16 bytes from either side, and of the join.
    assert tight.phases["written_bytes"].sum() == 3 * 160_000
    assert tight.phases["read_bytes"].sum() - roomy.phases["read_bytes"].sum() == 3 * 160_000
    assert tight.phases["merge"].sum() == 10_000
    assert sl.replay(tight, "mems-g2", what_if=False).elapsed_s > 0


def test_user_tables_are_files_or_directories(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    for part in range(3):
        frame = pl.DataFrame({"id": range(part * 1000, part * 1000 + 1000), "name": ["x" * 20] * 1000})
        frame.write_parquet(tmp_path / "big" / f"{part}.parquet")
    pl.DataFrame({"id": [1, 2500]}).write_parquet(tmp_path / "my small.parquet")
    (tmp_path / "mine.sql").write_text('SELECT big.* FROM big JOIN "my small" s ON big.id = s.id')
    work = sl.record_query(tmp_path / "mine.sql", 3, tables=tmp_path, answer=tmp_path / "found.parquet")
    assert pl.read_parquet(tmp_path / "found.parquet")["id"].to_list() == [1, 2500]
    sizes = {table.name: table.bytes for table in tables.directory_tables(tmp_path) if table.name != "found"}
    assert {name: sum(node_bytes) for name, node_bytes in work.files.items()} == sizes
    assert work.job == "mine"
    assert work.parameters["tables"] == "big, my small"
    assert str(tmp_path) not in str(work.description)


ROWS_BY_QUERY = {
    "SELECT count(*) FROM lineitem": 1,
    "SELECT * FROM nation LIMIT 3": 3,
    "SELECT * FROM orders LIMIT 3 OFFSET 200": 3,
    "SELECT n_name FROM nation UNION ALL SELECT r_name FROM region": 30,
    "SELECT n_name FROM nation EXCEPT SELECT r_name FROM region": 25,
    "SELECT * FROM nation, region": 125,
    "SELECT * FROM partsupp JOIN (SELECT p_partkey AS ps_partkey FROM part) USING (ps_partkey)": 8000,
    "SELECT * FROM nation a JOIN nation b ON a.n_nationkey < b.n_nationkey": 300,
    "SELECT o_orderkey FROM orders FULL JOIN customer ON o_custkey = c_custkey": 15_500,
    "SELECT rank() OVER (PARTITION BY n_regionkey ORDER BY n_name) FROM nation": 25,
    "SELECT count(*) OVER () FROM nation": 25,
    "SELECT median(o_totalprice) FROM orders": 1,
    "SELECT * FROM (SELECT * FROM orders ORDER BY o_totalprice LIMIT 5), region": 25,
    "SELECT * FROM (SELECT * FROM orders ORDER BY o_totalprice OFFSET 14_990), region": 50,
    "SELECT o_orderstatus, count(*) FROM orders GROUP BY ROLLUP (o_orderstatus)": 4,
    "WITH c AS MATERIALIZED (SELECT * FROM region) SELECT * FROM c x, c y": 25,
}


@pytest.mark.parametrize("query", ROWS_BY_QUERY)
@pytest.mark.parametrize("nodes", [1, 3])
def test_simple_queries_replay(query: str, nodes: int, tmp_path: Path) -> None:
    answer = tmp_path / "answer.parquet"
    work = record(query, nodes, answer=answer, memory_mb=0.5)
    assert pl.read_parquet(answer).height == ROWS_BY_QUERY[query]
    assert sl.replay(work, "mems-g2", what_if=False).elapsed_s > 0
    assert work.traffic[:, -1].sum() > 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM no_such_table", "Table with name no_such_table does not exist"),
        ("SELECT FROM WHERE", "DuckDB rejects the query"),
        ("SELECT 1; SELECT 2", "there are 2 statements"),
        ("COPY (SELECT 1) TO 'out.csv'", "not COPY"),
        ("SELECT * FROM 'other.parquet'", "sees its tables only"),
        ("SELECT * FROM range(10)", "`RANGE` is not a distributed table"),
        ("SELECT * FROM nation WHERE false", "has no work for nodes"),
        ("SELECT * FROM nation POSITIONAL JOIN region", "the operator `POSITIONAL_SCAN`"),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
            "the operator `RECURSIVE_CTE`",
        ),
        ("q23", "unknown query `q23`"),
        ("missing.sql", "cannot read the query"),
    ],
)
def test_unrecordable_job_is_an_error(query: str, message: str) -> None:
    with pytest.raises(sl.Error, match=message):
        record(query)


def test_missing_tables_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sl.Error, match="no tables in"):
        sl.record_query("q6", tables=tmp_path)
    (tmp_path / "lineitem.parquet").write_text("no Parquet")
    with pytest.raises(sl.Error, match="as Parquet"):
        sl.record_query("q6", tables=tmp_path)
    with pytest.raises(sl.Error, match="cannot run on 0 nodes"):
        record("q6", 0)
    monkeypatch.setattr(database, "duckdb", _LazyModule("no_such_duckdb"))
    with pytest.raises(sl.Error, match=r"not installed\n.*sledlab\[jobs\]"):
        record("q6")


def test_command_line_records_a_query(sledlab: Callable[..., Answer], tmp_path: Path) -> None:
    arguments = ["smart", "record", "--query", "q5", "--scale-factor", SCALE_FACTOR, "--node-count", 8]
    work, answer = tmp_path / "q5.work", tmp_path / "q5.parquet"
    recording = sledlab(*arguments, "--work", work, "--answer", answer)
    assert recording.code == 0, recording.err
    assert "q5 on 8 nodes reads 9.63 MB" in recording.out
    assert f"record: {work}" in recording.out
    assert pl.read_parquet(answer).columns == ["n_name", "revenue"]
    assert sledlab(*arguments, "--json").json["answer"] == sl.work(work).description["answer"]
    sledlab(*arguments, "--job", "sort").assert_refused("one job or one query")
    sledlab("smart", "record").assert_refused("one job or one query")
    sledlab(*arguments, "--mpi").assert_refused("`--mpi` is for jobs")
    sledlab(*arguments, "--job-set", "where=1").assert_refused("`--job-set` is for jobs")
    sledlab(*arguments, "--tables", tmp_path).assert_refused("omit --scale-factor")
