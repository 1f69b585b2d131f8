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
        measures_time: bool,
        share: CopyHolders | None = None,
    ) -> None:
        super().__init__(memory, measures_time=measures_time)
        self.number = number
        self.nodes = nodes
        self._files_by_name: dict[str, StoredFile] = {}
        self._shared_files_by_name: Mapping[str, SharedFile] = {}
        self._scratch = scratch
        self._share = share
        self._copy_count = 0

    def add_files(self, files: Mapping[str, StoredFile]) -> None:
        """Put files on the node's store, before the job begins."""
        self._files_by_name.update({name: self._with_copies(file) for name, file in files.items()})

    def _with_copies(self, file: StoredFile) -> StoredFile:
        """A file of the data, with the copies of all nodes that hold the share."""
        return file if self._share is None else copy_share(file, self._share, self._copy_paths(self._share))

    def _copy_paths(self, share: CopyHolders) -> dict[int, Path]:
        """A fresh path for a file on each node that holds the share."""
        self._copy_count += 1
        return {
            holder: self._scratch / f"node-{holder}" / f"{self.number}-{self._copy_count}"
            for holder in share.holders
        }

    def add_shared_files(self, files: Mapping[str, SharedFile]) -> None:
        """Put the node's part of each shared file on its store, before the job begins."""
        self._shared_files_by_name = files
        self.add_files(
            {name: shared_file.part(self.number, self.nodes) for name, shared_file in files.items()}
        )

    def place(self, file: str, among: Iterable[int]) -> None:
        """Declare that only the nodes `among` share a file of the data; call it before the file is read.

        Every node must declare the same.

        Raises:
            Error: The data have no such file.
        """
        if file not in self._shared_files_by_name:
            raise unknown("file of the data", file, list(self._shared_files_by_name))
        members = sorted(set(among))
        part_number, part_count = (
            (members.index(self.number), len(members)) if self.number in members else (0, 0)
        )
        shared_file = self._shared_files_by_name[file]
        part = (
            shared_file.part(part_number, part_count)
            if part_count
            else Rows(np.empty(0, np.uint8), shared_file.width)
        )
        self._files_by_name[file] = self._with_copies(part)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files on the node's store."""
        return tuple(self._files_by_name)

    def _find_file(self, name: str) -> StoredFile:
        if name not in self._files_by_name:
            raise unknown("file", name, self.files)
        return self._files_by_name[name]

    def count(self, file: str) -> int:
        """Number of rows of a file."""
        return self._find_file(file).rows

    def width(self, file: str) -> int:
        """Bytes of a row of a file on the store."""
        return self._find_file(file).width

    def open(
        self,
        file: str,
        columns: Sequence[str] = (),
        *,
        order: str = "sequential",
        runs: int = 0,
        per_block_of: str = "",
    ) -> Reader:
        """Open a file to read it.

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
            self._find_file(per_block_of)
        stored_file = self._find_file(file)
        self.log.files.setdefault(file, stored_file.row_bytes(0, stored_file.rows))
        access = Access(file, order, runs, per_block_of)
        same_access = next(
            (
                earlier_access
                for earlier_access in self.step.reads
                if per_block_of and _is_same_access(earlier_access, access)
            ),
            None,
        )
        if same_access is None:
            self.step.reads.append(access)
        return Reader(self, stored_file, same_access or access, columns)

    def read(
        self, file: str, columns: Sequence[str] = (), *, rounds: int = 0, memory: int = 0
    ) -> Iterator[Any]:
        """Read a file from its beginning to its end, in blocks that fit into memory.

        Args:
            file: Name of the file.
            columns: Columns to carry; complete rows are read nevertheless.
            rounds: Fewest blocks; empty ones follow, for nodes that read in step with others.
            memory: Bytes of a block on the store, if not the node's memory.
        """
        return self.open(file, columns).blocks(memory or self.memory, rounds)

    def write(self, file: str, rows: Array | NodeParts, *, width: int = 0, streams: int = 0) -> None:
        """Append rows to a file, which is made if it does not exist.

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
        output_file = self._output_file(file, array, width)
        step = self.step
        access = Access(file, order, streams)
        recorded_access = next(
            (earlier_access for earlier_access in step.writes if _is_same_access(earlier_access, access)),
            None,
        )
        if recorded_access is None:
            step.writes.append(recorded_access := access)
        with self.pause():
            output_file.append(array, rows.ends if isinstance(rows, NodeParts) else None)
        recorded_access.bytes += len(array) * output_file.width
        self.log.files[file] = max(self.log.files[file], output_file.rows * output_file.width)

    def _output_file(self, file: str, array: Array, width: int) -> OutputFile:
        """The file that rows are appended to, made if it does not exist.

        Raises:
            Error: The file is part of the data, or has rows of another kind or width.
        """
        if file not in self._files_by_name:
            row_bytes = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            self._files_by_name[file] = self._create_file(array.dtype, array.shape[1:], width or row_bytes)
            self.log.files[file] = 0
        output_file = self._files_by_name[file]
        if not isinstance(output_file, OutputFile):
            raise Error(f"`{file}` is part of the data", remedy="write to a file of another name")
        if (output_file.dtype, output_file.shape) != (array.dtype, array.shape[1:]) or width not in (
            0,
            output_file.width,
        ):
            raise Error(
                f"rows of `{file}` are of another kind or width", remedy="write to a file of another name"
            )
        return output_file

    def _create_file(self, dtype: Any, shape: tuple[int, ...], width: int) -> OutputFile:
        """A new file, with a copy on each node that holds the share."""
        if self._share is None:
            path = self._scratch / f"{self.number}-{len(self._files_by_name)}-{len(self.log.files)}"
            return OutputFile(path, dtype, shape, width)
        copies_by_holder = {}
        for holder, path in self._copy_paths(self._share).items():
            path.parent.mkdir(exist_ok=True)
            copies_by_holder[holder] = OutputFile(path, dtype, shape, width)
        return ReplicatedFile(copies_by_holder, self._share)

    def remove(self, file: str) -> None:
        """Remove a file that the job wrote, which frees its room."""
        stored_file = self._find_file(file)
        if isinstance(stored_file, OutputFile):
            stored_file.remove()
            del self._files_by_name[file]

    def file(self, file: str) -> StoredFile:
        """A file as the answer of a job: `return node.file("sorted")`."""
        return self._find_file(file)


