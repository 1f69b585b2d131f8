"""Q3 of TPC-H, shipping priority: two joins, groups, the top 10 (specification 3.0.1, section 2.4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.exact import DECIMAL_BYTES, cents, day, days, decimals
from sledlab.job.hashing import splitmix64
from sledlab.job.store import check_word
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from datetime import date

    from sledlab.job.files import Array
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Columns = list[tuple[str, str]]
    Step = Generator[Superstep, Any, Any]

SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
METHODS = ("cheaper", "broadcast", "exchange")
CUSTOMER = [("c_custkey", "i8")]
ORDER = [("o_orderkey", "i8"), ("o_custkey", "i8"), ("o_orderdate", "i4"), ("o_shippriority", "i4")]
ITEM = [("l_orderkey", "i8"), ("l_extendedprice", "i8"), ("l_discount", "i8")]
PREDICATE_COLUMNS = {"customer": ("c_mktsegment",), "orders": (), "lineitem": ("l_shipdate",)}
"""Columns that predicates read and tuples do not carry on."""

GROUP_COLUMNS = [("l_orderkey", "i8"), ("revenue", "i8"), ("o_orderdate", "i4"), ("o_shippriority", "i4")]
GROUP_BYTES = 8 + DECIMAL_BYTES + 4 + 4
"""Bytes of a group on the wire."""

ORDER_DATES = (day("1992-01-01"), day("1998-08-02"))
SHIP_DATES = (day("1992-01-02"), day("1998-12-01"))
"""First and last day on which anything is ordered, and is shipped, in TPC-H's data."""

MAX_ORDERS = 10
"""Orders in the answer."""


def q3(
    node: Node, segment: str = "BUILDING", date: str = "1995-03-15", method: str = "cheaper"
) -> Generator[Superstep, Any, Array]:
    """Find the ten orders of a market segment that are worth most of those not shipped on a day.

    Args:
        node: The node.
        segment: Market segment of the customers.
        date: Day before which orders were placed and after which line items were shipped.
        method: `broadcast` the smaller side of a join, `exchange` both by hash, or the `cheaper` of these.

    Returns:
        The node's ten orders.
    """
    check_word("segment", segment, SEGMENTS)
    check_word("method", method, METHODS)
    cutoff = np.datetime64(day(date))
    node.phase("scan customer")
    customer_blocks = _scan(node, "customer", CUSTOMER, lambda rows: rows["c_mktsegment"] == segment.encode())
    joins, customers = _Joins(node, method), np.concatenate(list(customer_blocks))
    customers = yield from joins.build(
        customers, "c_custkey", "orders", ORDER, _date_selectivity(ORDER_DATES, date)
    )
    node.phase("scan orders")
    early_orders = _scan(node, "orders", ORDER, lambda rows: rows["o_orderdate"] < cutoff)
    probing_blocks = yield from joins.probe(early_orders, "o_custkey")
    order_blocks = [rows[_find_keys(customers["c_custkey"], rows["o_custkey"])[1]] for rows in probing_blocks]
    orders = np.concatenate(order_blocks)
    orders = yield from joins.build(
        orders, "o_orderkey", "lineitem", ITEM, 1 - _date_selectivity(SHIP_DATES, date)
    )
    node.phase("scan lineitem")
    late_items = _scan(node, "lineitem", ITEM, lambda rows: rows["l_shipdate"] > cutoff)
    groups = _aggregate(node, orders, (yield from joins.probe(late_items, "l_orderkey")))
    groups = yield from _combine_groups(node, groups)
    top = _top_orders(groups)
    node.count_operations(compare=round(len(groups) * float(np.log2(max(len(top), 2)))))
    node.answer(top, width=GROUP_BYTES)
    return top


class _Joins:
    """Joins of a table whose rows have been selected with the table that is scanned next.

    Each node holds the rows of the first table in memory, sorted by key: all rows, or those whose hash is its
    own.
    """

    def __init__(self, node: Node, method: str) -> None:
        self._node = node
        self._method = method
        self._is_broadcast = True
        self._exchange_count = 0
        self._table_bytes = 0

    def build(self, rows: Array, key: str, table: str, columns: Columns, share: float) -> Step:
        """Send the rows to the nodes that probe them: to all nodes, or each to the node of its hash.

        Args:
            rows: The node's rows.
            key: Name of their key.
            table: Name of the table whose rows will probe them.
            columns: The columns that rows of that table carry.
            share: Estimated share of that table's rows that will probe.
        """
        node = self._node
        node.record_memory(self._table_bytes + rows.nbytes)
        if node.nodes > 1:
            width = np.dtype(columns).itemsize
            self._is_broadcast = yield from self._choose_broadcast(rows, share * node.count(table) * width)
            if self._is_broadcast:
                received = yield node.exchange(dict.fromkeys(range(node.nodes), rows))
                rows = np.concatenate([received[number] for number in sorted(received)])
            else:
                rows = yield from _send_by_hash(node, rows, key)
        node.count_operations(hash=len(rows))
        node.record_memory(self._table_bytes + rows.nbytes)
        self._table_bytes = rows.nbytes
        return rows[np.argsort(rows[key])]

    def _choose_broadcast(self, rows: Array, probe_bytes: float) -> Step:
        """Whether the rows are sent to all nodes; `probe_bytes` estimates the bytes that will probe them."""
        if self._method != "cheaper":
            return self._method == "broadcast"
        nodes = self._node.nodes
        build_bytes, probe_bytes = yield self._node.all_reduce(np.array([rows.nbytes, probe_bytes]))
        return bool((nodes - 1) * build_bytes < (1 - 1 / nodes) * (build_bytes + probe_bytes))

    def probe(self, blocks: Iterable[Array], key: str) -> Step:
        """Blocks of rows that probe; rows that have to be exchanged first probe in a phase of their own."""
        node = self._node
        node.record_memory(self._table_bytes)
        if not self._is_broadcast:
            rows = np.concatenate(list(blocks))
            node.record_memory(self._table_bytes + rows.nbytes)
            rows = yield from _send_by_hash(node, rows, key)
            self._exchange_count += 1
            node.phase(f"join {self._exchange_count}")
            node.record_memory(self._table_bytes + rows.nbytes)
            blocks = [rows]
        return self._count_probes(blocks)

    def _count_probes(self, blocks: Iterable[Array]) -> Iterator[Array]:
        for rows in blocks:
            self._node.count_operations(probe=len(rows))
            yield rows


