"""Files on the store of a node: rows of a fixed width, transactions, and files that a job writes.

A job reads a file in blocks that fit into the node's memory. Widths are those of rows on the store: a job
that carries three columns of a table still reads and writes complete tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error, unknown
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy

    Array = numpy.ndarray[Any, Any]


class StoredFile(Protocol):
    """A file on the store of a node: its part of the data, or what its job wrote."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Bytes of a row on the store; the mean, rounded up, where rows have different lengths."""

    def row_bytes(self, start: int, stop: int) -> int:
        """Bytes of rows `start` to `stop` on the store."""

    def block_end(self, start: int, memory: int) -> int:
        """The row at which a block from row `start` ends: at most `memory` bytes, but one row at least."""

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Any:
        """Rows `start` to `stop`; only the named columns, or all where none is named."""


class SharedFile(StoredFile, Protocol):
    """A file of the data, of which each node has a part."""

    def part(self, number: int, nodes: int) -> StoredFile:
        """The part of node `number` of `nodes`: equally many rows for each, in the order of the file."""


def bounds(rows: int, number: int, nodes: int) -> tuple[int, int]:
    """First row and end of the part of node `number`, where rows are shared evenly among the nodes.

    Examples:
        >>> [bounds(10, number, 4) for number in range(4)]
        [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    return rows * number // nodes, rows * (number + 1) // nodes


class FixedWidth:
    """Files whose rows all have the same width."""

    rows: int
    width: int

    def row_bytes(self, start: int, stop: int) -> int:
        """Bytes of rows on the store."""
        return (stop - start) * self.width

    def block_end(self, start: int, memory: int) -> int:
        """The row at which a block from row `start` with at most `memory` bytes ends."""
        return min(self.rows, start + max(1, memory // self.width))


@dataclass
class TableRows(FixedWidth):
    """Rows `start` to `start + rows` of columns that are stored elsewhere, such as those of a database."""

    columns: Mapping[str, Array]
    start: int
    rows: int
    width: int

    def part(self, number: int, nodes: int) -> TableRows:
        """A node's part."""
        start, stop = bounds(self.rows, number, nodes)
        return TableRows(self.columns, self.start + start, stop - start, self.width)

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Array:
        """Rows `start` to `stop` with the named columns, or all where none is named."""
        names = list(columns) or list(self.columns)
        for name in names:
            if name not in self.columns:
                raise unknown("column", name, list(self.columns))
        rows = np.empty(stop - start, dtype=[(name, self.columns[name].dtype) for name in names])
        for name in names:
            rows[name] = self.columns[name][self.start + start : self.start + stop]
        return rows


@dataclass
class Rows(FixedWidth):
    """An array of rows: numbers, structures, or vectors of `shape[1]` numbers."""

    array: Array
    width: int

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return len(self.array)

    def part(self, number: int, nodes: int) -> Rows:
        """A node's part."""
        start, stop = bounds(self.rows, number, nodes)
        return Rows(self.array[start:stop], self.width)

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Array:
        """Rows `start` to `stop` with the named columns, or all where none is named."""
        rows = self.array[start:stop]
        return rows[list(columns)] if columns else rows


@dataclass(frozen=True)
class Transactions:
    """Sets of items, ascending in each: items of transaction `t` are `items[offsets[t] : offsets[t + 1]]`.

    On a store and on the wire, a transaction takes 4 bytes an item, and 8 bytes for its number and its
    length.

    Attributes:
        offsets: Where each transaction begins in `items`, and where the last one ends; u64, from 0.
        items: Items of all transactions, one transaction after another; u32.
    """

    offsets: Array
    items: Array

    def __len__(self) -> int:
        """Number of transactions."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the transactions on a store and on the wire."""
        return 4 * len(self.items) + 8 * len(self)


@dataclass
class Baskets:
    """Transactions `start` to `start + rows` of transactions that are stored elsewhere."""

    transactions: Transactions
    start: int
    rows: int

    def part(self, number: int, nodes: int) -> Baskets:
        """A node's part."""
        start, stop = bounds(self.rows, number, nodes)
        return Baskets(self.transactions, self.start + start, stop - start)

    @property
    def width(self) -> int:
        """Mean bytes of a transaction on the store, rounded up."""
        return -(-self.row_bytes(0, self.rows) // max(1, self.rows))

    def row_bytes(self, start: int, stop: int) -> int:
        """Bytes of transactions on the store."""
        offsets = self.transactions.offsets
        return 4 * int(offsets[self.start + stop] - offsets[self.start + start]) + 8 * (stop - start)

    def block_end(self, start: int, memory: int) -> int:
        """The row at which a block from row `start` with at most `memory` bytes ends."""
        first = self.start + start
        end_bytes = 4 * self.transactions.offsets[first : self.start + self.rows + 1].astype(np.int64)
        end_bytes += 8 * np.arange(len(end_bytes))
        fitting_rows = int(np.searchsorted(end_bytes, end_bytes[0] + memory, side="right")) - 1
        return min(self.rows, start + max(1, fitting_rows))

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Transactions:
        """Transactions `start` to `stop`."""
        if columns:
            raise Error("transactions have no columns", remedy="omit the columns")
        offsets = self.transactions.offsets[self.start + start : self.start + stop + 1]
        items = self.transactions.items[int(offsets[0]) : int(offsets[-1])]
        return Transactions(np.asarray(offsets - offsets[0], dtype=np.uint64), np.asarray(items))


@dataclass
class OutputFile(FixedWidth):
    """A file that a job writes: rows in a scratch file, in order; those of a stream in several places."""

    path: Path
    dtype: Any
    shape: tuple[int, ...]
    width: int
    rows: int = 0
    streams: list[Array] = field(default_factory=list)
    """First row of each stream in each append, and the end of the last stream."""

    def append(self, rows: Array, ends: Array | None = None) -> None:
        """Append rows; `ends` has the end of the rows of each stream, if the file has streams."""
        self.put(rows)
        if ends is not None:
            self.streams.append(self.rows + np.concatenate([[0], ends]))
        self.rows += len(rows)

    def put(self, rows: Array) -> None:
        """Append rows to the scratch file."""
        with self.path.open("ab") as file:
            np.ascontiguousarray(rows).tofile(file)

    def pieces(self, stream: int) -> list[tuple[int, int]]:
        """The spans of rows that belong to a stream."""
        return [(int(ends[stream]), int(ends[stream + 1])) for ends in self.streams]

    def span(self, start: int, stop: int, columns: Sequence[str]) -> Array:
        """Rows `start` to `stop` with the named columns, or all where none is named."""
        values_per_row = int(np.prod(self.shape, dtype=np.int64))
        offset = start * values_per_row * self.dtype.itemsize
        flat = np.fromfile(self.path, self.dtype, (stop - start) * values_per_row, offset=offset)
        rows = flat.reshape(stop - start, *self.shape)
        return rows[list(columns)] if columns else rows

    def remove(self) -> None:
        """Remove the scratch file, which frees its room."""
        self.path.unlink(missing_ok=True)
