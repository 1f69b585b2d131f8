"""Packets of Perfetto's trace format, many at once: matrices of bytes, a row for each packet.

The format is protobuf: https://perfetto.dev/docs/reference/trace-packet-proto has the numbers of its fields.
A varint may be longer than it needs to be, so all packets of a kind are equally long and numpy makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Numbers = npt.NDArray[np.uint64]

VARINT, FIXED64, TEXT = 0, 1, 2
"""Wire types of fields, as protobuf numbers them."""

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
"""Types of events, as Perfetto numbers them."""

STATE_CLEARED = 1
"""Flag of the packet that begins a sequence, with no state before it."""


def varint(value: int) -> bytes:
    """A number as a varint: seven bits in a byte, the low ones first.

    Examples:
        >>> varint(300).hex()
        'ac02'
    """
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def field(number: int, value: int | str | bytes) -> bytes:
    """A field: its number, then its value, which is a number, a text or a message."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | TEXT) + varint(len(data)) + data


def packet(sequence: int, *fields: bytes) -> bytes:
    """A single packet of a sequence, as it stands in a file."""
    return field(1, b"".join((*fields, field(10, sequence))))


def track(uuid: int, name: str, parent: int = 0, rank: int = 0, unit: str = "") -> bytes:
    """Return the description of a track: its number, name, parent track and rank; a counter has a `unit`."""
    fields = [field(1, uuid), field(2, name)]
    fields += [field(5, parent), field(12, rank)] if parent else [field(11, 3)]  # sort its children by rank
    fields += [field(8, field(6, unit))] if unit else []
    return field(60, b"".join(fields))


def first_packet(sequence: int, uuid: int, names: Sequence[str], annotations: Sequence[str]) -> bytes:
    """The first packet of a sequence: the track of all its events, and names, which are numbered from 1."""
    entries = [field(2, field(1, iid) + field(2, name)) for iid, name in enumerate(names, 1)]
    entries += [field(3, field(1, iid) + field(2, name)) for iid, name in enumerate(annotations, 1)]
    defaults = field(11, field(11, uuid))
    return packet(sequence, field(13, STATE_CLEARED), field(59, defaults), field(12, b"".join(entries)))


def width(numbers: Numbers) -> int:
    """Number of bytes that the largest of some numbers takes as a varint."""
    return len(varint(int(numbers.max(initial=0))))


def varints(numbers: Numbers, bytes_each: int) -> Bytes:
    """Numbers as varints of `bytes_each` bytes each, a row for each number."""
    encoded = np.empty((len(numbers), bytes_each), np.uint8)
    for index in range(bytes_each):
        continuation_bit = 128 if index < bytes_each - 1 else 0
        encoded[:, index] = (numbers >> np.uint64(7 * index) & np.uint64(127)) | np.uint64(continuation_bit)
    return encoded


def fixed64(numbers: Numbers) -> Bytes:
    """Numbers as eight bytes each, a row for each number."""
    return numbers.astype("<u8").view(np.uint8).reshape(len(numbers), 8)


def join_bytes(count: int, *parts: bytes | Bytes) -> Bytes:
    """`count` rows of bytes joined from parts: `bytes` are repeated in all rows, matrices have a row each."""
    rows = [
        np.broadcast_to(np.frombuffer(part, np.uint8), (count, len(part)))
        if isinstance(part, bytes)
        else part
        for part in parts
    ]
    return np.concatenate(rows, axis=1)


def message(number: int, count: int, *parts: bytes | Bytes) -> Bytes:
    """A message of joined parts in the field `number`, of equal length in all rows."""
    content = join_bytes(count, *parts)
    return join_bytes(count, varint(number << 3 | TEXT) + varint(content.shape[1]), content)


def events(kind: int, at_ns: Numbers, sequences: Numbers, *parts: bytes | Bytes, names: Any = None) -> Bytes:
    """An event for each of some times, as packets.

    Args:
        kind: The type of the events.
        at_ns: Times of the events, in ns.
        sequences: The number of the sequence of each event.
        parts: Further fields of the events.
        names: Numbers of their names, one for each event or one for all; `None` for counters and ends.
    """
    count = len(at_ns)
    name_field: list[bytes | Bytes] = []
    if isinstance(names, int):
        name_field = [field(10, names)]
    elif names is not None:
        name_field = [varint(10 << 3), varints(names, width(names))]
    event = message(11, count, field(9, kind), *name_field, *parts)
    time = join_bytes(count, varint(8 << 3), varints(at_ns, width(at_ns)))
    sequence = join_bytes(count, varint(10 << 3), varints(sequences, width(sequences)))
    return message(1, count, time, sequence, event)


def interleave(masked_matrices: Sequence[tuple[Bytes, npt.NDArray[np.bool_] | None]]) -> Iterator[bytes]:
    """Packets of several matrices interleaved: the first rows of all matrices, then the second, and so on.

    Each matrix comes with a mask of the rows to write, or `None` for all rows.
    """
    joined = np.concatenate([matrix for matrix, _ in masked_matrices], axis=1)
    if all(mask is None for _, mask in masked_matrices):
        yield joined.tobytes()
        return
    masks = [
        np.ones(matrix.shape, bool) if mask is None else np.broadcast_to(mask[:, None], matrix.shape)
        for matrix, mask in masked_matrices
    ]
    yield joined[np.concatenate(masks, axis=1)].tobytes()
