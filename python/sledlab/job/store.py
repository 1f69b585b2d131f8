"""The store of a node: files of the data, and files that its job writes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.job.copies import CopyHolders, ReplicatedFile, copy_share
from sledlab.job.files import OutputFile, Rows
from sledlab.job.log import Access
from sledlab.job.phases import Phases, check_count
from sledlab.job.superstep import NodeParts
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sledlab.job.files import Array, SharedFile, StoredFile

ORDERS = ("sequential", "random", "merge", "streams")


class Store(Phases):
    """The files on the store of a node; bytes read and written are counted.

    Attributes:
        number: Number of the node, from 0.
        nodes: Number of nodes.
    """

    def __init__(
        self,
        number: int,
        nodes: int,
        scratch: Path,
        memory: int,
        *,
        measured: bool,
        share: CopyHolders | None = None,
    ) -> None:
        super().__init__(memory, measured=measured)
        self.number = number
        self.nodes = nodes
        self._files: dict[str, StoredFile] = {}
        self._shared: Mapping[str, SharedFile] = {}
        self._scratch = scratch
        self._share = share
        self._places = 0

    def add_files(self, files: Mapping[str, StoredFile]) -> None:
        """Puts files on the node's store, before the job begins."""
        self._files.update({name: self._with_copies(stored) for name, stored in files.items()})

    def _with_copies(self, stored: StoredFile) -> StoredFile:
        """A file of the data, with the copies of all nodes that hold the share."""
        return (
            stored if self._share is None else copy_share(stored, self._share, self._copy_paths(self._share))
        )

    def _copy_paths(self, share: CopyHolders) -> dict[int, Path]:
        """A fresh path for a file on each node that holds the share."""
        self._places += 1
        return {
            holder: self._scratch / f"node-{holder}" / f"{self.number}-{self._places}"
            for holder in share.holders
        }

    def shares(self, files: Mapping[str, SharedFile]) -> None:
        """Puts the node's part of each shared file on its store, before the job begins."""
        self._shared = files
        self.add_files({name: shared.part(self.number, self.nodes) for name, shared in files.items()})

    def place(self, file: str, among: Iterable[int]) -> None:
        """Declares that only the nodes `among` share a file of the data; called before the file is read.

        Every node must declare the same.

        Raises:
            Error: The data have no such file.
        """
        if file not in self._shared:
            raise unknown("file of the data", file, list(self._shared))
        members = sorted(set(among))
        place, parts = (members.index(self.number), len(members)) if self.number in members else (0, 0)
        full = self._shared[file]
        part = full.part(place, parts) if parts else Rows(np.empty(0, np.uint8), full.width)
        self._files[file] = self._with_copies(part)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files on the node's store."""
        return tuple(self._files)

    def _file(self, name: str) -> StoredFile:
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
            file: Name of the file.
            columns: Columns to carry; complete rows are read nevertheless.
            order: `sequential`, `random`, `merge` or `streams`; see docs/work.md.
            runs: Number of runs or streams that are read in turn.
            per_block_of: The outer file of a nested loop, for each block of which this file is read again.
        """
        check_word("order", order, ORDERS)
        runs = check_count(runs, "runs")
        if per_block_of:
            self._file(per_block_of)
        stored = self._file(file)
        self.log.files.setdefault(file, stored.row_bytes(0, stored.rows))
        access = Access(file, order, runs, per_block_of)
        again = next(
            (each for each in self.step.reads if per_block_of and _is_same_access(each, access)), None
        )
        if again is None:
            self.step.reads.append(access)
        return Reader(self, stored, again or access, columns)

    def read(
        self, file: str, columns: Sequence[str] = (), *, rounds: int = 0, memory: int = 0
    ) -> Iterator[Any]:
        """Reads a file from its beginning to its end, in blocks that fit into memory.

        Args:
            file: Name of the file.
            columns: Columns to carry; complete rows are read nevertheless.
            rounds: Fewest blocks; empty ones follow, for nodes that read in step with others.
            memory: Bytes of a block on the store, if not the node's memory.
        """
        return self.open(file, columns).blocks(memory or self.memory, rounds)

    def write(self, file: str, rows: Array | NodeParts, *, width: int = 0, streams: int = 0) -> None:
        """Appends rows to a file, which is made if it does not exist.

        Args:
            file: Name of the file.
            rows: An array, or the result of `split`, which is written destination by destination.
            width: Bytes of a row on the store, where rows in memory carry fewer; an existing file keeps its
                width.
            streams: Number of streams that are written in turn, each with an open page.

        Raises:
            Error: The file is part of the data, or has rows of another kind or width; or the width or the
                number of streams is no whole number.
        """
        width, streams = check_count(width, "bytes of a row"), check_count(streams, "streams")
        order = "streams" if streams else "sequential"
        array = rows.rows if isinstance(rows, NodeParts) else np.asarray(rows)
        stored = self._writable(file, array, width)
        step = self.step
        access = Access(file, order, streams)
        writing = next((each for each in step.writes if _is_same_access(each, access)), None)
        if writing is None:
            step.writes.append(writing := access)
        with self.pause():
            stored.append(array, rows.ends if isinstance(rows, NodeParts) else None)
        writing.bytes += len(array) * stored.width
        self.log.files[file] = max(self.log.files[file], stored.rows * stored.width)

    def _writable(self, file: str, array: Array, width: int) -> OutputFile:
        """The file that rows are appended to, made if it does not exist.

        Raises:
            Error: The file is part of the data, or has rows of another kind or width.
        """
        if file not in self._files:
            each = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            self._files[file] = self._new(array.dtype, array.shape[1:], width or each)
            self.log.files[file] = 0
        stored = self._files[file]
        if not isinstance(stored, OutputFile):
            raise Error(f"`{file}` is part of the data", remedy="write to a file of another name")
        if (stored.dtype, stored.shape) != (array.dtype, array.shape[1:]) or width not in (0, stored.width):
            raise Error(
                f"rows of `{file}` are of another kind or width", remedy="write to a file of another name"
            )
        return stored

    def _new(self, dtype: Any, shape: tuple[int, ...], width: int) -> OutputFile:
        """A new file, with a copy on each node that holds the share."""
        if self._share is None:
            path = self._scratch / f"{self.number}-{len(self._files)}-{len(self.log.files)}"
            return OutputFile(path, dtype, shape, width)
        copies = {}
        for holder, path in self._copy_paths(self._share).items():
            path.parent.mkdir(exist_ok=True)
            copies[holder] = OutputFile(path, dtype, shape, width)
        return ReplicatedFile(copies, self._share)

    def remove(self, file: str) -> None:
        """Removes a file that the job wrote, which frees its room."""
        stored = self._file(file)
        if isinstance(stored, OutputFile):
            stored.remove()
            del self._files[file]

    def file(self, file: str) -> StoredFile:
        """A file as the answer of a job: `return node.file("sorted")`."""
        return self._file(file)


class Reader:
    """A file that a node reads; bytes read are counted. Made by `Node.open`."""

    def __init__(self, store: Store, stored: StoredFile, access: Access, columns: Sequence[str]) -> None:
        self._store = store
        self._stored = stored
        self._access = access
        self._columns = columns
        self._phase = store.begun

    def __len__(self) -> int:
        """Number of rows."""
        return self._stored.rows

    def rows(self, start: int, stop: int) -> Any:
        """Reads rows `start` to `stop`.

        Raises:
            Error: The file has fewer rows.
        """
        if not 0 <= start <= stop <= self._stored.rows:
            raise Error(
                f"rows {start:,} to {stop:,} of `{self._access.file}` are requested, "
                f"which has {self._stored.rows:,}",
                remedy="read no further than the file's end: `len(reader)`",
            )
        self._count(self._stored.row_bytes(start, stop))
        with self._store.pause():
            return self._stored.span(start, stop, self._columns)

    def _count(self, bytes_read: int) -> None:
        """Counts bytes read, in the phase that the node is in.

        An access has at most the bytes of the file: rows that are read again make another access. But the
        inner file of a nested loop, read for every block of the outer one, is recorded once.
        """
        if self._phase != self._store.begun:
            self._begin_access()
        room = self._stored.row_bytes(0, self._stored.rows) - self._access.bytes
        self._access.bytes += min(room, bytes_read)
        if bytes_read > room and not self._access.per_block_of:
            self._begin_access()
            self._count(bytes_read - room)

    def _begin_access(self) -> None:
        """Begins another access of the same kind, in the current phase."""
        self._phase = self._store.begun
        self._access = replace(self._access, bytes=0)
        self._store.step.reads.append(self._access)

    def stream(self, number: int) -> Any:
        """Reads all rows of a stream at once."""
        assert isinstance(self._stored, OutputFile)
        return np.concatenate([self.rows(start, stop) for start, stop in self._stored.pieces(number)])

    def __iter__(self) -> Iterator[Any]:
        """All rows, in blocks that fit into the node's memory."""
        return self.blocks(self._store.memory)

    def blocks(self, memory: int, rounds: int = 0) -> Iterator[Any]:
        """All rows, in blocks of at most `memory` bytes on the store, but one row at least.

        With `rounds`, empty blocks follow up to that number: for nodes that read in step with others.
        """
        start = done = 0
        while start < self._stored.rows or done < rounds:
            stop = self._stored.block_end(start, memory) if start < self._stored.rows else start
            yield self.rows(start, stop)
            start, done = stop, done + 1


def check_word(what: str, word: str, among: Sequence[str]) -> None:
    """Refuses a word that is not one of `among`."""
    if word not in among:
        raise unknown(what, word, among)


def _is_same_access(one: Access, other: Access) -> bool:
    """Whether both accesses agree in all but their bytes."""
    return (one.file, one.order, one.runs, one.per_block_of) == (
        other.file,
        other.order,
        other.runs,
        other.per_block_of,
    )
