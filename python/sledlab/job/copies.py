"""Copies of the files of nodes on other nodes, from which the share of a failed node is read.

A share has the number of its node. With redundancy, two nodes hold each share: the node itself and the holder
of its copy. A node that has failed holds nothing: its files are never made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.job.files import Baskets, OutputFile, Rows, TableRows, Transactions
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sledlab.job.files import Array, StoredFile


@dataclass(frozen=True)
class CopyHolders:
    """The nodes that hold the files of a node.

    Attributes:
        number: Number of the node whose files these are.
        holders: Nodes that hold its files and have not failed: the node itself, and the holder of the copy.
        parts: The part of the rows that is read from each holder, as (holder, first, last, of): from
            `first / of` to `last / of` of the rows.
    """

    number: int
    holders: tuple[int, ...]
    parts: tuple[tuple[int, int, int, int], ...]

    def pieces(self, rows: int, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Rows `start` to `stop` of `rows`, as (holder, start, stop) for each holder read; at least one."""
        spans = []
        for holder, first, last, of in self.parts:
            begin, end = max(start, rows * first // of), min(stop, rows * last // of)
            if begin < end:
                spans.append((holder, begin, end))
        return spans or [(self.holders[0], start, stop)]


def shares(redundancy: str, nodes: int, failed: Sequence[int]) -> list[CopyHolders | None]:
    """The holders of the files of each node; None for all nodes without redundancy.

    Args:
        redundancy: `none`, `mirror` or `chained`.
        nodes: Number of nodes.
        failed: Numbers of the nodes that have failed.

    Raises:
        Error: There is no such node or kind of redundancy, or a share has lost all its holders.
    """
    if any(number < 0 for number in failed):
        raise Error(f"there is no node {min(failed)} that could fail", remedy=f"nodes are 0 to {nodes - 1}")
    holders_and_parts = _native.shares(redundancy, nodes, failed)
    return [
        None
        if holder is None
        else CopyHolders(number, tuple(node for node in (number, holder) if node not in failed), tuple(parts))
        for number, (holder, parts) in enumerate(holders_and_parts)
    ]


def read_pieces(
    copies_by_holder: Mapping[int, StoredFile], pieces: Sequence[tuple[int, int, int]], columns: Sequence[str]
) -> Any:
    """Rows read from several holders of copies, concatenated as if they came from one file."""
    blocks = [copies_by_holder[holder].span(start, stop, columns) for holder, start, stop in pieces]
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], Transactions):
        return _concatenate(blocks)
    rows = np.empty((sum(map(len, blocks)), *blocks[0].shape[1:]), blocks[0].dtype)
    ends = np.cumsum([0, *map(len, blocks)]).tolist()
    for block, (start, stop) in zip(blocks, pairwise(ends), strict=True):
        rows[start:stop] = block
    return rows


def _concatenate(blocks: Sequence[Transactions]) -> Transactions:
    """Several blocks of transactions as one."""
    lengths = np.concatenate([np.diff(block.offsets) for block in blocks])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    return Transactions(offsets, np.concatenate([block.items for block in blocks]))


@dataclass(frozen=True)
class CopiedShare:
    """A share of a file of the data that several nodes hold."""

    copies_by_holder: Mapping[int, StoredFile]
    share: CopyHolders

    @property
    def _first_copy(self) -> StoredFile:
        return self.copies_by_holder[self.share.holders[0]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._first_copy.rows

    @property
    def width(self) -> int:
        """Bytes of a row on the store."""
        return self._first_copy.width

    def row_bytes(self, start: int, stop: int) -> int:
        """Bytes of rows on the store."""
        return self._first_copy.row_bytes(start, stop)

    def block_end(self, start: int, memory: int) -> int:
        """The row at which a block from row `start` with at most `memory` bytes ends."""
        return self._first_copy.block_end(start, memory)

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Any:
        """Rows `start` to `stop`, each read from the holder that `share` names for it."""
        return read_pieces(self.copies_by_holder, self.share.pieces(self.rows, start, stop), columns)


class ReplicatedFile(OutputFile):
    """A file that a job wrote, of which every holder of its share has a copy."""

    def __init__(self, copies_by_holder: Mapping[int, OutputFile], share: CopyHolders) -> None:
        first = copies_by_holder[share.holders[0]]
        super().__init__(first.path, first.dtype, first.shape, first.width)
        self._copies_by_holder = copies_by_holder
        self._share = share

    def put(self, rows: Array) -> None:
        """Put rows at the end of each copy."""
        for copy in self._copies_by_holder.values():
            copy.append(rows)

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Array:
        """Rows `start` to `stop`, each read from the holder that the share names for it."""
        result: Array = read_pieces(
            self._copies_by_holder, self._share.pieces(self.rows, start, stop), columns
        )
        return result

    def remove(self) -> None:
        """Remove all copies, which frees their room."""
        for copy in self._copies_by_holder.values():
            copy.remove()


def copy_share(file: StoredFile, share: CopyHolders, directories: Mapping[int, Path]) -> CopiedShare:
    """A node's share of a file of the data on each of its holders; `directories` are those of the copies."""
    return CopiedShare(
        {
            holder: file if holder == share.number else _copy_file(file, directories[holder])
            for holder in share.holders
        },
        share,
    )


def _copy_file(file: StoredFile, directory: Path) -> StoredFile:
    """A copy, in a directory, of a share of a file."""
    match file:
        case TableRows():
            return TableRows(CopiedColumns(file, directory), 0, file.rows, file.width)
        case Rows():
            return Rows(_save_array(file.array, directory / "rows.npy"), file.width)
        case Baskets():
            transactions = file.span(0, file.rows, ())
            offsets = _save_array(transactions.offsets, directory / "offsets.npy")
            return Baskets(
                Transactions(offsets, _save_array(transactions.items, directory / "items.npy")), 0, file.rows
            )
    raise TypeError(f"cannot copy {type(file).__name__}")


def _save_array(array: Array, path: Path) -> Array:
    """A copy of an array, written to a file and mapped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
    result: Array = np.load(path, mmap_mode="r" if array.size else None)
    return result


class CopiedColumns(Mapping[str, "Array"]):
    """Copies of the columns of a share of a table, each made when it is first read."""

    def __init__(self, table: TableRows, directory: Path) -> None:
        self._table = table
        self._directory = directory
        self._arrays_by_name: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        """The copy of a column."""
        if name not in self._arrays_by_name:
            start, stop = self._table.start, self._table.start + self._table.rows
            column = self._table.columns[name][start:stop]
            self._arrays_by_name[name] = _save_array(
                column, self._directory / f"{len(self._arrays_by_name)}.npy"
            )
        return self._arrays_by_name[name]

    def __iter__(self) -> Iterator[str]:
        """Names of the columns."""
        return iter(self._table.columns)

    def __len__(self) -> int:
        """Number of columns."""
        return len(self._table.columns)
