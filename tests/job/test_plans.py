"""Rows of all operators of all plans of TPC-H compared with counts of separate DuckDB queries."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest
from sledlab.job.data.tpch import TEXT_BYTES
from sledlab.job.query import find, names, profile, tables
from sledlab.job.query.plan import parse

from tests.job.counting import Relation, SqlCounter, final_operators, unread_operators

LONG_TESTS = [pytest.mark.everything, pytest.mark.slow("a gigabyte of data")]

BINDINGS = {
    "q2": {"#[1.0]": "p_partkey"},
    "q17": {"#[8.0]": "p_partkey"},
    "q20": {"#[21.1]": "ps_suppkey", "#[21.0]": "ps_partkey"},
    "q22": {"#[1.0]": "c_custkey"},
}
CODES = "'13', '31', '23', '29', '30', '18', '17'"
LITERALS = {"q16": {8: "49, 14, 23, 45, 19, 3, 36, 9"}, "q22": {7: CODES}}
WRITTEN_SQL = {
    "q7": {
        "(((n_name = 'FRANCE')": Relation(
            """
            SELECT l_orderkey AS c0
            FROM supplier, lineitem, orders, customer, nation n1, nation n2
            WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
                AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
                AND (n1.n_name, n2.n_name) IN (('FRANCE', 'GERMANY'), ('GERMANY', 'FRANCE'))
                AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
            """,
            ("l_orderkey",),
            (),
        )
    },
    "q15": {
        "total_revenue = SUBQUERY": Relation(
            """
            SELECT supplier AS c0
            FROM (
                SELECT l_suppkey AS supplier, sum(l_extendedprice * (1 - l_discount)) AS revenue
                FROM lineitem
                WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-04-01'
                GROUP BY l_suppkey
                QUALIFY rank() OVER (ORDER BY revenue DESC) = 1
            )
            """,
            ("supplier_no",),
            (0,),
        )
    },
    "q17": {
        "CAST(l_quantity AS DOUBLE) < SUBQUERY": Relation(
            """
            SELECT l_extendedprice AS c0
            FROM lineitem l JOIN part ON l_partkey = p_partkey
            WHERE p_brand = 'Brand#23' AND p_container = 'MED BOX'
                AND l_quantity < (
                    SELECT 0.2 * avg(l_quantity) FROM lineitem i WHERE i.l_partkey = l.l_partkey
                )
            """,
            ("l_extendedprice",),
            (0,),
        )
    },
    "q20": {
        "(CAST(ps_availqty AS DECIMAL(38,3)) > SUBQUERY)": Relation(
            """
            SELECT ps_suppkey AS c0
            FROM partsupp
            WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
                AND ps_availqty > (
                    SELECT 0.5 * sum(l_quantity) FROM lineitem
                    WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey
                        AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
                )
            """,
            ("ps_suppkey",),
            (0,),
        )
    },
    "q22": {
        "CAST(c_acctbal AS DOUBLE) > SUBQUERY": Relation(
            f"""
            SELECT c_custkey AS c0
            FROM customer
            WHERE c_phone[:2] IN ({CODES})
                AND c_acctbal > (
                    SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0 AND c_phone[:2] IN ({CODES})
                )
            """,
            ("c_custkey",),
            (0,),
        )
    },
}
"""SQL for operators whose profile lacks a compared value, or the table of a column that two tables have."""


@cache
def all_tables(scale: float) -> tuple[tables.QueryTable, ...]:
    """The tables of TPC-H, generated if necessary."""
    return tuple(tables.tpch_tables(scale, TEXT_BYTES, lambda what, share: None))


@pytest.fixture(scope="module", autouse=True)
def _generate_tables() -> None:
    """Generate all tables before any test is timed."""
    all_tables(0.01)


@pytest.mark.parametrize("scale", [0.01, pytest.param(1.0, marks=LONG_TESTS)])
@pytest.mark.parametrize("query", names())
def test_operator_rows_equal_counted_rows(query: str, scale: float) -> None:
    sql = find(query).sql
    root = parse(profile.run(sql, all_tables(scale)).profile)
    tables_by_files = {", ".join(map(str, table.files)): table.name for table in all_tables(scale)}
    counter = SqlCounter(
        tables_by_files.__getitem__,
        BINDINGS.get(query, {}),
        LITERALS.get(query, {}),
        WRITTEN_SQL.get(query, {}),
    )
    unread, counted_ids = unread_operators(root), set()
    with duckdb.connect() as connection:
        for table in all_tables(scale):
            file_list = ", ".join(f"'{file}'" for file in table.files)
            connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet([{file_list}])")
        for operator, operator_sql in [*counter.relations(root), *final_operators(root, sql)]:
            count_row = connection.execute(f"SELECT count(*) FROM ({operator_sql})").fetchone()
            assert count_row is not None
            # DuckDB stops a scan from which no more rows can result; nodes do not.
            if id(operator) in unread:
                assert operator.rows <= count_row[0]
            else:
                assert (operator.kind, operator.rows) == (operator.kind, count_row[0])
            counted_ids.add(id(operator))
    assert counted_ids == {id(operator) for operator in root.walk()}
