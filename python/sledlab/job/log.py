"""Logs of nodes, in counts and bytes, and the lines of a work record made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy


@dataclass
class Access:
    """An access to a file that a step reads or writes; see docs/work.md."""

    file: str
    order: str = "sequential"
    runs: int = 0
    per_block_of: str = ""
    bytes: int = 0

    def to_record(self) -> dict[str, Any]:
        """The access as a work record holds it."""
        record: dict[str, Any] = {"file": self.file, "bytes": self.bytes}
        if self.order != "sequential":
            record["order"] = self.order
        if self.runs:
            record["runs"] = self.runs
        if self.per_block_of:
            record["per_block_of"] = self.per_block_of
        return record


@dataclass
class Step:
    """Reads, writes, operations, sends and memory of a node in a phase.

    `sends` holds bytes for each node and, last, for the client.
    """

    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    sends: numpy.ndarray[Any, Any] | None = None
    memory: int = 0

    def to_record(self) -> dict[str, Any]:
        """The step as a work record holds it, without phase and node; empty for a node that did nothing."""
        record: dict[str, Any] = {}
        for name, accesses in (("reads", self.reads), ("writes", self.writes)):
            if access_records := [access.to_record() for access in accesses if access.bytes]:
                record[name] = access_records
        if nonzero_operations := {kind: count for kind, count in self.operations.items() if count}:
            record["operations"] = nonzero_operations
        if self.sends is not None and self.sends.any():
            record["sends"] = self.sends.tolist()
        if self.memory:
            record["memory"] = self.memory
        return record


@dataclass
class Log:
    """Everything that one node did: its steps by phase, the sizes of its files, and the groups it named."""

    steps: dict[str, Step] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collective:
    """A collective of a group of nodes. `bytes` holds the bytes that each member contributed."""

    phase: str
    kind: str
    members: tuple[int, ...]
    bytes: tuple[int, ...]
    root: int | None

    def to_record(self, nodes: int) -> dict[str, Any]:
        """The collective as a work record of `nodes` nodes holds it."""
        record: dict[str, Any] = {"phase": self.phase, "collective": self.kind}
        if self.kind == "broadcast":
            record["bytes"] = max(self.bytes)
        elif self.kind != "barrier":
            record["bytes"] = self.bytes[0] if len(set(self.bytes)) == 1 else list(self.bytes)
        if len(self.members) < nodes:
            record["group"] = list(self.members)
        if self.root:
            record["root"] = self.root
        return record


def record(header: Mapping[str, Any], logs: Sequence[Log], collectives: Sequence[Collective]) -> bytes:
    """The text of a work record: a header with files and groups, then steps and collectives phase by phase.

    Raises:
        Error: Nodes pass their phases in orders that contradict each other, or name groups differently.
    """
    collectives_by_phase: dict[str, list[dict[str, Any]]] = {}
    for collective in collectives:
        collectives_by_phase.setdefault(collective.phase, []).append(collective.to_record(len(logs)))
    lines = [json.dumps({**header, "files": _files(logs), "groups": _groups(logs)})]
    for phase in _phases(logs):
        lines += (json.dumps(line) for line in _steps(phase, logs))
        lines += (json.dumps(line) for line in collectives_by_phase.get(phase, []))
    return "\n".join([*lines, ""]).encode()


def _steps(phase: str, logs: Sequence[Log]) -> Iterator[dict[str, Any]]:
    """The steps of all nodes in a phase, without nodes that do nothing in it."""
    for node, log in enumerate(logs):
        if phase in log.steps and (step_record := log.steps[phase].to_record()):
            yield {"phase": phase, "node": node, **step_record}


def _phases(logs: Sequence[Log]) -> list[str]:
    """All phases, in an order that agrees with that of every node; a node may lack phases of others."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for log in logs:
        previous: str | None = None
        for phase in log.steps:
            sorter.add(phase, *([previous] if previous is not None else []))
            previous = phase
    try:
        return list(sorter.static_order())
    except CycleError as error:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(error.args[1]))
        raise Error(
            f"nodes pass the phases {names} in different orders",
            remedy="let every node go through its phases in one order; number phases that repeat: `pass 1`",
        ) from error


def _files(logs: Sequence[Log]) -> dict[str, list[int]]:
    """Bytes of every file on each node."""
    names = dict.fromkeys(name for log in logs for name in log.files)
    return {name: [log.files.get(name, 0) for log in logs] for name in names}


def _groups(logs: Sequence[Log]) -> dict[str, list[int]]:
    """Members of every group that has a name."""
    members_by_group: dict[str, tuple[int, ...]] = {}
    for log in logs:
        for name, members in log.groups.items():
            if members_by_group.setdefault(name, members) != members:
                raise Error(
                    f"nodes disagree on the members of the group `{name}`",
                    remedy="name the same members on every node",
                )
    return {name: list(members) for name, members in members_by_group.items()}
