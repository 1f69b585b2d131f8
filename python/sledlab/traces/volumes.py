"""Volumes of a fleet: where their requests are, what a placement needs to know of them, and several as one trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.traces.columns import BLOCK_BYTES
from sledlab.traces.read import Trace, read_trace
from sledlab.traces.samples import called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.traces.read import Opener

MINUTE_NS = 60_000_000_000
"""Nanoseconds of a minute."""


@dataclass(frozen=True)
class Volume:
    """A volume of a fleet.

    Attributes:
        name: What it is called where it comes from; any text, maybe a hostile one.
        trace: Its requests alone: blocks of the volume from 0, device number 0, times on the clock of the
            whole fleet, which does not begin anew with each volume.
    """

    name: str
    trace: Trace


@dataclass(frozen=True)
class Survey:
    """What a placement needs to know of a volume.

    Attributes:
        requests: Reads and writes.
        reads: Reads among them.
        read_bytes: What reads move, in bytes.
        written_bytes: What writes move, in bytes.
        end_blocks: The first block of 512 bytes that no request reaches.
        first_s: Arrival of the first request, in s on the clock of the fleet; 0 where there is none.
        last_s: Arrival of the last one, in s.
        busiest_minute_iops: Reads and writes per second in the minute of the clock that has most of them.
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
        """Writes among the requests."""
        return self.requests - self.reads


def read_volumes(place: str | Path, *, format: str | None = None) -> list[Volume]:
    """The volumes of a fleet, sorted by name.

    Args:
        place: A directory with one trace for each volume, called by the name of its file without endings.
        format: The format of the traces; told by their content when left out.

    Raises:
        Error: There is no such place, it holds no trace, or two files have one name.
    """
    directory = Path(place)
    if not directory.is_dir():
        raise Error(
            f"there is no directory `{place}`", remedy="name a directory with a trace for each volume"
        )
    files = sorted(each for each in directory.iterdir() if each.is_file() and not each.name.startswith("."))
    if not files:
        raise Error(f"`{place}` holds no traces", remedy="put a trace for each volume there")
    twice = [name for name, count in Counter(called(each.name) for each in files).items() if count > 1]
    if twice:
        raise Error(f"`{place}` has two traces of the volume `{twice[0]}`", remedy="rename one of the files")
    volumes = [Volume(called(each.name), read_trace(each, format)) for each in files]
    return sorted(volumes, key=lambda volume: volume.name)


def survey(volume: Volume) -> Survey:
    """What a placement needs to know of a volume; reads it once, in constant memory.

    Raises:
        Error: The trace is wrong somewhere.
    """
    source = volume.trace.open()
    requests = reads = read_bytes = written_bytes = end_blocks = 0
    first_ns = last_ns = None
    minute, in_minute, busiest = -1, 0, 0
    while (chunk := source.next_chunk()) is not None:
        times, lbns, lengths = (np.frombuffer(chunk[part], "<u8") for part in (0, 2, 3))
        ops = np.frombuffer(chunk[1], "S1")
        first_ns = int(times[0]) if first_ns is None else first_ns
        last_ns = int(times[-1])
        end_blocks = max(end_blocks, int((lbns + (lengths + (BLOCK_BYTES - 1)) // BLOCK_BYTES).max()))
        is_read, is_write = ops == b"R", ops == b"W"
        read_bytes += int(lengths[is_read].sum())
        written_bytes += int(lengths[is_write].sum())
        reads += int(is_read.sum())
        moving = times[is_read | is_write]
        requests += len(moving)
        for number, count in zip(*np.unique(moving // MINUTE_NS, return_counts=True), strict=True):
            in_minute = in_minute + int(count) if number == minute else int(count)
            minute, busiest = number, max(busiest, in_minute)
    return Survey(
        requests,
        reads,
        read_bytes,
        written_bytes,
        end_blocks,
        (first_ns or 0) / 1e9,
        (last_ns or 0) / 1e9,
        busiest / 60,
    )


@dataclass(frozen=True)
class Merged:
    """Requests of several traces in order of arrival, each moved by an offset.

    Attributes:
        of: Where they come from.
        offsets_blocks: By how many blocks those of each are moved.
    """

    of: tuple[Opener, ...]
    offsets_blocks: tuple[int, ...]

    def open(self) -> _native.Source:
        """The requests, from the start."""
        moved = [
            _native.shift(_native.overlay(each.open()), offset)
            for each, offset in zip(self.of, self.offsets_blocks, strict=True)
        ]
        return _native.merge(moved, keep_devices=True)


def merged(volumes: Sequence[Volume], offsets_blocks: Sequence[int]) -> Trace:
    """Several volumes as one trace of one device, in order of arrival; equal arrivals in the order given.

    Nothing is opened before the trace is, and the trace pickles: it may go to another process.

    Args:
        volumes: The volumes.
        offsets_blocks: Where each begins, in blocks of 512 bytes.

    Raises:
        Error: There are not as many offsets as volumes.
    """
    if len(volumes) != len(offsets_blocks):
        raise Error(f"{len(volumes)} volumes have {len(offsets_blocks)} offsets", remedy="give one for each")
    opener = Merged(tuple(volume.trace.opener for volume in volumes), tuple(offsets_blocks))
    return Trace(", ".join(volume.name for volume in volumes), "merge", opener)
