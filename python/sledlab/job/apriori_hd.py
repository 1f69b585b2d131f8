"""Hybrid distribution: nodes form a grid; rows share candidates, transactions move through columns.

E.-H. Han, G. Karypis, V. Kumar: Scalable parallel data mining for association rules, IEEE Transactions on
Knowledge and Data Engineering, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job import apriori_cd
from sledlab.job.apriori import FILE, Counter, batch_size, half_memory, mine, select_frequent
from sledlab.job.itemsets import ItemsetLevel
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator

    from sledlab.job.files import Array
    from sledlab.job.itemsets import FrequentSets
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

SECTION_CANDIDATES = 50_000
"""Candidates that a section should have; the paper names no number."""


def hybrid_distribution(
    node: Node, min_support: float = 0.05, min_confidence: float = 0.5, largest: int = 0, sections: int = 0
) -> Generator[Superstep, Any, dict[str, Any] | None]:
    """Mine association rules.

    Args:
        node: The node.
        min_support: Smallest share of all transactions that makes an item set frequent.
        min_confidence: Smallest confidence of a rule.
        largest: Number of items of the largest set looked for; 0 for no limit.
        sections: Rows of the grid, each with a section of the candidates; 0 aims at 50,000 in each.

    Returns:
        On node 0 frequent sets, rules, and the number of candidates counted in each pass.
    """
    if sections < 0 or (sections and node.nodes % sections):
        divisors_text = ", ".join(map(str, divisors(node.nodes)))
        raise Error(
            f"{node.nodes} nodes cannot form a grid of {sections} rows",
            remedy=f"choose a number that divides {node.nodes}: {divisors_text}; or 0 for as many as fit",
        )

    def run_pass(
        node: Node, sets: FrequentSets, min_transactions: int
    ) -> Generator[Superstep, Any, ItemsetLevel]:
        partners = sets.partners()
        row_count = sections or grid_rows(int(partners.sum()), node.nodes)
        if row_count == 1:
            return (yield from apriori_cd.run_pass(node, sets, min_transactions))
        return (
            yield from _run_pass(node, sets, min_transactions, NodeGrid(node.number, node.nodes, row_count))
        )

    return (yield from mine(node, run_pass, min_support, min_confidence, largest))


def divisors(number: int) -> list[int]:
    """All divisors of a number, ascending.

    Examples:
        >>> divisors(12)
        [1, 2, 3, 4, 6, 12]
    """
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def grid_rows(candidates: int, nodes: int) -> int:
    """Rows of a grid: the largest divisor of the nodes up to ceil(candidates / `SECTION_CANDIDATES`).

    Examples:
        >>> grid_rows(499_500, 32), grid_rows(499_500, 8), grid_rows(50_000, 8), grid_rows(0, 8)
        (8, 8, 1, 1)
    """
    return max(
        divisor for divisor in divisors(nodes) if divisor <= max(1, ceil(candidates / SECTION_CANDIDATES))
    )


@dataclass(frozen=True)
class NodeGrid:
    """The grid of all nodes, as one node sees it. Nodes of a row have successive numbers.

    Attributes:
        number: Number of this node, from 0.
        nodes: Number of nodes.
        rows: Rows of the grid.
    """

    number: int
    nodes: int
    rows: int

    @property
    def row(self) -> int:
        """The number of the node's row."""
        return self.number // self.columns

    @property
    def columns(self) -> int:
        """Number of columns of the grid."""
        return self.nodes // self.rows

    @property
    def row_nodes(self) -> range:
        """Nodes of the same row."""
        return range(self.row * self.columns, (self.row + 1) * self.columns)

    @property
    def ring(self) -> range:
        """Nodes of the same column, round which transactions are sent."""
        return range(self.number % self.columns, self.nodes, self.columns)

    @property
    def next_node(self) -> int:
        """The next node in the column, to which this one sends."""
        return (self.number + self.columns) % self.nodes

    @property
    def previous_node(self) -> int:
        """The previous node in the column, from which this one receives."""
        return (self.number - self.columns) % self.nodes


def assign_sections(first_items: Array, weights: Array, sections: int) -> Array:
    """The section of the candidates that each set begins: the same for all sets with the same first item.

    Items are packed in the order of their numbers of candidates, largest first, each into the section that
    has fewest candidates so far. Candidates are counted before pruning: that number is known before any is
    made.
    """
    items, groups = np.unique(first_items, return_inverse=True)
    candidates_by_item = np.bincount(groups, weights, minlength=len(items)).astype(np.int64)
    candidates_by_section = [0] * sections
    sections_by_item = np.zeros(len(items), np.int64)
    for item in np.argsort(-candidates_by_item, kind="stable").tolist():
        sections_by_item[item] = emptiest = candidates_by_section.index(min(candidates_by_section))
        candidates_by_section[emptiest] += int(candidates_by_item[item])
    sections_by_set: Array = sections_by_item[groups]
    return sections_by_set


def _run_pass(
    node: Node, sets: FrequentSets, min_transactions: int, grid: NodeGrid
) -> Generator[Superstep, Any, ItemsetLevel]:
    """A pass: the frequent sets of the next size."""
    partners = sets.partners()
    sections_by_set = assign_sections(sets.levels[-1].sets[:, 0], partners, grid.rows)
    partners = np.where(sections_by_set == grid.row, partners, 0)
    node.count_operations(candidate=int(partners.sum()))
    candidates = sets.candidates(partners)
    length = candidates.shape[1]
    max_batch = batch_size(node, length)
    # Other rows have other sections, and all nodes of a column must send on their blocks equally often.
    sweeps = yield node.all_reduce(ceil(len(candidates) / max_batch), max, among=grid.ring)
    rounds = yield node.rounds(FILE, memory=half_memory(node))
    frequent_parts = []
    for sweep in range(sweeps):
        batch = candidates[sweep * max_batch : (sweep + 1) * max_batch]
        counts = yield from _count_candidates(node, batch, grid, rounds)
        if grid.columns > 1:
            counts = yield node.all_reduce(counts, among=grid.row_nodes)
        frequent_parts.append(select_frequent(batch, counts, min_transactions))
    level = ItemsetLevel.from_parts(frequent_parts, length, len(candidates))
    parts = yield node.all_gather((level.sets, level.counts, level.candidates), among=grid.ring)
    return ItemsetLevel.from_parts(
        [level_part[:2] for level_part in parts], length, sum(level_part[2] for level_part in parts)
    )


def _count_candidates(
    node: Node, candidates: Array, grid: NodeGrid, rounds: int
) -> Generator[Superstep, Any, Array]:
    """Number of the column's transactions that hold each candidate; blocks of them go round the column."""
    counter = Counter(node, candidates)
    for transactions in node.read(FILE, rounds=rounds, memory=half_memory(node)):
        block = transactions
        counter.count(block)
        for _ in range(grid.rows - 1):
            received = yield node.exchange({grid.next_node: block}, among=grid.ring)
            block = received[grid.previous_node]
            counter.count(block)
    return counter.counts
