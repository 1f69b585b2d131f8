"""MAFIA: clusters in subspaces, found as dense units of bins whose widths adapt to the data.

H. Nagesh, S. Goil, A. Choudhary: Parallel algorithms for clustering high-dimensional large-scale datasets,
in Data Mining for Scientific and Engineering Applications, 2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.job.store import check_word
from sledlab.job.units import Bins, Units, cluster_answer, clusters, join_units, select_dense
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator

    from sledlab.job.files import Array
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Ranges = tuple[memoryview, memoryview]

FILE = "records"
COUNTING_METHODS = ("tree", "each")


def mafia(
    node: Node,
    windows: int = 1000,
    beta: float = 0.35,
    alpha: float = 1.5,
    equal_bins: int = 5,
    low: float = 0.0,
    high: float = 100.0,
    counting: str = "tree",
) -> Generator[Superstep, Any, dict[str, Any] | None]:
    """Find clusters of records.

    Args:
        node: The node.
        windows: Number of windows into which each dimension is cut first.
        beta: Share of the larger window below which two neighbors differ that become one bin.
        alpha: Multiple of the records expected for its width above which a bin is dense.
        equal_bins: Number of equal bins of a dimension whose windows all become one.
        low: Smallest value of every dimension.
        high: Largest value of every dimension.
        counting: How records are counted: through a `tree` of candidates, or against `each` candidate.

    Returns:
        On node 0 `clusters`: dimensions, units as intervals in them, and records of each; `dense`: dense
        units of 1, 2, ... dimensions as pairs of dimension and bin, and records of each; `bins`: the edges of
        bins, by dimension.
    """
    _check_parameters(windows, beta, alpha, equal_bins, low, high)
    check_word("method of counting", counting, COUNTING_METHODS)
    node.phase("histogram")
    records = yield node.all_reduce(node.count(FILE))
    dims = node.width(FILE) // 4
    ranges = np.full(dims, low).data, np.full(dims, high).data
    histogram = yield node.all_reduce(_histogram(node, dims, windows, ranges))
    bins = Bins.from_histogram(histogram, beta=beta, equal_bins=equal_bins, low=low, high=high)
    thresholds = alpha * records * bins.widths
    counts = bins.counts(histogram)
    codes = np.flatnonzero(bins.widths)
    levels = [select_dense(codes[:, None], counts[codes], thresholds)]
    while len(levels[-1].codes) > 1 and len(levels) < dims:
        node.phase(f"pass {len(levels) + 1}")
        candidates, pairs = join_units(levels[-1].codes, windows)
        node.count_operations(candidate=pairs)
        if not len(candidates):
            break
        counts = yield node.all_reduce(_count_records(node, bins, candidates, ranges, counting))
        levels.append(select_dense(candidates, counts, thresholds))
    return _answer(node, bins, [level for level in levels if len(level.codes)])


def _check_parameters(
    windows: int, beta: float, alpha: float, equal_bins: int, low: float, high: float
) -> None:
    """Refuse parameters outside their ranges."""
    if not 1 <= windows < 2**16:
        raise Error(f"invalid number of windows: {windows:,}", remedy=f"use 1 to {2**16 - 1:,}")
    if not 1 <= equal_bins <= windows:
        raise Error(f"{windows:,} windows cannot form {equal_bins} bins", remedy=f"use 1 to {windows:,} bins")
    if not 0 <= beta <= 1:
        raise Error(f"invalid beta {beta:g}", remedy="use a number from 0 to 1")
    if not alpha > 0:
        raise Error(f"invalid alpha {alpha:g}", remedy="use a number above 0")
    if not low < high:
        raise Error(
            f"the range from {low:g} to {high:g} is empty", remedy="use minimum and maximum of the data"
        )


def _histogram(node: Node, dims: int, windows: int, ranges: Ranges) -> Array:
    """Number of the node's records in each window, a row for each dimension.

    An operation `window` is a value put into its window.
    """
    histogram = np.zeros(dims * windows, np.uint64)
    node.record_memory(histogram.nbytes)
    for records in node.read(FILE):
        block_counts = _native.window_histogram(records.data, dims, windows, *ranges)
        histogram += np.frombuffer(block_counts, np.uint64)
        node.count_operations(window=records.size)
    return histogram.reshape(dims, windows)


def _count_records(node: Node, bins: Bins, candidates: Array, ranges: Ranges, counting: str) -> Array:
    """Number of the node's records in each candidate.

    An operation `bin` is a value whose bin is looked up, `unit` a step through the tree of candidates,
    `check` a comparison of a candidate's bin with the bin of a record.
    """
    count, length = candidates.shape
    node.record_memory(count * (8 * length + 8))
    pairs = np.ascontiguousarray(bins.pairs(candidates), dtype=np.uint32)
    counter = _native.UnitCounter(
        len(bins.ends), bins.windows, *ranges, bins.window_bins.data, pairs.data, length
    )
    totals = np.zeros(count, np.uint64)
    for records in node.read(FILE):
        block_counts, lookups, steps, comparisons = counter.count(records.data)
        totals += np.frombuffer(block_counts, np.uint64)
        node.count_operations(
            bin=lookups, **({"unit": steps} if counting == "tree" else {"check": comparisons})
        )
    return totals


def _answer(node: Node, bins: Bins, levels: list[Units]) -> dict[str, Any] | None:
    """The answer on node 0, sent to the client: clusters, dense units, and edges of bins."""
    if node.number:
        return None
    node.phase("clusters")
    cluster_answers = [cluster_answer(cluster, bins) for cluster in clusters(levels, bins.windows)]
    for cluster in cluster_answers:
        node.answer(np.array(cluster["units"]))
    return {
        "clusters": cluster_answers,
        "dense": [
            [
                [pairs, count]
                for pairs, count in zip(bins.pairs(level.codes).tolist(), level.counts.tolist(), strict=True)
            ]
            for level in levels
        ],
        "bins": [bins.edges(dimension) for dimension in range(len(bins.ends))],
    }
