"""Count distribution: every node holds all candidates and counts its own transactions; counts are added up.

R. Agrawal, J. Shafer: Parallel mining of association rules, IEEE Transactions on Knowledge and Data
Engineering, 1996.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.apriori import FILE, Counter, batch_size, half_memory, mine, select_frequent
from sledlab.job.itemsets import ItemsetLevel

if TYPE_CHECKING:
    from collections.abc import Generator

    from sledlab.job.files import Array
    from sledlab.job.itemsets import FrequentSets
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep


def count_distribution(
    node: Node, min_support: float = 0.05, min_confidence: float = 0.5, largest: int = 0
) -> Generator[Superstep, Any, dict[str, Any] | None]:
    """Mine association rules.

    Args:
        node: The node.
        min_support: Smallest share of all transactions that makes an item set frequent.
        min_confidence: Smallest confidence of a rule.
        largest: Number of items of the largest set looked for; 0 for no limit.

    Returns:
        On node 0 frequent sets, rules, and the number of candidates counted in each pass.
    """
    return (yield from mine(node, run_pass, min_support, min_confidence, largest))


def run_pass(
    node: Node, sets: FrequentSets, min_transactions: int
) -> Generator[Superstep, Any, ItemsetLevel]:
    """A pass: the frequent sets of the next size.

    An operation `candidate` is a pair of sets joined, also where the joined set is pruned. Candidates that do
    not fit into memory together are counted in several sweeps over the transactions.
    """
    partners = sets.partners()
    node.count_operations(candidate=int(partners.sum()))
    candidates = sets.candidates(partners)
    length = candidates.shape[1]
    max_batch = batch_size(node, length)
    frequent_parts = []
    for start in range(0, len(candidates), max_batch):
        batch = candidates[start : start + max_batch]
        counts = yield node.all_reduce(_count_candidates(node, batch))
        frequent_parts.append(select_frequent(batch, counts, min_transactions))
    return ItemsetLevel.from_parts(frequent_parts, length, len(candidates))


def _count_candidates(node: Node, candidates: Array) -> Array:
    """Number of the node's transactions that hold each candidate."""
    counter = Counter(node, candidates)
    for transactions in node.read(FILE, memory=half_memory(node)):
        counter.count(transactions)
    return counter.counts
