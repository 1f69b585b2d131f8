"""Phases of a record in the making: reads, operations, sends and writes of every node in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sledlab.job.log import Access, Log, Step
from sledlab.job.sort import comparisons
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    import numpy

    Counts = numpy.ndarray[Any, Any]
    # The place of rows: shared evenly among nodes, on the first node, all of them on each, or at the client.
    Home = Literal["shared", "first", "each", "client"]


@dataclass
class FileUse:
    """A file that nodes read or write in a phase, with the bytes of each node."""

    file: str
    bytes: Counts
    order: str = "sequential"
    runs: int = 0


@dataclass
class QueryPhase:
    """Reads, writes, operations, sends and memory of all nodes in a phase.

    Attributes:
        name: Name of the phase.
        nodes: Number of nodes.
        reads: Files that nodes read.
        writes: Files that nodes write.
        operations: Operations of each node, by kind.
        sends: Bytes that each node sends to each other one and, last, to the client.
        memory: Bytes that a node holds for this phase.
        common_table_bytes: Bytes of common tables that a node holds for later phases.
    """

    name: str
    nodes: int
    reads: list[FileUse] = field(default_factory=list)
    writes: list[FileUse] = field(default_factory=list)
    operations: dict[str, Counts] = field(default_factory=dict)
    sends: Counts | None = None
    memory: int = 0
    common_table_bytes: int = 0

    def count_operations(self, kind: str, counts: Counts | int) -> None:
        """Add operations of a kind to those of each node."""
        totals = self.operations.setdefault(kind, np.zeros(self.nodes, dtype=np.int64))
        totals += counts

    def add_sends(self, rows: Counts, width: int) -> None:
        """Send rows: `rows` holds those of each node (row) for each node and, last, the client (column)."""
        sends = rows.copy()
        np.fill_diagonal(sends[:, : self.nodes], 0)
        if not sends.any():
            return
        self.count_operations("pack", sends.sum(axis=1))
        self.count_operations("unpack", sends[:, : self.nodes].sum(axis=0))
        sends *= width
        if self.sends is None:
            self.sends = sends
        else:
            self.sends += sends

    def record_memory(self, size: int) -> None:
        """Record that each node holds `size` bytes, besides buffers and common tables."""
        self.memory = max(self.memory, size)

    def step(self, node: int) -> Step:
        """The step of a node, for its log."""
        return Step(
            [_access(use, node) for use in self.reads],
            [_access(use, node) for use in self.writes],
            {kind: int(counts[node]) for kind, counts in self.operations.items()},
            None if self.sends is None else self.sends[node],
            self.memory + self.common_table_bytes,
        )


def _access(use: FileUse, node: int) -> Access:
    return Access(use.file, use.order, use.runs, bytes=int(use.bytes[node]))


@dataclass(frozen=True)
class Flow:
    """Rows on their way from one operator to the next.

    Attributes:
        rows: Number of rows, on all nodes together.
        width: Bytes of a row.
        home: The place of the rows.
        phase: The phase in which the rows are made, and in which the next operator can take them.
        table_bytes: Bytes of hash tables that each node has in memory in that phase.
    """

    rows: int
    width: int
    home: Home
    phase: QueryPhase
    table_bytes: int = 0


def sort_comparisons(rows: Counts) -> Counts:
    """Comparisons that each node needs to sort its rows."""
    return np.array([comparisons(count) for count in rows.tolist()], dtype=np.int64)


class QueryPhases:
    """The phases of a query on a number of nodes.

    Attributes:
        nodes: Number of nodes.
        free_bytes: Bytes of each node for hash tables and rows that wait for their phase.
        phases: The phases, in order.
        files: Bytes of each file on every node.
    """

    def __init__(self, nodes: int, memory: int) -> None:
        self.nodes = nodes
        self.free_bytes = memory
        self._memory = memory
        self.phases: list[QueryPhase] = []
        self.files: dict[str, Counts] = {}
        self._counts_by_name: dict[str, int] = {}

    def begin(self, base_name: str, *, is_numbered: bool = True) -> QueryPhase:
        """Begin a phase, named `NAME 1`, `NAME 2`; or, not numbered, `NAME`, `NAME 2`."""
        name = self._unique_name(base_name, is_numbered=is_numbered)
        phase = QueryPhase(name, self.nodes, common_table_bytes=self._memory - self.free_bytes)
        self.phases.append(phase)
        return phase

    def _unique_name(self, base_name: str, *, is_numbered: bool) -> str:
        number = self._counts_by_name[base_name] = self._counts_by_name.get(base_name, 0) + 1
        return f"{base_name} {number}" if is_numbered or number > 1 else base_name

    def spread_evenly(self, total: int) -> Counts:
        """`total` shared evenly among nodes; the first nodes have one more where it does not divide."""
        return total // self.nodes + (np.arange(self.nodes, dtype=np.int64) < total % self.nodes)

    def counts(self, flow: Flow) -> Counts:
        """Rows of a flow that each node works on; rows that all nodes have are shared."""
        return self.place_on_first(flow.rows) if flow.home == "first" else self.spread_evenly(flow.rows)

    def place_on_first(self, total: int) -> Counts:
        """`total` on the first node, 0 on the others."""
        counts = np.zeros(self.nodes, dtype=np.int64)
        counts[0] = total
        return counts

    def exchange_by_hash(self, counts: Counts) -> Counts:
        """Rows that nodes send each other when each row goes to the node of its hash: evenly, to the row."""
        ends = np.cumsum(counts)[:, None]
        remainders = np.arange(self.nodes, dtype=np.int64)[None, :]

        def preceding_rows(row: Counts) -> Counts:
            """Rows before `row` that go to each node: row k goes to node k modulo the number of nodes."""
            result: Counts = (row - remainders + self.nodes - 1) // self.nodes
            return result

        return self._add_client_column(preceding_rows(ends) - preceding_rows(ends - counts[:, None]))

    def gather_to_first(self, counts: Counts) -> Counts:
        """Rows sent when all go to the first node."""
        rows = np.zeros((self.nodes, self.nodes + 1), dtype=np.int64)
        rows[:, 0] = counts
        return rows

    def send_to_client(self, counts: Counts) -> Counts:
        """Rows sent when all go to the client."""
        rows = np.zeros((self.nodes, self.nodes + 1), dtype=np.int64)
        rows[:, -1] = counts
        return rows

    def broadcast(self, counts: Counts) -> Counts:
        """Rows sent when all go to every node."""
        return self._add_client_column(np.repeat(counts[:, None], self.nodes, axis=1))

    def _add_client_column(self, rows: Counts) -> Counts:
        return np.concatenate([rows, np.zeros((self.nodes, 1), dtype=np.int64)], axis=1)

    def partition(self, flow: Flow) -> None:
        """Send the rows of a flow to the nodes of their hashes, in the flow's phase.

        Where all nodes have all rows, each keeps those of its own hashes and none are sent.
        """
        if self.nodes > 1:
            counts = self.counts(flow)
            flow.phase.count_operations("hash", counts)
            if flow.home != "each":
                flow.phase.add_sends(self.exchange_by_hash(counts), flow.width)

    def scan_table(self, phase: QueryPhase, table: str, rows: Counts, size: int) -> None:
        """Read a table of `size` bytes; each node reads the bytes of its rows."""
        ends, total = np.cumsum(rows).tolist(), int(rows.sum())
        positions = np.array([size * end // max(1, total) for end in [0, *ends]], dtype=np.int64)
        self.files[table] = np.diff(positions)
        phase.reads.append(FileUse(table, self.files[table]))

    def write(self, phase: QueryPhase, rows: Counts, width: int, name: str, *, streams: int = 0) -> str:
        """Write rows that do not fit into memory, in `streams` streams if any; return the file's name."""
        file = self._unique_name(f"spill {name}", is_numbered=False)
        self.files[file] = rows * width
        order = ("streams", streams) if streams > 1 else ("sequential", 0)
        phase.writes.append(FileUse(file, self.files[file], *order))
        return file

    def read_back(self, phase: QueryPhase, file: str, *, runs: int = 0) -> None:
        """Read a file that was spilled, merging `runs` runs if any."""
        order = ("merge", runs) if runs > 1 else ("sequential", 0)
        phase.reads.append(FileUse(file, self.files[file], *order))

    def hold_rows(self, flow: Flow, rows: Counts, phase: QueryPhase, *, streams: int = 0) -> bool:
        """Let rows wait for a later phase, in memory or on the stores; whether they wait on the stores."""
        size = int(rows.max(initial=0)) * flow.width
        if size <= self.free_bytes and not streams:
            phase.record_memory(size)
            return False
        self.read_back(phase, self.write(flow.phase, rows, flow.width, phase.name, streams=streams))
        return True

    def logs(self) -> list[Log]:
        """The log of each node."""
        return [
            Log(
                {phase.name: phase.step(node) for phase in self.phases},
                {name: int(size[node]) for name, size in self.files.items()},
            )
            for node in range(self.nodes)
        ]
