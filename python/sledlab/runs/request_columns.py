"""The columns of the table of requests, with units and meanings, for `help`, documentation and schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars


class RequestColumn(NamedTuple):
    """A column of the table of requests."""

    unit: str
    meaning: str


def _ns(meaning: str) -> RequestColumn:
    return RequestColumn("ns", meaning)


def _uj(meaning: str) -> RequestColumn:
    return RequestColumn("uJ", meaning)


REQUEST_COLUMNS: Mapping[str, RequestColumn] = {
    "id": RequestColumn("", "number of the operation in the trace or workload, from 0"),
    "arrival_ns": _ns("arrival, in simulated time"),
    "start_ns": _ns("start of service"),
    "completion_ns": _ns("completion"),
    "lbn": RequestColumn("blocks", "first block"),
    "blocks": RequestColumn("blocks", "number of blocks of 512 bytes"),
    "op": RequestColumn("", "R or W"),
    "response_ns": _ns("response time: from arrival to completion"),
    "overhead_ns": _ns("command overhead"),
    "seek_x_ns": _ns("seek in x of a sled, seek of a disk"),
    "settle_ns": _ns("settling after the seek"),
    "seek_y_ns": _ns("seek in y, during the seek in x"),
    "turnaround_ns": _ns("turnarounds in y"),
    "rotation_ns": _ns("rotational latency of a disk"),
    "positioning_ns": _ns("positioning: of a sled the longer of x with settling and y with turnarounds"),
    "transfer_ns": _ns("transfer"),
    "reposition_ns": _ns("part of the transfer spent moving between rows or tracks"),
    "startup_ns": _ns("part of the queue time in which the device started up"),
    "metadata": RequestColumn("", "1 for requests for the file system's own data"),
    "seek_uj": _uj("energy of positioning"),
    "access_uj": _uj("energy of the transfer"),
    "startup_uj": _uj("energy of the start-up that the request waited for first"),
    "device": RequestColumn("", "device of an array or hybrid, from 0, the front first; null: a cache"),
}
"""All columns by name; `device` only of arrays and hybrids."""


def describe(frame: polars.DataFrame, columns: Mapping[str, tuple[str, str]]) -> polars.DataFrame:
    """Return the frame, for which `help` shows the unit and the meaning of its columns.

    Args:
        frame: The frame.
        columns: Unit and meaning by column; columns of the frame that are not in it are omitted.
    """
    described = {name: columns[name] for name in frame.columns if name in columns}
    width = max(map(len, described), default=0)
    units = max((len(unit) for unit, _ in described.values()), default=0)
    lines = [f"{name:<{width}}  {unit:<{units}}  {meaning}" for name, (unit, meaning) in described.items()]
    vars(frame)["__doc__"] = "\n".join(("Columns, units and meanings:", "", *lines))
    return frame
