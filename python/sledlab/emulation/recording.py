"""Recordings of a server as tables: the requests that arrived, and when each reply left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.errors import InternalError
from sledlab.files import atomic_write
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.runs.emulation import CAUSES
from sledlab.traces.columns import BLOCK_BYTES
from sledlab.traces.parquet import write_table
from sledlab.traces.table import categories

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy

    from sledlab.runs.emulation import PowerFailure

RECORD = [
    ("id", "<u8"),
    ("stamp_ns", "<u8"),
    ("planned_ns", "<u8"),
    ("sent_ns", "<u8"),
    ("lbn", "<u8"),
    ("blocks", "<u4"),
    ("connection", "<u2"),
    ("op", "u1"),
    ("flags", "u1"),
    ("unrequested_words", "u1"),
    ("cause", "u1"),
    ("starts", "<u2"),
    ("host_ns", "<u4"),
    ("lateness_ns", "<i8"),
]
"""An operation as recorded: `host_ns` and `lateness_ns` are wall-clock time, others simulated time."""

OPS = ("R", "W", "T", "F")

NO_REPLY_FLAG = 4
"""Flag of operations without a reply: a write that must be durable is answered by its flush."""

LOST_FLAG = 16
"""Flag of operations that the model had not completed when the power failed."""

WORD_BYTES = 8


@dataclass(frozen=True)
class RecordedOperations:
    """All operations that reached a server between two power failures, in order of arrival."""

    records: numpy.ndarray

    @classmethod
    def read(cls, path: Path, power_failures: int = 0) -> list[RecordedOperations]:
        """Read a recording: operations up to the first power failure, up to the next, and after the last."""
        records = np.fromfile(path, dtype=RECORD)
        records = records[np.lexsort((records["id"], records["starts"]))]
        spans = [records[records["starts"] == start] for start in range(power_failures + 1)]
        are_complete = (np.array_equal(span["id"], np.arange(len(span))) for span in spans)
        if not all(are_complete) or sum(map(len, spans)) != len(records):
            raise InternalError("the recording has missing or duplicate operations")
        return [cls(span) for span in spans]

    def __len__(self) -> int:
        """Number of operations."""
        return len(self.records)

    def trace(self) -> polars.DataFrame:
        """The operations as a trace whose times are exact to the nanosecond."""
        operations = self.records
        lengths = operations["blocks"].astype(np.int64) * BLOCK_BYTES
        return polars.DataFrame(
            {
                "time_us": operations["stamp_ns"] / 1000,
                "op": categories(operations["op"], OPS),
                "offset_bytes": (operations["lbn"] * BLOCK_BYTES).astype(np.int64),
                "length_bytes": lengths - operations["unrequested_words"].astype(np.int64) * WORD_BYTES,
            }
        )

    @property
    def has_media(self) -> bool:
        """Whether anything was read or written."""
        return bool(np.any(self.records["op"] < OPS.index("T")))

    @property
    def planned_ns(self) -> numpy.ndarray:
        """When the model completed each operation, in ns, by its number; meaningless for those `is_lost`."""
        planned: numpy.ndarray = self.records["planned_ns"]
        return planned

    @property
    def is_lost(self) -> numpy.ndarray:
        """Whether the power failed before the model completed each operation, by its number."""
        lost: numpy.ndarray = (self.records["flags"] & LOST_FLAG) != 0
        return lost

    @property
    def replies(self) -> numpy.ndarray:
        """The operations to which a reply was sent."""
        replies: numpy.ndarray = self.records[(self.records["flags"] & NO_REPLY_FLAG) == 0]
        return replies


def join_spans(
    spans: Sequence[RecordedOperations], failures: Sequence[PowerFailure], scale: float
) -> polars.DataFrame:
    """The operations of all spans as one trace, in the device's time since the server began."""
    starts_us = [0.0, *(failure.on_s * 1e6 / scale for failure in failures)]
    traces = []
    for span, start_us in zip(spans, starts_us, strict=True):
        traces.append(span.trace().with_columns(polars.col("time_us") + start_us))
    return polars.concat(traces)


def join_replies(spans: Sequence[RecordedOperations]) -> numpy.ndarray:
    """The operations of all spans to which a reply was sent, in order of arrival."""
    return np.concatenate([span.replies for span in spans])


def table(replies: numpy.ndarray) -> polars.DataFrame:
    """A row for each reply: when it was planned to leave, and when it left.

    `lateness_ns` and `host_ns` are in wall-clock time, the other times in the model's.
    """
    return polars.DataFrame(
        {
            "id": replies["id"],
            "arrival_ns": replies["stamp_ns"],
            "planned_ns": replies["planned_ns"],
            "sent_ns": replies["sent_ns"],
            "lateness_ns": replies["lateness_ns"],
            "host_ns": replies["host_ns"],
            "cause": categories(replies["cause"], CAUSES),
            "connection": replies["connection"],
            "power_failures": replies["starts"],
        }
    )


def write(table: polars.DataFrame, path: Path) -> None:
    """Write a table as Parquet, atomically."""
    with atomic_write(path) as draft:
        write_table(table, draft)
