"""Volumes of a fleet: reading them, surveying them for a placement, and merging them into one trace."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.traces.cloud import CloudVolume
from sledlab.traces.columns import BLOCK_BYTES
from sledlab.traces.openers import Parts, TextTrace
from sledlab.traces.read import Trace, as_trace
from sledlab.traces.samples import locate
from sledlab.traces.volume_sources import find_volumes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.traces.read import Opener

MINUTE_NS = 60_000_000_000
"""Nanoseconds of a minute."""


@dataclass(frozen=True)
class Volume:
    """A volume of a fleet.

    Attributes:
        name: Name of the volume at its source; any text, so it must be escaped where it is shown.
        trace: The requests of the volume alone, all of one device: its blocks count from 0, and times are
            relative to the start of the fleet, not of each volume. A path or a table becomes a `Trace`.

    Examples:
        >>> import sledlab as sl
        >>> mail = sl.Volume("mail", sl.read_trace("sample:mail-a-60s"))
        >>> sl.survey(mail).requests
        15372
    """

    name: str
    trace: Trace

    def __post_init__(self) -> None:
        """Make a trace of a path or a table."""
        object.__setattr__(self, "trace", as_trace(self.trace))


@dataclass(frozen=True)
class Survey:
    """The size and load of a volume, as a placement needs them.

    Attributes:
        requests: Number of reads and writes.
        reads: Number of reads.
        read_bytes: Bytes that reads move.
        written_bytes: Bytes that writes move.
        end_blocks: The first block of 512 bytes after all that operations touch.
        first_s: Arrival of the first operation, in s on the clock of the fleet; 0 for an empty trace.
        last_s: Arrival of the last operation, in s on the clock of the fleet.
        busiest_minute_iops: Reads and writes per second in the busiest minute of the clock.

    Examples:
        >>> import sledlab as sl
        >>> mail = sl.survey(sl.Volume("mail", sl.read_trace("sample:mail-a-60s")))
        >>> mail.reads, mail.writes, round(mail.busiest_minute_iops)
        (3354, 12018, 256)
    """

    requests: int
    reads: int
    read_bytes: int
    written_bytes: int
    end_blocks: int
    first_s: float
    last_s: float
    busiest_minute_iops: float

    @property
    def writes(self) -> int:
        """Number of writes."""
        return self.requests - self.reads


def read_volumes(place: str | Path, *, format: str | None = None) -> list[Volume]:
    """The volumes of a fleet, sorted by name.

    Only the first requests of each file are read here. An error in a volume is raised when its trace is used,
    so that a damaged volume does not keep others from being read.

    Args:
        place: A directory with a trace for each volume, in any format, whose file name without endings is the
            volume's name; a directory with a directory `volume=NAME` of Parquet files for each volume, as
            `split_volumes` writes; either of them at an address such as `s3://bucket/fleet` or
            `https://host/fleet/`; `sample:` for the traces that come with sledlab;
            `cloud:volumes=1000,hours=1` for a generated fleet.
        format: The format of the traces; by default detected from their content.

    Raises:
        Error: There is no such place, it holds no trace, or two files are traces of one volume.

    Examples:
        >>> import sledlab as sl
        >>> [volume.name for volume in sl.read_volumes("cloud:volumes=3,requests=3000")]
        ['volume-0', 'volume-1', 'volume-2']
    """
    return [
        Volume(name, Trace(name, kind, opener)) for name, kind, opener in find_volumes(str(place), format)
    ]


def survey(volume: Volume | Any) -> Survey:
    """Measure the size and load of a volume, in one pass over its trace with constant memory.

    Args:
        volume: The volume, or a trace of one device: a `Trace`, a path or a table.

    Raises:
        Error: The trace is wrong somewhere, or holds several volumes.

    Examples:
        >>> import sledlab as sl
        >>> [volume] = sl.read_volumes("cloud:volumes=1,requests=2000")
        >>> survey = sl.survey(volume)
        >>> survey.requests, survey.reads + survey.writes, survey.end_blocks > 0
        (2000, 2000, True)
    """
    volume = _as_volume(volume)
    source = volume.trace.open()
    requests = reads = read_bytes = written_bytes = end_blocks = 0
    first_ns = last_ns = device = None
    current_minute, minute_requests, max_minute_requests = -1, 0, 0
    while (chunk := source.next_chunk()) is not None:
        times, lbns, lengths = (np.frombuffer(chunk[part], "<u8") for part in (0, 2, 3))
        ops = np.frombuffer(chunk[1], "S1")
        device = _check_one_device(chunk[4], device, volume.name)
        first_ns = int(times[0]) if first_ns is None else first_ns
        last_ns = int(times[-1])
        end_blocks = max(end_blocks, int((lbns + (lengths + (BLOCK_BYTES - 1)) // BLOCK_BYTES).max()))
        is_read, is_write = ops == b"R", ops == b"W"
        read_bytes += int(lengths[is_read].sum())
        written_bytes += int(lengths[is_write].sum())
        reads += int(is_read.sum())
        media_times = times[is_read | is_write]
        requests += len(media_times)
        for minute, count in zip(*np.unique(media_times // MINUTE_NS, return_counts=True), strict=True):
            minute_requests = minute_requests + int(count) if minute == current_minute else int(count)
            current_minute, max_minute_requests = minute, max(max_minute_requests, minute_requests)
    return Survey(
        requests,
        reads,
        read_bytes,
        written_bytes,
        end_blocks,
        (first_ns or 0) / 1e9,
        (last_ns or 0) / 1e9,
        max_minute_requests / 60,
    )


def _check_one_device(numbers: bytes, first_device: bytes | None, name: str) -> bytes:
    """The one device number of all requests, as bytes; refuses a second number.

    Raises:
        Error: The trace has requests to another device.
    """
    device = numbers[:2] if first_device is None else first_device
    if numbers != device * (len(numbers) // 2):
        raise Error(
            f"the trace of the volume `{name}` holds several volumes",
            remedy="split it first with `sledlab fleet split`",
        )
    return device


def bulk(volume: Volume) -> float:
    """The amount to read of a volume: its number of requests if they are generated, else bytes of its files.

    Compares volumes of one place; 0 where the amount is unknown before the trace is read.

    Examples:
        >>> import sledlab as sl
        >>> sum(map(bulk, sl.read_volumes("cloud:volumes=4,requests=4000")))
        4000.0
    """
    opener = volume.trace.opener
    if isinstance(opener, CloudVolume):
        return float(tomllib.loads(opener.parameters)["requests"])
    paths = (
        (opener.path,) if isinstance(opener, TextTrace) else opener.paths if isinstance(opener, Parts) else ()
    )
    with suppress(OSError):  # files at addresses have no size here
        return float(sum(os.path.getsize(locate(path)) for path in paths))
    return 0.0


@dataclass(frozen=True)
class MergedTraces:
    """Requests of several traces merged in order of arrival, each trace moved by an offset.

    Attributes:
        openers: The openers of the traces.
        offsets_blocks: Number of blocks added to the addresses of each trace.
        names: The names of the traces in errors.
    """

    openers: tuple[Opener, ...]
    offsets_blocks: tuple[int, ...]
    names: tuple[str, ...]

    def open(self) -> _native.Source:
        """Open the merged requests at the first; a trace of several devices is an error when it is read."""
        shifted = [
            _native.shift(_native.single_device(opener.open(), name), offset)
            for opener, offset, name in zip(self.openers, self.offsets_blocks, self.names, strict=True)
        ]
        # Devices of different volumes have different names in the trace; here they are one.
        return _native.overlay(_native.merge(shifted, join_devices=False))


def merge_volumes(volumes: Sequence[Volume | Any], offsets_blocks: Sequence[int]) -> Trace:
    """Several volumes as one trace of one device, in order of arrival; equal arrivals in the order given.

    No volume is opened before the merged trace is. The trace pickles, so it can be sent to another process.

    Args:
        volumes: The volumes, or traces of one device each: a `Trace`, a path or a table.
        offsets_blocks: First block of each volume on the device, in blocks of 512 bytes.

    Raises:
        Error: There are not as many offsets as volumes. A volume with several devices raises an error when
            the merged trace is used.

    Examples:
        >>> import sledlab as sl
        >>> volumes = sl.read_volumes("cloud:volumes=2,requests=2000,footprint_gb=0.01")
        >>> both = sl.merge_volumes(volumes, [0, 1_000_000])
        >>> both.frame().height
        2000
    """
    if len(volumes) != len(offsets_blocks):
        raise Error(f"{len(volumes)} volumes have {len(offsets_blocks)} offsets", remedy="give one for each")
    all_volumes = [_as_volume(volume) for volume in volumes]
    names = tuple(volume.name for volume in all_volumes)
    opener = MergedTraces(tuple(volume.trace.opener for volume in all_volumes), tuple(offsets_blocks), names)
    return Trace(", ".join(names), "merge", opener)


def _as_volume(source: Any) -> Volume:
    """`source` as a volume: a volume itself, or a trace, named after its file."""
    if isinstance(source, Volume):
        return source
    trace = as_trace(source)
    return Volume(trace.name, trace)
