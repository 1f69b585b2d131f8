"""Job on a relation that each node stores by rows or by columns: sums of some attributes.

In the store by columns the file of an attribute is as long as an attribute's share of a `mems-g2` in the
layout `tabular`. Files lie one after the other on a store, so each one fills the share of its attribute.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import sledlab as sl

ATTRIBUTES = 5
"""Attributes of the relation; the default of `device.attributes`."""
ATTRIBUTE_BYTES = 8
SHARE_BYTES = 691_200_000
"""Bytes of a `mems-g2` for each of its five attributes."""
RECORDS = 1_000_000
"""Most records of a node that a job reads."""
BLOCK = 100_000
"""Records that a node adds up at a time."""

ROWS = "rows"
STORES = (ROWS, "columns")


def data(number: int, nodes: int, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Return the files of a node: the relation in rows, and a file for each attribute.

    Args:
        number: Number of the node.
        nodes: Number of nodes.
        seed: Seed of the values.
    """
    records = np.random.default_rng([seed, number]).integers(100, size=(RECORDS, ATTRIBUTES))
    files = {ROWS: records}
    for attribute in range(ATTRIBUTES):
        # The rest of a share is never written, so that it takes no memory.
        values = np.zeros(SHARE_BYTES // ATTRIBUTE_BYTES, records.dtype)
        values[:RECORDS] = records[:, attribute]
        files[f"attribute {attribute}"] = values
    return files


def relation(
    node: sl.Node, store: str = ROWS, needed: int = 1, records: int = RECORDS
) -> Generator[Any, Any, list[int] | None]:
    """Add up the first attributes of a relation.

    Args:
        node: The node.
        store: How the relation is stored: by `rows`, or by `columns`.
        needed: Number of attributes to add up.
        records: Records of each node, at most 1,000,000.

    Returns:
        The sums, on node 0.
    """
    if store not in STORES:
        raise ValueError(f"unknown store `{store}`; use {' or '.join(STORES)}")
    node.phase("scan")
    sums = np.zeros(needed, np.int64)
    files = [ROWS] if store == ROWS else [f"attribute {attribute}" for attribute in range(needed)]
    for i, file in enumerate(files):
        reader = node.open(file)
        for start in range(0, records, BLOCK):
            values = reader.rows(start, min(start + BLOCK, records))
            if store == ROWS:
                sums += values[:, :needed].sum(axis=0)
            else:
                sums[i] += values.sum()
    # A tuple takes as long from either store.
    node.count_operations(tuple=records)
    sums = yield node.all_reduce(sums)
    return sums.tolist() if node.number == 0 else None
