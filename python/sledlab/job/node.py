"""A node as its job sees it: its part of the data, and its reads, writes, operations and sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.lines import caller
from sledlab.job.phases import check_count
from sledlab.job.store import Store
from sledlab.job.superstep import NodeParts, Superstep, SuperstepRequest, row_count, size
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy

    from sledlab.job.copies import CopyHolders
    from sledlab.job.files import Array


class Node(Store):
    """A node of a cluster, as the job that runs on it sees it.

    A job is a generator function of a node. It reads the node's part of the data, counts its operations, and
    yields supersteps, which nodes do together; the value of a `yield` is the superstep's result.

    Attributes:
        number: Number of the node, from 0.
        nodes: Number of nodes.
        memory: Bytes that the job may hold.
        random: Random numbers, different on each node.

    Examples:
        >>> def largest(node):
        ...     node.phase("look")
        ...     own_maximum = node.random.integers(1000, size=100).max()
        ...     node.count_operations(compare=100)
        ...     maximum = yield node.all_reduce(own_maximum, max)
        ...     return maximum if node.number == 0 else None

        Written to `largest.py`, this is a job: `sledlab smart record --job largest.py --node-count 4`.
    """

    def __init__(
        self,
        number: int,
        nodes: int,
        scratch: Path,
        *,
        memory: int,
        seed: int = 1,
        measures_time: bool = False,
        share: CopyHolders | None = None,
    ) -> None:
        super().__init__(number, nodes, scratch, memory, measures_time=measures_time, share=share)
        self.random: numpy.random.Generator = np.random.Generator(np.random.PCG64([seed, number]))
        self.pending: Superstep | None = None
        """The superstep that the job has created and not yielded yet."""

    def split(self, rows: Array, to: Array, streams: int = 0) -> NodeParts:
        """Rows split by destination: the nodes, or `streams` streams; `to` holds each row's destination.

        Rows for one destination keep their order.

        Raises:
            Error: A destination is no node.
        """
        if len(to) != len(rows):
            raise Error(f"{len(rows):,} rows have {len(to):,} destinations", remedy="give each row one")
        for number in (int(to.min()), int(to.max())) if len(to) and not streams else ():
            self._check_node(number)
        return NodeParts(rows, to, streams or self.nodes)

    def exchange(
        self, parts: NodeParts | Mapping[int, Any], *, width: int = 0, among: Iterable[int] | None = None
    ) -> Superstep:
        """An exchange, to be yielded: each node sends rows or other values to the others.

        Rows that leave the node count as operations `pack`, rows that arrive as `unpack`.

        Args:
            parts: The result of `split`, or a dict of values by the numbers of the nodes they go to.
            width: Bytes of a row on the wire, where rows in memory carry fewer columns than that.
            among: Nodes that take part, if not all.

        Returns:
            To be yielded: the rows that arrived, sender by sender; where `parts` is a dict, the value of each
            sender, by its number.

        Raises:
            Error: A destination is no node, or does not take part; or the width is no whole number.
        """
        width = check_count(width, "bytes of a row")
        members = self._members(among)
        sent_bytes = self._sent_bytes()
        for to, count, part in self._iter_parts(parts):
            self._check_node(to)
            if members is not None and to not in members:
                raise Error(f"node {to} does not take part in the exchange", remedy="name it in `among`")
            sent_bytes[to] += count * width if width and count is not None else size(part)
            if to != self.number and count:
                self._count("pack", count)
        return self._create_superstep("exchange", parts, members=members, size_of=0)

    def answer(self, rows: Array, *, width: int = 0) -> None:
        """Send rows to the client, as part of the answer. They count as operations `pack`.

        Raises:
            Error: The width is no whole number.
        """
        width = check_count(width, "bytes of a row")
        self._sent_bytes()[self.nodes] += len(rows) * width if width else size(rows)
        self._count("pack", len(rows))

    def all_gather(self, value: Any, *, among: Iterable[int] | None = None) -> Superstep:
        """A collective, to be yielded: all members get a list of the values of all."""
        return self._create_superstep("all-gather", value, among=among)

    def gather(self, value: Any, *, root: int | None = None, among: Iterable[int] | None = None) -> Superstep:
        """A collective, to be yielded: the node `root`, by default the first, gets a list of all values."""
        return self._create_superstep("gather", value, root=root, among=among)

    def broadcast(
        self, value: Any = None, *, root: int | None = None, among: Iterable[int] | None = None
    ) -> Superstep:
        """A collective, to be yielded: all members get the value of the node `root`, by default the first."""
        superstep_root = self._first_member(among) if root is None else root
        contribution = value if superstep_root == self.number else None
        return self._create_superstep("broadcast", contribution, root=superstep_root, among=among)

    def reduce(
        self,
        value: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        *,
        root: int | None = None,
        among: Iterable[int] | None = None,
    ) -> Superstep:
        """A collective, to be yielded: `root`, by default the first node, gets the sum of all values.

        With `combine`, a function of two values, they are combined by it in the order of members.
        """
        return self._create_superstep("reduce", value, root=root, among=among, combine=combine)

    def all_reduce(
        self,
        value: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        *,
        among: Iterable[int] | None = None,
    ) -> Superstep:
        """A collective, to be yielded: all members get the sum of all values.

        With `combine`, a function of two values, they are combined by it in the order of members.
        """
        return self._create_superstep("all-reduce", value, among=among, combine=combine)

    def barrier(self) -> Superstep:
        """A collective, to be yielded: all nodes wait for each other."""
        return self._create_superstep("barrier", None)

    def group(self, name: str, members: Iterable[int]) -> tuple[int, ...]:
        """Name a set of nodes in the record, so that a replay can give them other devices.

        Every node must name the same groups.
        """
        numbers = tuple(sorted(members))
        for number in numbers:
            self._check_node(number)
        self.log.groups[name] = numbers
        return numbers

    def _create_superstep(
        self,
        kind: str,
        value: Any,
        *,
        among: Iterable[int] | None = None,
        members: tuple[int, ...] | None = None,
        root: int | None = None,
        combine: Callable[[Any, Any], Any] | None = None,
        size_of: int | None = None,
    ) -> Superstep:
        """A superstep of the phase that the node is in, which the job has to yield."""
        caller_line = caller()
        if self.pending is not None:
            raise self.unyielded_error()
        assert self.step is not None
        members = members if members is not None else self._members(among)
        root_index: int | None = None
        if kind in ("gather", "broadcast", "reduce"):
            participants = members if members is not None else tuple(range(self.nodes))
            self._check_node(root := participants[0] if root is None else root)
            if root not in participants:
                raise Error(f"node {root} does not take part", remedy="let a node of `among` be the root")
            root_index = participants.index(root)
        contributed_bytes = size(value) if size_of is None else size_of
        request = SuperstepRequest(
            kind, self.current_phase, members, root_index, contributed_bytes, caller_line
        )
        self.pending = Superstep(request, value, combine)
        return self.pending

    def count_received(self, rows: int) -> None:
        """Count rows that arrived from other nodes."""
        if rows:
            self._count("unpack", rows)

    def unyielded_error(self) -> Error:
        """The error about a superstep that the job created and did not yield."""
        assert self.pending is not None
        return Error(
            f"the {self.pending.request} was not yielded", remedy="write: came = yield node.exchange(...)"
        )

    def _members(self, among: Iterable[int] | None) -> tuple[int, ...] | None:
        """The nodes that take part, in order; None for all nodes."""
        if among is None:
            return None
        members = tuple(sorted(set(among)))
        for number in members:
            self._check_node(number)
        if self.number not in members:
            raise Error(
                f"node {self.number} is not in `among` of the superstep that it starts",
                remedy="yield it on the nodes of `among` only",
            )
        return members if len(members) < self.nodes else None

    def _first_member(self, among: Iterable[int] | None) -> int:
        return 0 if among is None else min(among)

    def _check_node(self, number: int) -> None:
        if not 0 <= number < self.nodes:
            raise Error(f"there is no node {number}", remedy=f"nodes are numbered 0 to {self.nodes - 1}")

    def _sent_bytes(self) -> Array:
        """Bytes that the node sends in its phase: to each node and, last, to the client."""
        step = self.step
        if step.sends is None:
            step.sends = np.zeros(self.nodes + 1, dtype=np.int64)
        return step.sends

    def _iter_parts(self, parts: NodeParts | Mapping[int, Any]) -> Iterator[tuple[int, int | None, Any]]:
        """Each destination, with the number of its rows (None for other values) and the value it gets."""
        if isinstance(parts, NodeParts):
            counts = parts.counts()
            for destination in np.flatnonzero(counts).tolist():
                yield destination, int(counts[destination]), parts[destination]
        else:
            for destination, part in parts.items():
                yield destination, row_count(part), part

    def rounds(self, file: str, *, memory: int = 0) -> Superstep:
        """A superstep, to be yielded: the number of blocks that the node with most of a file reads it in."""
        stored_file, start, blocks = self._find_file(file), 0, 0
        while start < stored_file.rows:
            start, blocks = stored_file.block_end(start, memory or self.memory), blocks + 1
        return self.all_reduce(blocks, max)