def _date_selectivity(first_and_last: tuple[date, date], cutoff: str) -> float:
    """The share of days that come before `cutoff`, as an optimizer estimates from the first and the last day.

    P. G. Selinger et al.: Access path selection in a relational database management system, SIGMOD 1979.

    Examples:
        >>> round(_date_selectivity(ORDER_DATES, "1995-03-15"), 3)
        0.486
        >>> _date_selectivity(SHIP_DATES, "2001-01-01")
        1.0
    """
    first, last = first_and_last
    return min(1.0, max(0.0, (day(cutoff) - first).days / ((last - first).days + 1)))


def _scan(node: Node, table: str, columns: Columns, select: Callable[[Array], Array]) -> Iterator[Array]:
    """Blocks of rows that `select` selects, the first empty: amounts in whole cents, days as numbers."""
    yield np.empty(0, columns)
    for rows in node.read(table, (*(name for name, _ in columns), *PREDICATE_COLUMNS[table])):
        node.count_operations(tuple=len(rows))
        selected_rows = rows[select(rows)]
        block = np.empty(len(selected_rows), columns)
        for name, _ in columns:
            column = selected_rows[name]
            block[name] = {"f": cents, "M": days}.get(column.dtype.kind, np.asarray)(column)
        yield block


def _send_by_hash(node: Node, rows: Array, key: str, width: int = 0) -> Step:
    """Send each row to the node of its hash; return the rows that arrived."""
    node.count_operations(hash=len(rows))
    return (yield node.exchange(node.split(rows, splitmix64(rows[key]) % np.uint64(node.nodes)), width=width))


def _find_keys(keys: Array, values: Array) -> tuple[Array, Array]:
    """The index of each value among ascending keys, and whether it is one of them."""
    positions = np.searchsorted(keys, values)
    positions[positions == len(keys)] = 0
    return positions, keys[positions] == values if len(keys) else np.zeros(len(values), bool)


def _aggregate(node: Node, orders: Array, blocks: Iterable[Array]) -> Array:
    """The revenue of each order that has line items among the blocks."""
    revenue, item_counts = (np.zeros(len(orders), np.int64) for _ in range(2))
    for rows in blocks:
        positions, has_order = _find_keys(orders["o_orderkey"], rows["l_orderkey"])
        node.count_operations(hash=int(has_order.sum()))
        item_revenue = rows["l_extendedprice"] * (100 - rows["l_discount"])
        np.add.at(revenue, positions[has_order], item_revenue[has_order])
        np.add.at(item_counts, positions[has_order], 1)
    has_items = item_counts > 0
    groups = np.empty(int(has_items.sum()), GROUP_COLUMNS)
    groups["revenue"] = revenue[has_items]
    groups["l_orderkey"] = orders["o_orderkey"][has_items]
    for name in ("o_orderdate", "o_shippriority"):
        groups[name] = orders[name][has_items]
    node.record_memory(node.step.memory + len(groups) * GROUP_BYTES)
    return groups


def _combine_groups(node: Node, groups: Array) -> Step:
    """Send groups to the nodes of their hashes, and add up those of the same order."""
    if node.nodes > 1:
        groups = yield from _send_by_hash(node, groups, "l_orderkey", GROUP_BYTES)
    node.phase("aggregate 1")
    if node.nodes > 1:
        node.count_operations(hash=len(groups))
    keys, first_rows, positions = np.unique(groups["l_orderkey"], return_index=True, return_inverse=True)
    combined = groups[first_rows]
    combined["revenue"] = 0
    np.add.at(combined["revenue"], positions, groups["revenue"])
    node.record_memory(len(keys) * GROUP_BYTES)
    return combined


def _top_orders(groups: Array) -> Array:
    """The `MAX_ORDERS` orders of most revenue; of equal ones the oldest."""
    order = np.lexsort((groups["l_orderkey"], groups["o_orderdate"], -groups["revenue"]))
    result: Array = groups[order[:MAX_ORDERS]]
    return result


def client(parts: Sequence[Array]) -> polars.DataFrame:
    """The answer in SQL's columns: the first orders of those that nodes sent."""
    top = _top_orders(np.concatenate(list(parts)))
    return polars.DataFrame(
        {
            "l_orderkey": np.ascontiguousarray(top["l_orderkey"]),
            "revenue": decimals(top["revenue"].tolist(), 4),
            "o_orderdate": polars.Series(np.ascontiguousarray(top["o_orderdate"])).cast(polars.Date),
            "o_shippriority": np.ascontiguousarray(top["o_shippriority"]),
        }
    )
