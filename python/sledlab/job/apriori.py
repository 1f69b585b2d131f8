"""Apriori: the passes over the transactions that count and hybrid distribution have in common.

R. Agrawal, R. Srikant: Fast algorithms for mining association rules, VLDB 1994.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.job.itemsets import FrequentSets, ItemsetLevel
from sledlab.job.rules import make_rules
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from sledlab.job.files import Array, Transactions
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Pass = Callable[[Node, FrequentSets, int], Generator[Superstep, Any, ItemsetLevel]]

FILE = "transactions"


class Counter:
    """Counts candidates in a node's transactions.

    Operations are the items read (`item`), and those of the hash tree: nodes visited, and candidates checked
    against a transaction.
    """

    def __init__(self, node: Node, candidates: Array) -> None:
        node.record_memory(len(candidates) * candidate_bytes(candidates.shape[1]))
        self.counts = np.zeros(len(candidates), np.uint64)
        self._node = node
        items = np.ascontiguousarray(candidates).data
        self._tree = _native.HashTree(items, candidates.shape[1]) if len(candidates) else None

    def count(self, transactions: Transactions) -> None:
        """Count the candidates in some transactions."""
        if self._tree is not None and len(transactions):
            counts, visits, checks = self._tree.count(transactions.offsets.data, transactions.items.data)
            self.counts += np.frombuffer(counts, np.uint64)
            self._node.count_operations(item=len(transactions.items), visit=visits, check=checks)


def candidate_bytes(length: int) -> int:
    """Bytes of a candidate and its count in memory."""
    return 4 * length + 8


def half_memory(node: Node) -> int:
    """Half of a node's memory in bytes: one half is for candidates, the other for transactions."""
    return max(1, node.memory // 2)


def batch_size(node: Node, length: int) -> int:
    """Number of candidates that fit into their half of a node's memory, 1 at least."""
    return max(1, half_memory(node) // candidate_bytes(length))


def select_frequent(candidates: Array, counts: Array, min_transactions: int) -> tuple[Array, Array]:
    """The candidates that at least `min_transactions` transactions contain, and their counts."""
    is_frequent = counts >= min_transactions
    return candidates[is_frequent], counts[is_frequent]


def min_count(min_support: float, transactions: int) -> int:
    """Minimum number of transactions with a set of minimum support.

    Examples:
        >>> min_count(0.05, 100_000), min_count(0.07, 100), min_count(0.0501, 100)
        (5000, 7, 6)
    """
    min_transactions = ceil(min_support * transactions)
    # The product may be rounded past a whole number: 0.07 * 100 is above 7.
    while min_transactions > 1 and (min_transactions - 1) / transactions >= min_support:
        min_transactions -= 1
    return max(1, min_transactions)


def mine(
    node: Node, run_pass: Pass, min_support: float, min_confidence: float, largest: int
) -> Generator[Superstep, Any, dict[str, Any] | None]:
    """Find frequent sets, size by size, and the rules that follow from them.

    Args:
        node: The node.
        run_pass: The pass over the transactions that finds the frequent sets of the next size.
        min_support: Minimum share of transactions that contain a frequent set.
        min_confidence: Minimum confidence of a rule.
        largest: Items of the largest set looked for; 0 for no limit.

    Returns:
        On node 0 `sets`: items and count of each; `rules`: antecedent, consequent, count and confidence of
        each; `candidates`: the number of candidates counted in each pass.
    """
    _check_parameters(min_support, min_confidence, largest)
    node.phase("pass 1")
    transactions = yield node.all_reduce(node.count(FILE))
    min_transactions = min_count(min_support, transactions)
    sets = FrequentSets()
    sets.add((yield from _run_first_pass(node, min_transactions)))
    while sets.partners().any() and len(sets.levels) != largest:
        node.phase(f"pass {len(sets.levels) + 1}")
        sets.add((yield from run_pass(node, sets, min_transactions)))
    node.phase("rules")
    rules = yield from make_rules(node, sets, min_confidence)
    if rules is None:
        return None
    for level in sets.levels:
        node.answer(level.sets, width=candidate_bytes(level.sets.shape[1]))
    sets_and_counts = [
        [items, count]
        for level in sets.levels
        for items, count in zip(level.sets.tolist(), level.counts.tolist(), strict=True)
    ]
    return {
        "sets": sets_and_counts,
        "rules": rules,
        "candidates": [level.candidates for level in sets.levels],
    }


def _check_parameters(min_support: float, min_confidence: float, largest: int) -> None:
    """Refuse parameters outside their ranges."""
    if not 0 < min_support <= 1:
        raise Error(f"invalid support {min_support:g}", remedy="use a share above 0 and at most 1")
    if not 0 <= min_confidence <= 1:
        raise Error(f"invalid confidence {min_confidence:g}", remedy="use a share from 0 to 1")
    if largest < 0:
        raise Error(f"invalid maximum size of sets: {largest}", remedy="use 1 or more, or 0 for no limit")


def _run_first_pass(node: Node, min_transactions: int) -> Generator[Superstep, Any, ItemsetLevel]:
    """The pass that finds frequent items."""
    own_counts = np.zeros(0, np.int64)
    for transactions in node.read(FILE):
        node.count_operations(item=len(transactions.items))
        own_counts = add_counts(own_counts, np.bincount(transactions.items))
    node.record_memory(own_counts.nbytes)
    counts = yield node.all_reduce(own_counts, add_counts)
    frequent_items = np.flatnonzero(counts >= min_transactions)
    sets = frequent_items.astype(np.uint32)[:, None]
    return ItemsetLevel(sets, counts[frequent_items].astype(np.uint64), int(np.count_nonzero(counts)))


def add_counts(one: Array, other: Array) -> Array:
    """The sum of two arrays of counts, of which one may be shorter.

    Examples:
        >>> add_counts(np.array([1, 2]), np.array([1, 1, 1])).tolist()
        [2, 3, 1]
    """
    total = np.zeros(max(len(one), len(other)), np.int64)
    total[: len(one)] += one
    total[: len(other)] += other
    return total
