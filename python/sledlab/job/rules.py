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
    """Make the rules of the node's share of the frequent sets; node 0 sends all rules to the client.

    An operation `rule` is a rule whose confidence is computed, whether or not it is high enough.

    Returns:
        On node 0 all rules.
    """
    own_rules: list[Rules] = []
    earlier_sets = 0
    for level in sets.levels[1:]:
        own_sets = slice((node.number - earlier_sets) % node.nodes, None, node.nodes)
        earlier_sets += len(level.sets)
        for rule_count, rules in _rules(sets, level.sets[own_sets], level.counts[own_sets], min_confidence):
            node.count_operations(rule=rule_count)
            if len(rules.counts):
                own_rules.append(rules)
                node.record_memory(sum(rules_part.width * len(rules_part.counts) for rules_part in own_rules))
    columns = [
        (rules_part.antecedents, rules_part.consequents, rules_part.counts, rules_part.confidences)
        for rules_part in own_rules
    ]
    parts = yield node.gather(columns)
    if parts is None:
        return None
    all_rules = [Rules(*rules) for part in parts for rules in part]
    for rules in all_rules:
        node.answer(rules.antecedents, width=rules.width)
    return sorted(rule for rules in all_rules for rule in rules.to_lists())


def _rules(
    sets: FrequentSets, rows: Array, counts: Array, min_confidence: float
) -> Iterator[tuple[int, Rules]]:
    """Rules of sets of one size, consequent by consequent: the number of rules tried, and those that hold.

    A consequent is a set of columns, as bits. Where a consequent's confidence is too low for a set, that of a
    larger one is too: only consequents are tried whose parts all have enough confidence.
    """
    size = rows.shape[1]
    tried_masks_by_consequent = (
        {1 << column: np.ones(len(rows), bool) for column in range(size)} if len(rows) else {}
    )
    for _ in range(size - 1):
        masks_by_consequent: dict[int, Array] = {}
        for consequent, tried_mask in tried_masks_by_consequent.items():
            set_indices = np.flatnonzero(tried_mask)
            in_consequent = [bool(consequent >> column & 1) for column in range(size)]
            antecedents = rows[set_indices][:, np.logical_not(in_consequent)]
            level = sets.levels[antecedents.shape[1] - 1]
            confidences = counts[set_indices] / level.counts[sets.ranks(antecedents)]
            is_confident = confidences >= min_confidence
            set_indices = set_indices[is_confident]
            yield (
                len(is_confident),
                Rules(
                    antecedents[is_confident],
                    rows[set_indices][:, in_consequent],
                    counts[set_indices],
                    confidences[is_confident],
                ),
            )
            if len(set_indices):
                masks_by_consequent[consequent] = np.zeros(len(rows), bool)
                masks_by_consequent[consequent][set_indices] = True
        tried_masks_by_consequent = _extend_consequents(masks_by_consequent, size)


def _extend_consequents(masks_by_consequent: dict[int, Array], size: int) -> dict[int, Array]:
    """Consequents with one more item, and the sets for which all their parts have enough confidence."""
    masks_by_larger = {}
    for consequent in masks_by_consequent:
        for column in range(consequent.bit_length(), size):
            larger = consequent | 1 << column
            parts = [larger ^ 1 << item for item in range(column + 1) if larger >> item & 1]
            if all(part in masks_by_consequent for part in parts):
                mask = np.logical_and.reduce([masks_by_consequent[part] for part in parts])
                if mask.any():
                    masks_by_larger[larger] = mask
    return masks_by_larger
