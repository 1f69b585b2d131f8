"""Frequent sets of items, size by size, and the candidates that follow from them.

R. Agrawal, R. Srikant: Fast algorithms for mining association rules, VLDB 1994, section 2.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledlab.job.files import Array

PRUNE_BATCH = 1 << 20
"""Number of joined sets that are pruned at a time."""


@dataclass
class ItemsetLevel:
    """Frequent sets of one size, in lexicographic order, and how often each occurs.

    Attributes:
        sets: A row for each set: its items, ascending.
        counts: Number of transactions that hold each set.
        candidates: Number of candidates counted to find these sets.
    """

    sets: Array
    counts: Array
    candidates: int

    @classmethod
    def from_parts(cls, parts: list[tuple[Array, Array]], length: int, candidates: int) -> ItemsetLevel:
        """The sets of one size, of parts found one after another, in order."""
        sets = np.concatenate([np.empty((0, length), np.uint32), *(sets for sets, _ in parts)])
        counts = np.concatenate([np.empty(0, np.uint64), *(counts for _, counts in parts)])
        order = np.lexsort(sets.T[::-1])
        return cls(sets[order], counts[order], candidates)


@dataclass
class FrequentSets:
    """All frequent sets found so far, size by size from 1.

    A set has a rank among the sets of its size. All but the last item of a frequent set are a frequent set
    too, so the rank of a set follows from the rank of these and its last item: `keys` holds, size by size,
    both in one number for each set.
    """

    levels: list[ItemsetLevel] = field(default_factory=list)
    keys: list[Array] = field(default_factory=list)

    def add(self, level: ItemsetLevel) -> None:
        """Add the frequent sets of the next size."""
        if self.levels:
            prefix_ranks = self.ranks(level.sets[:, :-1])
            self.keys.append(prefix_ranks * len(self.levels[0].sets) + self._item_ranks(level.sets[:, -1]))
        self.levels.append(level)

    def _item_ranks(self, items: Array) -> Array:
        """Ranks of items; -1 for items that are not frequent."""
        return _index_of(self.levels[0].sets[:, 0], items)

    def ranks(self, sets: Array) -> Array:
        """Ranks of sets of one size, a row each; -1 for sets that are not frequent."""
        ranks = self._item_ranks(sets[:, 0])
        for column in range(1, sets.shape[1]):
            item_ranks = self._item_ranks(sets[:, column])
            ranks = np.where(
                (ranks < 0) | (item_ranks < 0), -1, ranks * len(self.levels[0].sets) + item_ranks
            )
            ranks = _index_of(self.keys[column - 1], ranks)
        return ranks

    def partners(self) -> Array:
        """Number of sets that each largest set is joined with: later ones, all but the last item equal."""
        sets = self.levels[-1].sets
        ends = np.append(np.flatnonzero((sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)) + 1, len(sets))
        positions = np.arange(len(sets))
        result: Array = (
            ends[np.searchsorted(ends, positions, side="right")] - positions - 1 if len(sets) else positions
        )
        return result

    def candidates(self, partners: Array) -> Array:
        """Sets of the next size all of whose subsets are frequent, in lexicographic order.

        `partners` is `partners()`, or 0 for sets that are not to be joined with others.
        """
        length = self.levels[-1].sets.shape[1] + 1
        parts = [self._prune(joined) for joined in self._join_sets(partners)]
        return np.concatenate([np.empty((0, length), np.uint32), *parts])

    def _join_sets(self, partners: Array) -> Iterator[Array]:
        """Join each set with its partners, about `PRUNE_BATCH` joined sets at a time."""
        sets = self.levels[-1].sets
        ends = np.cumsum(partners)
        start = 0
        while start < len(sets):
            joined_before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, joined_before + PRUNE_BATCH, side="right")))
            partner_counts = partners[start:stop]
            left_index = np.repeat(np.arange(start, stop), partner_counts)
            right_index = (
                left_index
                + 1
                + np.arange(len(left_index))
                - np.repeat(ends[start:stop] - partner_counts - joined_before, partner_counts)
            )
            yield np.column_stack([sets[left_index], sets[right_index, -1]])
            start = stop

    def _prune(self, joined: Array) -> Array:
        """The joined sets all of whose subsets are frequent; the two that were joined need no look-up."""
        for column in range(joined.shape[1] - 2):
            joined = joined[self.ranks(np.delete(joined, column, axis=1)) >= 0]
        return joined


def _index_of(ordered: Array, values: Array) -> Array:
    """The index of each value among ordered values; -1 for values that are not among them."""
    if not len(ordered):
        return np.full(len(values), -1)
    positions = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    result: Array = np.where(ordered[positions] == values, positions, -1)
    return result