class Reader:
    """A file that a node reads; bytes read are counted. Made by `Node.open`."""

    def __init__(self, store: Store, stored_file: StoredFile, access: Access, columns: Sequence[str]) -> None:
        self._store = store
        self._stored_file = stored_file
        self._access = access
        self._columns = columns
        self._phase = store.current_phase

    def __len__(self) -> int:
        """Number of rows."""
        return self._stored_file.rows

    def rows(self, start: int, stop: int) -> Any:
        """Read rows `start` to `stop`.

        Raises:
            Error: The file has fewer rows.
        """
        if not 0 <= start <= stop <= self._stored_file.rows:
            raise Error(
                f"rows {start:,} to {stop:,} of `{self._access.file}` are requested, "
                f"which has {self._stored_file.rows:,}",
                remedy="read no further than the file's end: `len(reader)`",
            )
        self._count(self._stored_file.row_bytes(start, stop))
        with self._store.pause():
            return self._stored_file.span(start, stop, self._columns)

    def _count(self, bytes_read: int) -> None:
        """Count bytes read, in the phase that the node is in.

        An access has at most the bytes of the file: rows that are read again make another access. But the
        inner file of a nested loop, read for every block of the outer one, is recorded once.
        """
        if self._phase != self._store.current_phase:
            self._begin_access()
        unread_bytes = self._stored_file.row_bytes(0, self._stored_file.rows) - self._access.bytes
        self._access.bytes += min(unread_bytes, bytes_read)
        if bytes_read > unread_bytes and not self._access.per_block_of:
            self._begin_access()
            self._count(bytes_read - unread_bytes)

    def _begin_access(self) -> None:
        """Begin another access of the same kind, in the current phase."""
        self._phase = self._store.current_phase
        self._access = replace(self._access, bytes=0)
        self._store.step.reads.append(self._access)

    def stream(self, number: int) -> Any:
        """Read all rows of a stream at once."""
        assert isinstance(self._stored_file, OutputFile)
        return np.concatenate([self.rows(start, stop) for start, stop in self._stored_file.pieces(number)])

    def __iter__(self) -> Iterator[Any]:
        """All rows, in blocks that fit into the node's memory."""
        return self.blocks(self._store.memory)

    def blocks(self, memory: int, rounds: int = 0) -> Iterator[Any]:
        """All rows, in blocks of at most `memory` bytes on the store, but one row at least.

        With `rounds`, empty blocks follow up to that number: for nodes that read in step with others.
        """
        start = block_count = 0
        while start < self._stored_file.rows or block_count < rounds:
            stop = self._stored_file.block_end(start, memory) if start < self._stored_file.rows else start
            yield self.rows(start, stop)
            start, block_count = stop, block_count + 1


def check_word(noun: str, word: str, known_words: Sequence[str]) -> None:
    """Refuse a word that is not one of `known_words`."""
    if word not in known_words:
        raise unknown(noun, word, known_words)


def _is_same_access(one: Access, other: Access) -> bool:
    """Whether both accesses agree in all but their bytes."""
    return (one.file, one.order, one.runs, one.per_block_of) == (
        other.file,
        other.order,
        other.runs,
        other.per_block_of,
    )
