"""The footer of a Parquet file, which lists its row groups: read, changed and written.

The footer is a struct of Thrift's compact protocol: a dictionary of values by field number. Values
keep their types, so that fields that this module does not know are written as they were read.

References: parquet.thrift of the format; "Thrift Compact protocol encoding" of Apache Thrift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAGIC = b"PAR1"

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""Types of the compact protocol."""

Struct = dict[int, tuple[int, Any]]
"""Fields by number, each a type and a value."""

ROWS, ROW_GROUPS = 3, 4
"""Fields of the footer: number of rows, and row groups."""

CHUNKS, GROUP_OFFSET, ORDINAL = 1, 5, 7
"""Fields of a row group: column chunks, its place in the file, and its number."""

METADATA, CHUNK_OFFSETS, PAGE_OFFSETS = 3, (2, 4, 6), (9, 10, 11, 14)
"""Fields of a column chunk: its metadata, and places in the file; fields of the metadata: the same."""


@dataclass(frozen=True)
class TypedList:
    """A list of values of one type."""

    kind: int
    values: list[Any]


def split(file: bytes | memoryview) -> tuple[bytes | memoryview, Struct]:
    """Return the row groups of a complete file as bytes, and its footer."""
    length = int.from_bytes(file[-8:-4], "little")
    footer = _Reader(bytes(file[-8 - length : -8])).struct()
    return file[len(MAGIC) : -8 - length], footer


def row_groups(footer: Struct) -> list[Struct]:
    """Return the row groups that a footer lists."""
    groups: list[Struct] = footer[ROW_GROUPS][1].values
    return groups


def move(group: Struct, distance: int, ordinal: int) -> None:
    """Change a row group for its new place: `distance` bytes further in the file, and its number there."""
    _add(group, (GROUP_OFFSET,), distance)
    if ORDINAL in group:
        group[ORDINAL] = (I16, ordinal)
    for chunk in group[CHUNKS][1].values:
        _add(chunk, CHUNK_OFFSETS, distance)
        if METADATA in chunk:
            _add(chunk[METADATA][1], PAGE_OFFSETS, distance)


def _add(struct: Struct, fields: tuple[int, ...], distance: int) -> None:
    for field in fields:
        if field in struct and struct[field][1] > 0:  # 0 stands for none
            struct[field] = (struct[field][0], struct[field][1] + distance)


def end_of_file(footer: Struct, groups: list[Struct], rows: int) -> bytes:
    """Return the end of a file with these row groups: the footer, its length, and the magic number."""
    new_footer = {**footer, ROWS: (I64, rows), ROW_GROUPS: (LIST, TypedList(STRUCT, groups))}
    encoded = bytearray()
    _write(encoded, STRUCT, dict(sorted(new_footer.items())))
    return bytes(encoded) + len(encoded).to_bytes(4, "little") + MAGIC


class _Reader:
    """Reads values of the compact protocol from bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def _take(self, count: int) -> bytes:
        self.position += count
        return self.data[self.position - count : self.position]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> Struct:
        """Read a struct."""
        fields: Struct = {}
        field = 0
        while header := self._take(1)[0]:
            field = field + (header >> 4) if header >> 4 else self._integer()
            fields[field] = (header & 15, self._value(header & 15))
        return fields

    def _value(self, kind: int, *, in_list: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self._take(1)[0] == TRUE if in_list else kind == TRUE
        if kind in (BYTE, DOUBLE):
            return self._take(1 if kind == BYTE else 8)
        if kind in (I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._take(self._varint())
        if kind in (LIST, SET):
            header = self._take(1)[0]
            count = header >> 4 if header >> 4 != 15 else self._varint()
            return TypedList(header & 15, [self._value(header & 15, in_list=True) for _ in range(count)])
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"type {kind} of the compact protocol does not occur in Parquet")


def _put_varint(encoded: bytearray, value: int) -> None:
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)


def _put_integer(encoded: bytearray, value: int) -> None:
    _put_varint(encoded, value << 1 if value >= 0 else (-value << 1) - 1)


def _write(encoded: bytearray, kind: int, value: Any, *, in_list: bool = False) -> None:
    if kind in (TRUE, FALSE):
        if in_list:
            encoded.append(TRUE if value else FALSE)
    elif kind in (BYTE, DOUBLE):
        encoded += value
    elif kind in (I16, I32, I64):
        _put_integer(encoded, value)
    elif kind == BINARY:
        _put_varint(encoded, len(value))
        encoded += value
    elif kind in (LIST, SET):
        count = len(value.values)
        encoded.append(min(count, 15) << 4 | value.kind)
        if count >= 15:
            _put_varint(encoded, count)
        for item in value.values:
            _write(encoded, value.kind, item, in_list=True)
    else:
        _write_struct(encoded, value)


def _write_struct(encoded: bytearray, struct: Struct) -> None:
    previous_field = 0
    for field, (kind, value) in struct.items():
        if 0 < field - previous_field <= 15:
            encoded.append((field - previous_field) << 4 | kind)
        else:
            encoded.append(kind)
            _put_integer(encoded, field)
        _write(encoded, kind, value)
        previous_field = field
    encoded.append(0)
