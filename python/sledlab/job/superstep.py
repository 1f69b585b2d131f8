"""Supersteps: a job yields one, and resumes when all nodes that take part have yielded theirs.

Nodes in one process and ranks of MPI share these rules: which supersteps are complete, and which nodes wait
for which.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.files import Transactions
from sledlab.job.log import Collective
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.job.files import Array


class NodeParts:
    """Rows for each node, made by `Node.split`."""

    def __init__(self, rows: Array, to: Array, nodes: int) -> None:
        # NumPy sorts integers of at most 16 bits by radix.
        destinations = np.asarray(to, dtype=np.uint16 if nodes <= 1 << 16 else np.uint32)
        self.rows = rows[np.argsort(destinations, kind="stable")]
        self.ends = np.cumsum(np.bincount(destinations, minlength=nodes))

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.ends)

    def __getitem__(self, node: int) -> Array:
        """Rows for a node."""
        result: Array = self.rows[self.ends[node - 1] if node else 0 : self.ends[node]]
        return result

    def counts(self) -> Array:
        """Number of rows for each node."""
        result: Array = np.diff(self.ends, prepend=0)
        return result


@dataclass(frozen=True)
class SuperstepRequest:
    """A superstep that a node requests, without the values it brings: the part that other nodes must know.

    Attributes:
        kind: `exchange`, or a kind of collective of docs/work.md.
        phase: The phase it belongs to.
        members: Nodes that take part, in order; None for all.
        root: The member that sends or receives, by its place among members; None where all do.
        bytes: Bytes that the node brings.
        location: File and line of the job that created it.
    """

    kind: str
    phase: str
    members: tuple[int, ...] | None
    root: int | None
    bytes: int
    location: str

    @property
    def key(self) -> tuple[str, str, tuple[int, ...] | None, int | None]:
        """The part of a superstep on which all members must agree."""
        return self.kind, self.phase, self.members, self.root

    def __str__(self) -> str:
        """The superstep as error messages name it."""
        return f"{self.kind} in phase `{self.phase}` ({self.location})"


@dataclass(frozen=True, eq=False)
class Superstep:
    """A superstep with the values the node brings; made by a method of `Node`, yielded by the job."""

    request: SuperstepRequest
    contribution: Any = None
    combine: Callable[[Any, Any], Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Call:
    """A superstep that all its members have yielded."""

    request: SuperstepRequest
    members: tuple[int, ...]
    bytes: tuple[int, ...]

    @property
    def kind(self) -> str:
        """`exchange`, or a kind of collective."""
        return self.request.kind

    def collective(self) -> Collective | None:
        """The collective for the record; None for an exchange, whose bytes are in the steps of its nodes."""
        if self.kind == "exchange":
            return None
        return Collective(self.request.phase, self.kind, self.members, self.bytes, self.request.root)


def complete_calls(requests: Sequence[SuperstepRequest | None]) -> list[Call]:
    """The supersteps that are complete; `requests` holds that of each node, None where its job has ended.

    Raises:
        Error: No node can continue: nodes wait for each other, or for one whose job has ended.
    """
    nodes_by_key: dict[Any, list[int]] = {}
    for node, request in enumerate(requests):
        if request is not None:
            nodes_by_key.setdefault(request.key, []).append(node)
    all_nodes = tuple(range(len(requests)))
    calls = []
    for nodes in nodes_by_key.values():
        first_request = requests[nodes[0]]
        assert first_request is not None
        members = all_nodes if first_request.members is None else first_request.members
        if nodes == sorted(members):
            calls.append(
                Call(
                    first_request, members, tuple(_contributed_bytes(requests[member]) for member in members)
                )
            )
    if not calls:
        raise _deadlock_error(requests, list(nodes_by_key.values()))
    return calls


def _contributed_bytes(request: SuperstepRequest | None) -> int:
    return request.bytes if request is not None else 0


def _deadlock_error(requests: Sequence[SuperstepRequest | None], groups: Sequence[Sequence[int]]) -> Error:
    """The error about nodes that wait for ever: for each other, or for one whose job has ended."""
    waits = []
    for nodes in groups[:3]:
        first_request = requests[nodes[0]]
        assert first_request is not None
        members = range(len(requests)) if first_request.members is None else first_request.members
        absent = [node for node in members if node not in nodes]
        reason = (
            "ended"
            if all(requests[node] is None for node in absent)
            else "yielded another superstep, or ended"
        )
        waits.append(f"{_node_names(nodes)} in {first_request} for {_node_names(absent)}, which {reason}")
    return Error(
        f"the job is deadlocked: {'; '.join(waits)}",
        remedy="let every node yield the same exchanges and collectives in the same order and phase",
    )


def _node_names(nodes: Sequence[int]) -> str:
    """Nodes in words.

    Examples:
        >>> _node_names([3]), _node_names([1, 2]), _node_names([0, 1, 2, 3])
        ('node 3', 'nodes 1 and 2', 'nodes 0, 1 and 2 more')
    """
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    if len(nodes) == 2:
        return f"nodes {nodes[0]} and {nodes[1]}"
    return f"nodes {nodes[0]}, {nodes[1]} and {len(nodes) - 2} more"


def row_count(part: Any) -> int | None:
    """Number of rows or transactions of a value that is sent; None for any other value."""
    return len(part) if isinstance(part, np.ndarray | Transactions) else None


def is_row_exchange(contributions: Sequence[Any]) -> bool:
    """Whether nodes exchange rows, split by destination, not dicts of values.

    Raises:
        Error: Some nodes bring rows, and others a dict.
    """
    are_rows = {isinstance(contribution, NodeParts) for contribution in contributions}
    if len(are_rows) > 1:
        raise mixed_exchange_error()
    return are_rows == {True}


def mixed_exchange_error() -> Error:
    """The error about an exchange to which some nodes bring rows and others a dict."""
    remedy = "pass the result of `split` on all nodes, or a dict on all nodes"
    return Error("some nodes exchange rows and others not", remedy=remedy)


def snapshot(value: Any) -> Callable[[], Any]:
    """A function that returns a node's value as it is now; no receiver can change it for another.

    Arrays are shared, read-only; any other value is copied for each receiver.
    """
    if value is None or isinstance(value, Transactions):
        return lambda: value
    if isinstance(value, np.ndarray):
        frozen_copy = freeze(value.copy())
        return lambda: frozen_copy
    pickled = pickle.dumps(value)
    return lambda: pickle.loads(pickled)


def freeze(value: Any) -> Any:
    """The value itself; an array becomes read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


def combine_values(superstep: Superstep, values: Sequence[Any]) -> Any:
    """The sum of values, or the superstep's combination of them two at a time, in the order of members.

    Raises:
        Error: The values cannot be combined.
    """
    try:
        return reduce(superstep.combine or add, values)
    except Exception as error:
        raise Error(f"{superstep.request} cannot combine values: {type(error).__name__}: {error}") from error


def size(value: Any) -> int:
    """Bytes of a value on the wire: arrays, text, plain numbers (8 each), and collections of these.

    Examples:
        >>> size(np.zeros(3, dtype=np.uint16)), size({"a": 1, "bc": [2.0, None]}), size(b"1234")
        (6, 19, 4)
    """
    if value is None:
        return 0
    if isinstance(value, bool | int | float | complex | np.generic):
        return 8
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes | bytearray):
        return len(value)
    if isinstance(value, dict):
        return sum(size(key) + size(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return sum(size(item) for item in value)
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    raise Error(
        f"the size of a {type(value).__name__} on the wire is unknown",
        remedy="send arrays, text, numbers, or lists and dicts of them",
    )
