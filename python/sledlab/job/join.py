"""Join: two groups of nodes hash a table each and re-distribute it; then each node joins (Chiu 2004, 4.1)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab.job.hashing import splitmix64
from sledlab.job.predicate import Predicate
from sledlab.job.store import check_word
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from sledlab.job.files import Array, StoredFile
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

METHODS = ("nested-loop", "hash")
KEYS_BY_TABLE = {"orders": "o_orderkey", "lineitem": "l_orderkey"}
COLUMNS_BY_TABLE = {
    "orders": [("o_orderkey", "i8"), ("o_custkey", "i8"), ("o_totalprice", "f8")],
    "lineitem": [
        ("l_orderkey", "i8"),
        ("l_linenumber", "i4"),
        ("l_partkey", "i8"),
        ("l_extendedprice", "f8"),
    ],
}
"""Columns that tuples carry; on stores and wires tuples are as wide as those of their tables."""


def join(
    node: Node, method: str = "nested-loop", orders_where: str = "", lineitem_where: str = ""
) -> Generator[Superstep, Any, StoredFile]:
    """Join line items with their orders.

    Args:
        node: The node.
        method: `nested-loop`, as in the paper, or `hash`, which reads both tables once more.
        orders_where: SQL condition of the orders that take part; empty takes all.
        lineitem_where: SQL condition of the line items that take part; empty takes all.

    Returns:
        The node's part of the joined tuples.
    """
    check_word("method", method, METHODS)
    predicates_by_table = {"orders": Predicate(orders_where), "lineitem": Predicate(lineitem_where)}
    half = max(1, node.nodes // 2)
    members_by_table = {"orders": range(half), "lineitem": range(half if node.nodes > 1 else 0, node.nodes)}
    for group, (table, members) in zip(("left", "right"), members_by_table.items(), strict=True):
        node.group(group, members)
        node.place(table, members)
    node.phase("hash")
    for table, predicate in predicates_by_table.items():
        _write_hashed(node, table, predicate)
    rounds_by_table = {}
    for table in KEYS_BY_TABLE:
        rounds_by_table[table] = yield node.rounds(f"{table}-hashed")
    node.phase("re-distribution")
    for table, key in KEYS_BY_TABLE.items():
        node.write(f"{table}-part", _empty_tuples(table), width=node.width(table))
        for rows in node.read(f"{table}-hashed", rounds=rounds_by_table[table]):
            parts = node.split(rows, _hash_partition(rows[key], node.nodes))
            received = yield node.exchange(parts, width=node.width(table))
            node.write(f"{table}-part", received)
        node.remove(f"{table}-hashed")
    node.write(
        "joined",
        _join_tuples(_empty_tuples("orders"), _empty_tuples("lineitem")),
        width=sum(map(node.width, KEYS_BY_TABLE)),
    )
    if method == "nested-loop":
        _nested_loop(node)
    else:
        _hash_join(node)
    return node.file("joined")


def _empty_tuples(table: str) -> Array:
    """An empty array of tuples of a table."""
    tuples: Array = np.empty(0, dtype=COLUMNS_BY_TABLE[table])
    return tuples


def _hash_partition(keys: Array, parts: int) -> Array:
    """The part, of `parts`, that each key belongs to by its hash."""
    result: Array = splitmix64(keys) % np.uint64(parts)
    return result


def _write_hashed(node: Node, table: str, predicate: Predicate) -> None:
    """Write the tuples of a table that take part, with a stream for each node that they will be sent to."""
    names = [name for name, _ in COLUMNS_BY_TABLE[table]]
    node.write(f"{table}-hashed", _empty_tuples(table), width=node.width(table))
    for rows in (
        node.read(table, tuple(dict.fromkeys([*names, *predicate.columns]))) if node.count(table) else ()
    ):
        node.count_operations(hash=len(rows))
        tuples = predicate.filter(rows)[names].astype(COLUMNS_BY_TABLE[table])
        parts = node.split(tuples, _hash_partition(tuples[KEYS_BY_TABLE[table]], node.nodes))
        node.write(f"{table}-hashed", parts, streams=node.nodes)


def _nested_loop(node: Node) -> None:
    """Read all line items for every block of orders; tuples are matched by key, so each is probed once."""
    node.phase("nested loop")
    node.count_operations(probe=node.count("orders-part") + node.count("lineitem-part"))
    for outer in node.read("orders-part"):
        node.record_memory(len(outer) * node.width("orders-part"))
        for inner in node.open("lineitem-part", per_block_of="orders-part"):
            node.write("joined", _match_tuples(outer, inner))


def _hash_join(node: Node) -> None:
    """Read both tables once; where orders exceed memory, in parts that do not (a Grace hash join)."""
    parts = ceil(1.25 * node.count("orders-part") * node.width("orders-part") / node.memory)
    if parts > 1:
        node.phase("local hash")
        for table, key in KEYS_BY_TABLE.items():
            node.write(f"{table}-local", _empty_tuples(table), width=node.width(f"{table}-part"))
            for rows in node.read(f"{table}-part"):
                node.count_operations(hash=len(rows))
                # Bits of the hash other than those that chose the node.
                streams = node.split(rows, _hash_partition(splitmix64(rows[key]), parts), streams=parts)
                node.write(f"{table}-local", streams, streams=parts)
    node.phase("hash join")
    node.count_operations(probe=node.count("orders-part") + node.count("lineitem-part"))
    for outer, inners in _block_pairs(node, parts):
        node.record_memory(len(outer) * node.width("orders-part"))
        for inner in inners:
            node.write("joined", _match_tuples(outer, inner))


def _block_pairs(node: Node, parts: int) -> Iterator[tuple[Array, Iterable[Array]]]:
    """Blocks of orders that fit into memory, each with the line items that may belong to these orders."""
    if parts <= 1:
        for outer in node.read("orders-part"):
            yield outer, node.read("lineitem-part")
        return
    orders, items = node.open("orders-local"), node.open("lineitem-local")
    for part in range(parts):
        yield orders.stream(part), [items.stream(part)]


def _match_tuples(orders: Array, items: Array) -> Array:
    """Pairs of an order and one of its line items."""
    orders = orders[np.argsort(orders["o_orderkey"])]
    positions = np.searchsorted(orders["o_orderkey"], items["l_orderkey"])
    positions[positions == len(orders)] = 0
    has_order = (
        orders["o_orderkey"][positions] == items["l_orderkey"] if len(orders) else np.zeros(len(items), bool)
    )
    return _join_tuples(orders[positions[has_order]], items[has_order])


def _join_tuples(orders: Array, items: Array) -> Array:
    """Tuples of both tables side by side."""
    columns = [
        column
        for table_columns in COLUMNS_BY_TABLE.values()
        for column in table_columns
        if column[0] != KEYS_BY_TABLE["lineitem"]
    ]
    tuples: Array = np.empty(len(items), dtype=columns)
    for name, _ in columns:
        tuples[name] = orders[name] if name.startswith("o_") else items[name]
    return tuples
