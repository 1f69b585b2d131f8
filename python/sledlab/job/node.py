"""A node as its job sees it: its part of the data, what it reads, writes, counts and sends."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.job.files import Rows, Written
from sledlab.job.guard import caller
from sledlab.job.log import Access, Log, Step
from sledlab.job.superstep import Asked, Parts, Superstep, rows_in, size
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy

    from sledlab.job.files import Array, Shared, Stored

MEASURED = "measured-ns"
"""The kind of operation of which the measured mode counts one for every ns of this machine's processor."""

ORDERS = ("sequential", "random", "merge", "streams")


class Reader:
    """A file that a node reads; what is read is counted. Made by `Node.open`."""

    def __init__(self, node: Node, stored: Stored, access: Access, columns: Sequence[str]) -> None:
        self._node = node
        self._stored = stored
        self._access = access
        self._columns = columns
        self._phase = node.begun

    def __len__(self) -> int:
        """Number of rows."""
        return self._stored.rows

    def rows(self, start: int, stop: int) -> Any:
        """Reads rows `start` to `stop`.

        Raises:
            Error: The file ends before.
        """
        if not 0 <= start <= stop <= self._stored.rows:
            raise Error(
                f"rows {start:,} to {stop:,} of `{self._access.file}` are asked for, "
                f"which has {self._stored.rows:,}",
                remedy="read no further than the file's end: `len(reader)`",
            )
        self._count(self._stored.bytes_of(start, stop))
        with self._node.aside():
            return self._stored.span(start, stop, self._columns)

    def _count(self, bytes_read: int) -> None:
        """Counts what is read, in the phase that the node is in.

        No access has more than the file: what is read again is another one. A record says only once that the
        inner file of a nested loop is read for every block of the outer one.
        """
        if self._phase != self._node.begun:
            self._begin_access()
        room = self._stored.bytes_of(0, self._stored.rows) - self._access.bytes
        self._access.bytes += min(room, bytes_read)
        if bytes_read > room and not self._access.per_block_of:
            self._begin_access()
            self._count(bytes_read - room)

    def _begin_access(self) -> None:
        """Another access of the same kind."""
        self._phase = self._node.begun
        self._access = replace(self._access, bytes=0)
        self._node.step.reads.append(self._access)

    def stream(self, number: int) -> Any:
        """Reads the rows of a stream, all at once."""
        assert isinstance(self._stored, Written)
        return np.concatenate([self.rows(start, stop) for start, stop in self._stored.pieces(number)])

    def __iter__(self) -> Iterator[Any]:
        """All rows, in blocks that fit into the node's memory."""
        return self.blocks(self._node.memory)

    def blocks(self, memory: int, rounds: int = 0) -> Iterator[Any]:
        """All rows, in blocks of at most so many bytes on the store, and one row at least.

        With `rounds`, empty blocks follow until there are so many: for nodes that read in step with others.
        """
        start = done = 0
        while start < self._stored.rows or done < rounds:
            stop = self._stored.within(start, memory) if start < self._stored.rows else start
            yield self.rows(start, stop)
            start, done = stop, done + 1


