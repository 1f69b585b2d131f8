"""Association rules that follow from frequent sets: `ap-genrules` of Agrawal and Srikant, VLDB 1994."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from sledlab.job.files import Array
    from sledlab.job.itemsets import FrequentSets
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep


@dataclass(frozen=True)
class Rules:
    """Rules of one shape.

    Attributes:
        antecedents: A row of items for each rule.
        consequents: A row of items for each rule.
        counts: Number of transactions that hold both sides of each rule.
        confidences: Share of the transactions with the antecedent that hold both sides.
    """

    antecedents: Array
    consequents: Array
    counts: Array
    confidences: Array

    @property
    def width(self) -> int:
        """Bytes of a rule on the wire: its items, the start of the consequent, count and confidence."""
        items: int = self.antecedents.shape[1] + self.consequents.shape[1]
        return 4 * items + 4 + 8 + 8

    def to_lists(self) -> Iterator[list[Any]]:
        """The rules as the answer holds them: antecedent, consequent, count, confidence."""
        columns = (self.antecedents, self.consequents, self.counts, self.confidences)
        return (list(rule) for rule in zip(*(column.tolist() for column in columns), strict=True))


def make_rules(
    node: Node, sets: FrequentSets, min_confidence: float
) -> Generator[Superstep, Any, list[list[Any]] | None]:
    """Makes the rules of the node's share of the frequent sets; node 0 gathers and sends the client all.

    An operation `rule` is a rule whose confidence is computed, whether or not it is high enough.

    Returns:
        On node 0 all rules.
    """
    result: list[Rules] = []
    before = 0
    for level in sets.levels[1:]:
        mine = slice((node.number - before) % node.nodes, None, node.nodes)
        before += len(level.sets)
        for attempted, rules in _rules(sets, level.sets[mine], level.counts[mine], min_confidence):
            node.count_operations(rule=attempted)
            if len(rules.counts):
                result.append(rules)
                node.record_memory(sum(each.width * len(each.counts) for each in result))
    columns = [(each.antecedents, each.consequents, each.counts, each.confidences) for each in result]
    parts = yield node.gather(columns)
    if parts is None:
        return None
    every = [Rules(*rules) for part in parts for rules in part]
    for rules in every:
        node.answer(rules.antecedents, width=rules.width)
    return sorted(rule for rules in every for rule in rules.to_lists())


def _rules(
    sets: FrequentSets, rows: Array, counts: Array, min_confidence: float
) -> Iterator[tuple[int, Rules]]:
    """Rules of sets of one size, consequent by consequent: the number of rules tried, and those that hold.

    A consequent is a set of columns, as bits. Where a consequent's confidence is too low for a set, that of a
    larger one is too: only consequents are tried whose parts all have enough confidence.
    """
    size = rows.shape[1]
    trying = {1 << column: np.ones(len(rows), bool) for column in range(size)} if len(rows) else {}
    for _ in range(size - 1):
        stored: dict[int, Array] = {}
        for consequent, attempted in trying.items():
            choice = np.flatnonzero(attempted)
            inside = [bool(consequent >> column & 1) for column in range(size)]
            antecedents = rows[choice][:, np.logical_not(inside)]
            level = sets.levels[antecedents.shape[1] - 1]
            confidences = counts[choice] / level.counts[sets.ranks(antecedents)]
            holds = confidences >= min_confidence
            choice = choice[holds]
            yield (
                len(holds),
                Rules(antecedents[holds], rows[choice][:, inside], counts[choice], confidences[holds]),
            )
            if len(choice):
                stored[consequent] = np.zeros(len(rows), bool)
                stored[consequent][choice] = True
        trying = _larger(stored, size)


def _larger(stored: dict[int, Array], size: int) -> dict[int, Array]:
    """Consequents with one more item, and the sets for which all their parts have enough confidence."""
    result = {}
    for consequent in stored:
        for column in range(consequent.bit_length(), size):
            larger = consequent | 1 << column
            parts = [larger ^ 1 << each for each in range(column + 1) if larger >> each & 1]
            if all(part in stored for part in parts):
                together = np.logical_and.reduce([stored[part] for part in parts])
                if together.any():
                    result[larger] = together
    return result
