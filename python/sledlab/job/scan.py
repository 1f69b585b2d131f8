"""Scan: nodes evaluate a predicate on their tuples and send the matching ones (Chiu 2004, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.predicate import Predicate
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator

    from sledlab.job.files import Array
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

KEY = ("l_orderkey", "l_linenumber")


def scan(node: Node, where: str = "l_partkey % 100 = 0") -> Generator[Superstep, Any, Array]:
    """Scan line items.

    Args:
        node: The node.
        where: SQL condition of the tuples that match; by default 1 % of all, as the paper names none.

    Returns:
        Keys of the tuples that match.
    """
    predicate = Predicate(where)
    width = node.width("lineitem")
    node.phase("scan")
    match_blocks = []
    for rows in node.read("lineitem", tuple(dict.fromkeys([*KEY, *predicate.columns]))):
        node.count_operations(tuple=len(rows))
        matches = predicate.filter(rows)[list(KEY)]
        node.answer(matches, width=width)
        match_blocks.append(matches)
    yield node.barrier()
    return np.concatenate(match_blocks)
