"""Apriori: what count and hybrid distribution have in common; sets of items, and the passes that find them.

R. Agrawal, R. Srikant: Fast algorithms for mining association rules, VLDB 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.job.rules import make_rules
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from sledlab.job.files import Array, Transactions
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Pass = Callable[[Node, "FrequentSets", int], Generator[Superstep, Any, "Level"]]

FILE = "transactions"
AT_A_TIME = 1 << 20
"""Joined sets that are looked at together."""


@dataclass
class Level:
    """Frequent sets of one size, in lexicographic order, and how often each occurs.

    Attributes:
        sets: A row of items, ascending, for each.
        counts: Transactions that hold it.
        candidates: How many sets were counted to find them.
    """

    sets: Array
    counts: Array
    candidates: int

    @classmethod
    def of(cls, parts: list[tuple[Array, Array]], length: int, candidates: int) -> Level:
        """Puts parts together, in order."""
        sets = np.concatenate([np.empty((0, length), np.uint32), *(sets for sets, _ in parts)])
        counts = np.concatenate([np.empty(0, np.uint64), *(counts for _, counts in parts)])
        order = np.lexsort(sets.T[::-1])
        return cls(sets[order], counts[order], candidates)


@dataclass
class FrequentSets:
    """All frequent sets found so far, size by size from 1.

    A set has a rank among those of its size. Every set's beginning is frequent too, so the rank of a set
    follows from that of its beginning and its last item: `keys` holds, size by size, the two in one number
    for each set.
    """

    levels: list[Level] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)

    def add(self, level: Level) -> None:
        """Adds the frequent sets of the next size."""
        if self.levels:
            begins = self.ranks(level.sets[:, :-1])
            self.keys.append(begins * len(self.levels[0].sets) + self._items(level.sets[:, -1]))
        self.levels.append(level)

    def _items(self, items: Array) -> Array:
        """Ranks of items; -1 of those that are not frequent."""
        return _found(self.levels[0].sets[:, 0], items)

    def ranks(self, sets: Array) -> Array:
        """Ranks of sets of one size, a row each; -1 of those that are not frequent."""
        ranks = self._items(sets[:, 0])
        for place in range(1, sets.shape[1]):
            items = self._items(sets[:, place])
            ranks = np.where((ranks < 0) | (items < 0), -1, ranks * len(self.levels[0].sets) + items)
            ranks = _found(self.keys[place - 1], ranks)
        return ranks

    def partners(self) -> Array:
        """How many sets each of the largest is joined with: those behind it that differ in the last item."""
        sets = self.levels[-1].sets
        ends = np.append(np.flatnonzero((sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)) + 1, len(sets))
        places = np.arange(len(sets))
        found: Array = ends[np.searchsorted(ends, places, side="right")] - places - 1 if len(sets) else places
        return found

    def candidates(self, partners: Array) -> Array:
        """Sets of the next size of which every part is frequent, in lexicographic order.

        `partners` may be less than `partners()` tells: 0 leaves out what a set begins.
        """
        length = self.levels[-1].sets.shape[1] + 1
        parts = [self._pruned(joined) for joined in self._joined(partners)]
        return np.concatenate([np.empty((0, length), np.uint32), *parts])

    def _joined(self, partners: Array) -> Iterator[Array]:
        """Joins each set with its partners, some at a time."""
        sets = self.levels[-1].sets
        ends = np.cumsum(partners)
        start = 0
        while start < len(sets):
            begun = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, begun + AT_A_TIME, side="right")))
            each = partners[start:stop]
            left = np.repeat(np.arange(start, stop), each)
            right = left + 1 + np.arange(len(left)) - np.repeat(ends[start:stop] - each - begun, each)
            yield np.column_stack([sets[left], sets[right, -1]])
            start = stop

    def _pruned(self, joined: Array) -> Array:
        """Those of which every part is frequent; the two that were joined are."""
        for place in range(joined.shape[1] - 2):
            joined = joined[self.ranks(np.delete(joined, place, axis=1)) >= 0]
        return joined


def _found(ordered: Array, values: Array) -> Array:
    """Where values are among ordered ones; -1 for those that are not."""
    if not len(ordered):
        return np.full(len(values), -1)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: Array = np.where(ordered[places] == values, places, -1)
    return found


class Counter:
    """Counts candidates in a node's transactions.

    Operations are those of the hash tree: nodes visited, and candidates checked against a transaction.
    """

    def __init__(self, node: Node, candidates: Array) -> None:
        node.holds(len(candidates) * bytes_of(candidates.shape[1]))
        self.counts = np.zeros(len(candidates), np.uint64)
        self._node = node
        packed = np.ascontiguousarray(candidates).data
        self._tree = _native.HashTree(packed, candidates.shape[1]) if len(candidates) else None

    def count(self, transactions: Transactions) -> None:
        """Counts some transactions."""
        if self._tree is not None and len(transactions):
            counts, visits, checks = self._tree.count(transactions.offsets.data, transactions.items.data)
            self.counts += np.frombuffer(counts, np.uint64)
            self._node.does(visit=visits, check=checks)


def bytes_of(length: int) -> int:
    """Bytes of a candidate and its count in memory."""
    return 4 * length + 8


def at_a_time(node: Node, length: int) -> int:
    """How many candidates fit into a node's memory; 1 at least, about which `holds` then complains."""
    return max(1, node.memory // bytes_of(length))


def kept(candidates: Array, counts: Array, least: int) -> tuple[Array, Array]:
    """Those candidates that occur often enough, and their counts."""
    frequent = counts >= least
    return candidates[frequent], counts[frequent]


def least_count(min_support: float, transactions: int) -> int:
    """In how many transactions a set occurs at least whose share of them is not below the least support.

    Examples:
        >>> least_count(0.05, 100_000), least_count(0.07, 100), least_count(0.0501, 100)
        (5000, 7, 6)
    """
    least = ceil(min_support * transactions)
    # The product may be rounded across a whole number: 0.07 * 100 is above 7.
    while least > 1 and (least - 1) / transactions >= min_support:
        least -= 1
    return max(1, least)


def mine(
    node: Node, find: Pass, min_support: float, min_confidence: float, largest: int
) -> Generator[Superstep, Any, dict[str, Any] | None]:
    """Finds frequent sets, size by size, and the rules that follow from them.

    Args:
        node: The node.
        find: The pass over the transactions that finds the frequent sets of the next size.
        min_support: Share of all transactions that hold a frequent set, at least.
        min_confidence: Confidence of a rule, at least.
        largest: Items of the largest set looked for; 0 for no limit.

    Returns:
        On node 0 `sets`: items and count of each; `rules`: antecedent, consequent, count and confidence of
        each; `candidates`: how many were counted in each pass.
    """
    _check(min_support, min_confidence, largest)
    node.phase("pass 1")
    transactions = yield node.all_reduce(node.count(FILE))
    least = least_count(min_support, transactions)
    sets = FrequentSets()
    sets.add((yield from _items(node, least)))
    while sets.partners().any() and len(sets.levels) != largest:
        node.phase(f"pass {len(sets.levels) + 1}")
        sets.add((yield from find(node, sets, least)))
    node.phase("rules")
    rules = yield from make_rules(node, sets, min_confidence)
    if node.number:
        return None
    found = [
        [items, count]
        for level in sets.levels
        for items, count in zip(level.sets.tolist(), level.counts.tolist(), strict=True)
    ]
    return {"sets": found, "rules": rules, "candidates": [level.candidates for level in sets.levels]}


def _check(min_support: float, min_confidence: float, largest: int) -> None:
    """Refuses parameters that make no sense."""
    if not 0 < min_support <= 1:
        raise Error(f"a support of {min_support:g} is no share", remedy="choose one above 0, and 1 at most")
    if not 0 <= min_confidence <= 1:
        raise Error(f"a confidence of {min_confidence:g} is no share", remedy="choose one from 0 to 1")
    if largest < 0:
        raise Error(f"no set has {largest} items", remedy="choose 1 or more, or 0 for no limit")


def _items(node: Node, least: int) -> Generator[Superstep, Any, Level]:
    """The pass that finds frequent items."""
    mine = np.zeros(0, np.int64)
    for transactions in node.read(FILE):
        node.does(item=len(transactions.items))
        mine = added(mine, np.bincount(transactions.items))
    node.holds(mine.nbytes)
    counts = yield node.all_reduce(mine, added)
    items = np.flatnonzero(counts >= least)
    sets = items.astype(np.uint32)[:, None]
    return Level(sets, counts[items].astype(np.uint64), int(np.count_nonzero(counts)))


def added(one: Array, other: Array) -> Array:
    """The sum of counts, of which one side may have fewer.

    Examples:
        >>> added(np.array([1, 2]), np.array([1, 1, 1])).tolist()
        [2, 3, 1]
    """
    found = np.zeros(max(len(one), len(other)), np.int64)
    found[: len(one)] += one
    found[: len(other)] += other
    return found
