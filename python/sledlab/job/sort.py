"""Sort: a parallel, out-of-core sampling bucket sort (Chiu 2004, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.hashing import splitmix64
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from sledlab.job.files import Array, StoredFile
    from sledlab.job.node import Node
    from sledlab.job.store import Reader
    from sledlab.job.superstep import NodeParts, Superstep

KEY = ("l_orderkey", "l_linenumber")

MIN_NODE_SAMPLES = 256
"""Fewest samples of a node, however many nodes share the sampling."""


def sort(
    node: Node, sample_share: float = 0.01, min_samples: int = 64_000, buffer_kb: int = 8
) -> Generator[Superstep, Any, StoredFile]:
    """Sort line items by a hash of their key, so that they come in random order.

    Args:
        node: The node.
        sample_share: Share of its tuples that a node samples.
        min_samples: Fewest samples of all nodes together, but at most an eighth of all tuples.
        buffer_kb: Memory for each run that is merged, and for the output.

    Returns:
        The node's sorted part; that of node 0 comes first.
    """
    width = node.width("lineitem")
    if not 0 < sample_share <= 1 or min_samples < 1 or buffer_kb < 1:
        raise Error(
            "invalid sample_share, min_samples or buffer_kb",
            remedy="use a sample_share above 0 and at most 1, and min_samples and buffer_kb of 1 or more",
        )
    fan_in = node.memory // (buffer_kb << 10) - 1
    if fan_in < 2:
        raise Error(
            f"{node.memory:,} bytes of memory are too few for three buffers of {buffer_kb} KB",
            remedy="use smaller buffers, or give nodes more memory: --memory-mb",
        )
    node.phase("sampling")
    rounds = yield node.rounds("lineitem")
    splitters = yield from _splitters(node, _sample(node, sample_share, min_samples))
    node.phase("re-distribution")
    for rows in node.read("lineitem", KEY, rounds=rounds):
        received = yield node.exchange(_split_by_bucket(node, add_keys(rows), splitters), width=width)
        node.write("bucket", received, width=width)
    node.phase("internal sort")
    lengths = _sort_runs(node, width)
    return _merge_runs(node, lengths, fan_in)


def add_keys(rows: Array) -> Array:
    """Rows with the keys that they are sorted by, in the column `key`."""
    keyed_rows = np.empty(len(rows), dtype=[("key", np.uint64), *((name, rows.dtype[name]) for name in KEY)])
    for name in KEY:
        keyed_rows[name] = rows[name]
    keyed_rows["key"] = splitmix64(
        rows["l_orderkey"].astype(np.uint64) * np.uint64(8) + rows["l_linenumber"].astype(np.uint64)
    )
    return keyed_rows


def _sample(node: Node, share: float, min_samples: int) -> Array:
    """Keys of a sample of the node's tuples, one drawn from each of equal stretches."""
    count = node.count("lineitem")
    # The fullest of n buckets is about sqrt(2 ln n / m) above the mean with m samples a bucket: 9 % with 64
    # buckets and 64,000 samples in all, 23 % with 1,024 buckets and 256 samples a bucket.
    desired_count = max(ceil(count * share), min_samples // node.nodes, MIN_NODE_SAMPLES)
    sample_count = min(desired_count, ceil(count / 8))
    positions = (
        (np.arange(sample_count) + node.random.random(sample_count)) * (count / max(1, sample_count))
    ).astype(np.int64)
    samples, start = [np.empty(0, dtype=np.uint64)], 0
    for rows in node.read("lineitem", KEY):
        node.count_operations(tuple=len(rows))
        block_positions = positions[(positions >= start) & (positions < start + len(rows))] - start
        samples.append(add_keys(rows[block_positions])["key"])
        start += len(rows)
    return np.concatenate(samples)


def _splitters(node: Node, own_samples: Array) -> Generator[Superstep, Any, Array]:
    """The keys at which buckets begin, without that of the first bucket; every node computes them itself."""
    samples = np.concatenate((yield node.all_gather(own_samples)))
    node.count_operations(
        pack=len(own_samples), unpack=len(samples) - len(own_samples), compare=comparisons(len(samples))
    )
    positions = np.arange(1, node.nodes) * len(samples) // node.nodes
    result: Array = np.sort(samples)[positions]
    return result


def comparisons(count: int) -> int:
    """Comparisons needed to sort `count` keys: count log2 count."""
    return round(count * log2(count)) if count else 0


def _split_by_bucket(node: Node, rows: Array, splitters: Array) -> NodeParts:
    """Tuples split by the nodes of their buckets."""
    node.count_operations(tuple=len(rows), compare=round(len(rows) * log2(node.nodes)))
    return node.split(rows, np.searchsorted(splitters, rows["key"], side="right"))


def _sort_runs(node: Node, width: int) -> list[int]:
    """Sort the bucket in runs that fill the memory; return their lengths in rows."""
    lengths = []
    for rows in node.read("bucket"):
        node.record_memory(min(node.memory, len(rows) * width))
        node.count_operations(compare=comparisons(len(rows)))
        node.write("runs", rows[np.argsort(rows["key"])], width=width)
        lengths.append(len(rows))
    node.remove("bucket")
    return lengths


def _merge_runs(node: Node, lengths: list[int], fan_in: int) -> StoredFile:
    """Merge runs, as many at a time as memory has buffers for, until one run is left."""
    file, pass_number = "runs", 1
    while len(lengths) > 1:
        node.phase("merge" if pass_number == 1 else f"merge {pass_number}")
        target = "sorted" if len(lengths) <= fan_in else f"runs {pass_number + 1}"
        node.record_memory(node.memory)
        lengths = _merge_pass(node, file, target, lengths, fan_in)
        node.remove(file)
        file, pass_number = target, pass_number + 1
    return node.file(file)


def _merge_pass(node: Node, file: str, target: str, lengths: list[int], fan_in: int) -> list[int]:
    """Merge neighboring runs of a file into another file; return the lengths of the longer runs."""
    width = node.width(file)
    reader = node.open(file, order="merge", runs=min(fan_in, len(lengths)))
    ends = np.cumsum(lengths)
    starts = ends - lengths
    longer_lengths = []
    for first in range(0, len(lengths), fan_in):
        spans = list(zip(starts[first : first + fan_in], ends[first : first + fan_in], strict=True))
        batch_size = max(1, node.memory // (len(spans) + 1) // width)
        for rows in merge(reader, spans, batch_size):
            node.count_operations(merge=len(rows))
            node.write(target, rows, width=width)
        longer_lengths.append(int(ends[min(first + fan_in, len(ends)) - 1] - starts[first]))
    return longer_lengths


def merge(reader: Reader, spans: list[tuple[int, int]], batch_size: int) -> Iterator[Array]:
    """The rows of sorted runs in order; at most `batch_size` rows of each run are in memory at a time."""
    runs = [_Run(reader, int(start), int(stop), batch_size) for start, stop in spans]
    while runs := [run for run in runs if run.refill()]:
        # Rows of a run that are still on the store are not below the last key in that run's buffer.
        limit = min((run.rows["key"][-1] for run in runs if run.start < run.stop), default=None)
        rows = np.concatenate([run.take(limit) for run in runs])
        yield rows[np.argsort(rows["key"])]


@dataclass
class _Run:
    """A sorted run; `start` is its first row that is not yet read."""

    reader: Reader
    start: int
    stop: int
    batch_size: int
    rows: Array = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.reader.rows(self.start, self.start)

    def refill(self) -> bool:
        """Whether the run has rows in memory, after reading more where it had none."""
        if not len(self.rows) and self.start < self.stop:
            stop = min(self.stop, self.start + self.batch_size)
            self.rows = self.reader.rows(self.start, stop)
            self.start = stop
        return len(self.rows) > 0

    def take(self, limit: Any) -> Array:
        """Take the rows up to the key `limit` out of memory; all rows if it is None."""
        end = len(self.rows) if limit is None else int(np.searchsorted(self.rows["key"], limit, side="right"))
        rows, self.rows = self.rows[:end], self.rows[end:]
        return rows
