"""Requests that a workload written in Python yields, checked and passed to the simulator as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.traces.columns import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy

    from sledlab.traces.table_reader import Chunk

BATCH_REQUESTS = 1024
"""Requests yielded one by one that are handed to the simulator together."""

MAX_TIME_US = 9e15
END_LBN = 2**53
MAX_BLOCKS = 2**32 - 1

FORM = "a workload yields (time_us, lbn, blocks, op): numbers and a letter, or columns of equal length"


def columns(items: Iterable[Any]) -> Iterator[Chunk]:
    """The columns of the requests that a workload yields, as `_native.Source.from_columns` takes them.

    An error about a request is raised where the workload yielded it, so that the traceback names the line.

    Raises:
        TypeError, ValueError: A request is not of the form, or a value is wrong; the message has its number.
    """
    requests, checked_count, last_us = iter(items), 0, 0.0
    for batch in _batches(requests):
        try:
            times, lbns, blocks, ops = _check_batch(batch, checked_count, last_us)
        except (TypeError, ValueError) as error:
            throw = getattr(requests, "throw", None)
            if throw is not None:
                throw(error)
            raise
        if len(times):
            checked_count, last_us = checked_count + len(times), float(times[-1])
            offsets, lengths = (blocks_column * BLOCK_BYTES for blocks_column in (lbns, blocks))
            chunk = times.tobytes(), ops.tobytes(), offsets.tobytes(), lengths.tobytes(), b"", b""
            yield "fractional us", chunk


def _batches(requests: Iterator[Any]) -> Iterator[Any]:
    """Batches as yielded, and single requests gathered into batches; a wrong request is passed on at once."""
    single_requests: list[Any] = []
    last_us = 0.0
    for item in requests:
        is_batch = _is_batch(item)
        is_request = not is_batch and _is_request(item, last_us)
        if is_request:
            single_requests.append(item)
            last_us = item[0]
            if len(single_requests) < BATCH_REQUESTS:
                continue
        if single_requests:
            yield _columns(single_requests)
            single_requests = []
        if not is_request:
            yield item if is_batch else _columns([item])
    if single_requests:
        yield _columns(single_requests)


def _is_batch(item: Any) -> bool:
    return not isinstance(item, (tuple, list)) or len(item) != 4 or hasattr(item[0], "__len__")


def _is_request(item: Any, last_us: float) -> bool:
    time_us, lbn, blocks, op = item
    try:
        return bool(time_us >= last_us and lbn >= 0 < blocks and op in "RWTF" and lbn.__index__)
    except (TypeError, AttributeError):
        return False


def _columns(single_requests: list[Any]) -> tuple[list[Any], ...]:
    return tuple(list(column) for column in zip(*single_requests, strict=True))


def _check_batch(batch: Any, checked_count: int, last_us: float) -> tuple[numpy.ndarray, ...]:
    """The four columns of a batch, checked, after `checked_count` requests, the last of them at `last_us`.

    Raises:
        TypeError, ValueError: As of `columns`.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) != 4:
        raise TypeError(f"{FORM}; not {batch!r:.80}")
    times, lbns, blocks, ops = np.broadcast_arrays(*batch)
    if times.ndim != 1:
        raise TypeError(f"{FORM}; not columns of {times.ndim} dimensions")
    for name, column in (("lbn", lbns), ("blocks", blocks)):
        if column.dtype.kind not in "iu" and len(column):
            raise TypeError(f"{name} must be whole numbers, not of type {column.dtype}")
    times = times.astype(np.float64)
    ops = ops.astype("U2")
    _refuse(
        checked_count,
        "time_us",
        times,
        ~((times >= 0) & (times <= MAX_TIME_US)),
        f"is not from 0 to {MAX_TIME_US:g}",
    )
    _refuse(
        checked_count, "time_us", times, np.diff(times, prepend=last_us) < 0, "is earlier than that before it"
    )
    _refuse(checked_count, "op", ops, ~np.isin(ops, list("RWTF")), "is none of R, W, T (trim) and F (flush)")
    is_media = ops != "F"
    _refuse(checked_count, "lbn", lbns, is_media & ((lbns < 0) | (lbns >= END_LBN)), "is not a block number")
    _refuse(
        checked_count,
        "blocks",
        blocks,
        is_media & ((blocks < 1) | (blocks > MAX_BLOCKS)),
        f"is not from 1 to {MAX_BLOCKS}",
    )
    return times, lbns.astype(np.int64), blocks.astype(np.int64), ops.astype("S1")


def _refuse(
    checked_count: int, name: str, column: numpy.ndarray, is_wrong: numpy.ndarray, reason: str
) -> None:
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(f"request {checked_count + row + 1}: {name} {column[row]} {reason}")