class Node:
    """A node of a cluster, as the job that runs on it sees it.

    A job is a generator function of a node. It reads the node's part of the data, says what it does, and
    yields what nodes do together; the value of a `yield` is what comes of it.

    Attributes:
        number: Which node it is, counted from 0.
        nodes: How many there are.
        memory: Bytes that the job may hold.
        random: Random numbers of this node's own.
    """

    def __init__(
        self,
        number: int,
        nodes: int,
        scratch: Path,
        *,
        memory: int,
        seed: int = 1,
        measured: bool = False,
    ) -> None:
        self.number = number
        self.nodes = nodes
        self.memory = memory
        self.random: numpy.random.Generator = np.random.Generator(np.random.PCG64([seed, number]))
        self.log = Log()
        """What it has done."""
        self.asked: Superstep | None = None
        """What it asks for and has not yielded yet."""
        self.begun: str = ""
        """The phase that it is in."""
        self._files: dict[str, Stored] = {}
        self._shared: Mapping[str, Shared] = {}
        self._scratch = scratch
        self._clock = Clock() if measured else None

    # Phases and operations

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Begins a phase, which lasts until the next one begins; `with` may stand before, for the looks.

        Nodes wait for each other at its end.

        Raises:
            Error: The phase was there before another one.
        """
        if name != self.begun:
            if name in self.log.steps:
                raise Error(
                    f"the phase `{name}` was there before `{self.begun}`",
                    remedy="number phases that repeat: `pass 1`, `pass 2`",
                )
            self.lap()
            self.log.steps[name] = Step()
            self.begun = name
        return nullcontext()

    @property
    def step(self) -> Step:
        """What it does in the phase that it is in.

        Raises:
            Error: It is in none.
        """
        if not self.begun:
            raise Error("no phase has begun", remedy='begin one first: node.phase("name")')
        return self.log.steps[self.begun]

    def does(self, **operations: int) -> None:
        """Counts operations by kind, such as `tuple=1000`; what each takes, the replay decides.

        In the measured mode the processor's time is taken instead, but for `pack` and `unpack`.

        Raises:
            Error: A count is negative.
        """
        for kind, count in operations.items():
            if count < 0:
                raise Error(f"{count:,} operations `{kind}` cannot be done", remedy="count from 0")
            if self._clock is None or kind in ("pack", "unpack"):
                self._count(kind.replace("_", "-"), count)

    def _count(self, kind: str, count: int) -> None:
        """Counts operations of a kind."""
        operations = self.step.operations
        operations[kind] = operations.get(kind, 0) + int(count)

    def holds(self, memory: int) -> None:
        """Says that so many bytes are held in memory at once in this phase, besides buffers.

        Raises:
            Error: The node has less.
        """
        if memory > self.memory:
            raise Error(
                f"{memory:,} bytes are to be held in memory, and the node has {self.memory:,}",
                remedy="work in smaller pieces, or give nodes more memory: --memory-mb",
            )
        self.step.memory = max(self.step.memory, int(memory))

    # Files

    def has(self, files: Mapping[str, Stored]) -> None:
        """Puts files on its store, at the beginning."""
        self._files.update(files)

    def shares(self, files: Mapping[str, Shared]) -> None:
        """Puts its part of what all nodes share on its store, at the beginning."""
        self._shared = files
        self.has({name: shared.part(self.number, self.nodes) for name, shared in files.items()})

    def place(self, file: str, among: Iterable[int]) -> None:
        """Says that a file of the data lies on some nodes only, which share it; before it is read.

        Every node says the same.

        Raises:
            Error: It is no such file.
        """
        if file not in self._shared:
            raise unknown("file of the data", file, list(self._shared))
        members = sorted(set(among))
        place, parts = (members.index(self.number), len(members)) if self.number in members else (0, 0)
        whole = self._shared[file]
        self._files[file] = whole.part(place, parts) if parts else Rows(np.empty(0, np.uint8), whole.width)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files on its store."""
        return tuple(self._files)

    def _file(self, name: str) -> Stored:
        if name not in self._files:
            raise unknown("file", name, self.files)
        return self._files[name]

    def count(self, file: str) -> int:
        """Number of rows of a file."""
        return self._file(file).rows

    def width(self, file: str) -> int:
        """Bytes of a row of a file on the store."""
        return self._file(file).width

    def open(
        self,
        file: str,
        columns: Sequence[str] = (),
        *,
        order: str = "sequential",
        runs: int = 0,
        per_block_of: str = "",
    ) -> Reader:
        """Opens a file to read it.

        Args:
            file: Its name.
            columns: Which columns to carry; whole rows are read all the same.
            order: `sequential`, `random`, `merge` or `streams`; see docs/work.md.
            runs: How many runs or streams are read in turn.
            per_block_of: The outer file of a nested loop, for each block of which this one is read again.
        """
        known("order", order, ORDERS)
        if per_block_of:
            self._file(per_block_of)
        stored = self._file(file)
        self.log.files.setdefault(file, stored.bytes_of(0, stored.rows))
        access = Access(file, order, runs, per_block_of)
        again = next((each for each in self.step.reads if per_block_of and _same(each, access)), None)
        if again is None:
            self.step.reads.append(access)
        return Reader(self, stored, again or access, columns)

    def read(self, file: str, columns: Sequence[str] = (), *, rounds: int = 0) -> Iterator[Any]:
        """Reads a file from its beginning to its end, in blocks that fit into memory.

        With `rounds`, empty blocks follow until there are so many: for nodes that read in step with others.
        """
        return self.open(file, columns).blocks(self.memory, rounds)

    def rounds(self, file: str) -> Superstep:
        """In how many blocks the node with most of a file reads it, to be yielded."""
        stored, start, found = self._file(file), 0, 0
        while start < stored.rows:
            start, found = stored.within(start, self.memory), found + 1
        return self.all_reduce(found, max)

    def write(self, file: str, rows: Array | Parts, *, width: int = 0, streams: int = 0) -> None:
        """Appends rows to a file, which is made if there is none.

        Args:
            file: Its name.
            rows: An array; what `split` made is written destination by destination.
            width: Bytes of a row on the store, if rows carry less than that; those of the file if it exists.
            streams: How many streams are written in turn, a page of each open.

        Raises:
            Error: The file is part of the data, or has other rows.
        """
        order = "streams" if streams else "sequential"
        array = rows.rows if isinstance(rows, Parts) else np.asarray(rows)
        stored = self._writable(file, array, width)
        step = self.step
        access = Access(file, order, streams)
        writing = next((each for each in step.writes if _same(each, access)), None)
        if writing is None:
            step.writes.append(writing := access)
        with self.aside():
            stored.append(array, rows.ends if isinstance(rows, Parts) else None)
        writing.bytes += len(array) * stored.width
        self.log.files[file] = max(self.log.files[file], stored.rows * stored.width)

    def _writable(self, file: str, array: Array, width: int) -> Written:
        """The file that rows are appended to."""
        if file not in self._files:
            each = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            path = self._scratch / f"{self.number}-{len(self._files)}-{len(self.log.files)}"
            self._files[file] = Written(path, array.dtype, array.shape[1:], width or each)
            self.log.files[file] = 0
        stored = self._files[file]
        if not isinstance(stored, Written):
            raise Error(f"`{file}` is part of the data", remedy="write to a file of another name")
        if (stored.dtype, stored.shape) != (array.dtype, array.shape[1:]) or width not in (0, stored.width):
            raise Error(
                f"rows of `{file}` are of another kind or width", remedy="write to a file of another name"
            )
        return stored

    def remove(self, file: str) -> None:
        """Removes a file that the job wrote, to free its room."""
        stored = self._file(file)
        if isinstance(stored, Written):
            stored.remove()
            del self._files[file]

    def stored(self, file: str) -> Stored:
        """A file as the answer of a job: `return node.stored("sorted")`."""
        return self._file(file)

    # What nodes do together

    def split(self, rows: Array, to: Array, streams: int = 0) -> Parts:
        """Rows for each node, or for each of some streams; `to` holds its number for each row.

        Rows for one node keep their order.

        Raises:
            Error: There is no such node.
        """
        if len(to) != len(rows):
            raise Error(f"{len(rows):,} rows have {len(to):,} destinations", remedy="give each row one")
        for number in (int(to.min()), int(to.max())) if len(to) and not streams else ():
            self._exists(number)
        return Parts(rows, to, streams or self.nodes)

    def exchange(
        self, parts: Parts | Mapping[int, Any], *, width: int = 0, among: Iterable[int] | None = None
    ) -> Superstep:
        """All nodes send each other something, to be yielded.

        Rows that leave the node count as operations `pack`, rows that come as `unpack`.

        Args:
            parts: What `split` made, or something for each node that gets any.
            width: Bytes of a row on the wire, if rows carry less than that.
            among: Who takes part, if not all.

        Returns:
            To be yielded: the rows that came, by sender one after another; where `parts` is a dict, what each
            sender sent, by its number.

        Raises:
            Error: There is no such node, or it does not take part.
        """
        members = self._members(among)
        sends = self._sends()
        for to, count, part in self._each(parts):
            self._exists(to)
            if members is not None and to not in members:
                raise Error(f"node {to} does not take part in the exchange", remedy="name it in `among`")
            sends[to] += count * width if width and count is not None else size(part)
            if to != self.number and count:
                self._count("pack", count)
        return self._ask("exchange", parts, members=members, size_of=0)

    def answer(self, rows: Array, *, width: int = 0) -> None:
        """Sends rows to the client, as a part of the answer. They count as operations `pack`."""
        self._sends()[self.nodes] += len(rows) * width if width else size(rows)
        self._count("pack", len(rows))

    def all_gather(self, value: Any, *, among: Iterable[int] | None = None) -> Superstep:
        """All get a list of what each has, to be yielded."""
        return self._ask("all-gather", value, among=among)

    def gather(self, value: Any, *, root: int | None = None, among: Iterable[int] | None = None) -> Superstep:
        """The node `root`, the first unless said, gets a list of what each has; to be yielded."""
        return self._ask("gather", value, root=root, among=among)

    def broadcast(
        self, value: Any = None, *, root: int | None = None, among: Iterable[int] | None = None
    ) -> Superstep:
        """All get what the node `root` has, the first unless said; to be yielded."""
        superstep_root = self._first(among) if root is None else root
        mine = value if superstep_root == self.number else None
        return self._ask("broadcast", mine, root=superstep_root, among=among)

    def reduce(
        self,
        value: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        *,
        root: int | None = None,
        among: Iterable[int] | None = None,
    ) -> Superstep:
        """The node `root` gets the sum of what all have, or what `combine` makes of two; to be yielded."""
        return self._ask("reduce", value, root=root, among=among, combine=combine)

    def all_reduce(
        self,
        value: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        *,
        among: Iterable[int] | None = None,
    ) -> Superstep:
        """All get the sum of what all have, or what `combine` makes of two; to be yielded."""
        return self._ask("all-reduce", value, among=among, combine=combine)

    def barrier(self) -> Superstep:
        """All wait for each other; to be yielded."""
        return self._ask("barrier", None)

    def group(self, name: str, members: Iterable[int]) -> tuple[int, ...]:
        """Names a set of nodes in the record, so that replays can give them other devices.

        Every node names the same groups.
        """
        numbers = tuple(sorted(members))
        for number in numbers:
            self._exists(number)
        self.log.groups[name] = numbers
        return numbers

    def _ask(
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
        """A superstep of the phase that the node is in."""
        where = caller()
        if self.asked is not None:
            raise self.unyielded()
        assert self.step is not None
        members = members if members is not None else self._members(among)
        place: int | None = None
        if kind in ("gather", "broadcast", "reduce"):
            taking_part = members if members is not None else tuple(range(self.nodes))
            self._exists(root := taking_part[0] if root is None else root)
            if root not in taking_part:
                raise Error(f"node {root} does not take part", remedy="let a node of `among` be the root")
            place = taking_part.index(root)
        bytes_brought = size(value) if size_of is None else size_of
        asked = Asked(kind, self.begun, members, place, bytes_brought, where)
        self.asked = Superstep(asked, value, combine)
        return self.asked

    def takes_in(self, rows: int) -> None:
        """Counts rows that came from other nodes."""
        if rows:
            self._count("unpack", rows)

    def unyielded(self) -> Error:
        """The error about a superstep that was asked for and not yielded."""
        assert self.asked is not None
        return Error(
            f"the {self.asked.asked} was not yielded", remedy="write: came = yield node.exchange(...)"
        )

    def _members(self, among: Iterable[int] | None) -> tuple[int, ...] | None:
        """Who takes part, in order; None for all."""
        if among is None:
            return None
        members = tuple(sorted(set(among)))
        for number in members:
            self._exists(number)
        if self.number not in members:
            raise Error(
                f"node {self.number} asks for what only others take part in",
                remedy="yield it on the nodes of `among` only",
            )
        return members if len(members) < self.nodes else None

    def _first(self, among: Iterable[int] | None) -> int:
        return 0 if among is None else min(among)

    def _exists(self, number: int) -> None:
        if not 0 <= number < self.nodes:
            raise Error(f"there is no node {number}", remedy=f"nodes are numbered 0 to {self.nodes - 1}")

    def _sends(self) -> Array:
        """Bytes for each node and, last, for the client."""
        step = self.step
        if step.sends is None:
            step.sends = np.zeros(self.nodes + 1, dtype=np.int64)
        return step.sends

    def _each(self, parts: Parts | Mapping[int, Any]) -> Iterator[tuple[int, int | None, Any]]:
        """Who gets something, how many rows if there are rows, and what."""
        if isinstance(parts, Parts):
            counts = parts.counts()
            for to in np.flatnonzero(counts).tolist():
                yield to, int(counts[to]), parts[to]
        else:
            for to, part in parts.items():
                yield to, rows_in(part), part

    # Measured time

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leaves what happens within out of measured time: a replay gives times to stores and networks."""
        self.lap()
        try:
            yield
        finally:
            self.resume()

    def lap(self) -> None:
        """Charges the processor's time since the last call to the phase that the node is in."""
        if self._clock is not None:
            spent = self._clock.lap()
            if self.begun:
                self._count(MEASURED, spent)

    def resume(self) -> None:
        """Counts the processor's time from here on."""
        if self._clock is not None:
            self._clock.lap()


class Clock:
    """The time of the processor that runs jobs, in ns."""

    def __init__(self) -> None:
        self._last = time.process_time_ns()

    def lap(self) -> int:
        """Time since the last call."""
        now = time.process_time_ns()
        spent, self._last = now - self._last, now
        return spent


def known(what: str, word: str, among: Sequence[str]) -> None:
    """Refuses a word that is not among those known."""
    if word not in among:
        raise unknown(what, word, among)


def _same(one: Access, other: Access) -> bool:
    """Whether both are the same access but for their bytes."""
    return (one.file, one.order, one.runs, one.per_block_of) == (
        other.file,
        other.order,
        other.runs,
        other.per_block_of,
    )
