"""A run as a trace of Perfetto, which https://ui.perfetto.dev shows: the times of every request, by device.

Each device has a track, named by its model and scheduler, with tracks beneath it: `waiting` counts requests
that have arrived and not been started; on `arrivals` each request has an instant, from which a flow leads to
its slice on `request`, which holds a slice for its transfer; further tracks show the parts of its
positioning, and `state` shows when the device is idle, is parked and starts up. Requests that a device serves
at the same time get lanes: each lane has a `request` track and positioning tracks of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import numpy as np
from sledlab.runs import packets
from sledlab.runs.idle_periods import spans
from sledlab.runs.packets import BEGIN, COUNTER, END, INSTANT, events, field, first_packet, packet, track

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars

    from sledlab.runs.packets import Bytes, Numbers

ENDINGS = (".pftrace", ".perfetto-trace")
"""Endings of the names of Perfetto traces."""

MAX_REQUESTS = 5_000_000
"""Most requests in a file: already more than a browser has memory for."""

CHUNK = 50_000
"""Requests that are turned into packets at once."""

NAMES = {
    "read": "read",
    "write": "write",
    "transfer": "transfer",
    "seek_x": "seek",
    "settle": "settle",
    "seek_y": "seek",
    "turnaround": "turnaround",
    "rotation": "rotation",
    "idle": "idle",
    "parked": "parked",
    "idle_or_parked": "idle, then parked",
    "startup": "start-up",
}
"""Names of slices on the tracks, by operation, part of the positioning or state."""

NAME_IDS = {name: number for number, name in enumerate(NAMES, 1)}
"""Numbers of these names in a file, from 1."""

CACHE = -1
"""Number that stands for the cache where a device would answer."""

ANNOTATIONS = ("id", "lbn", "blocks")
"""Columns shown as annotations of a request's slice."""

SLED_TRACKS: Mapping[str, Sequence[str]] = {"x": ("seek_x", "settle"), "y": ("seek_y", "turnaround")}
"""Positioning tracks of a sled, which moves in x and y at once: the parts on each, in order."""

ARM_TRACKS: Mapping[str, Sequence[str]] = {"positioning": ("seek_x", "settle", "rotation")}
"""Positioning tracks of a disk's arm: seek, settle and rotation follow one another."""


def check_name(path: Path) -> None:
    """Refuse a file name without an ending of Perfetto traces.

    Raises:
        Error: The name ends in another way.
    """
    if path.suffix.lower() not in ENDINGS:
        raise Error(
            f"unknown format of the trace `{path}`",
            remedy=f"use a name that ends in {' or '.join(ENDINGS)}",
        )


def write(frame: polars.DataFrame, summary: Mapping[str, Any], path: Path) -> None:
    """Write the requests of a run, and the states of its devices, as a trace of Perfetto.

    Raises:
        Error: There are too many requests, or the file cannot be written.
    """
    check_name(path)
    if frame.height > MAX_REQUESTS:
        raise Error(
            f"a trace of {frame.height:,} requests is too large for a browser",
            remedy=f"write at most {MAX_REQUESTS:,} requests, with --limit for instance",
        )
    columns = {name: frame[name].to_numpy() for name in frame.columns if frame[name].dtype.is_numeric()}
    columns["write"] = (frame["op"] == "W").to_numpy() if "op" in frame.columns else np.zeros(0, bool)
    with atomic_write(path) as draft, draft.open("wb") as file:
        for event_packets, track_packets in _stations(columns, summary):
            file.write(track_packets)
            file.writelines(event_packets)


@dataclass(frozen=True)
class Station:
    """A device of a run.

    Attributes:
        columns: Columns of the requests that it served.
        lanes: The lane of each request: requests of one lane do not overlap in time.
        tracks: Positioning tracks of each lane, with the parts that follow one another on each.
        first_number: The first number of its tracks; a track's sequence has the same number.
    """

    columns: Mapping[str, Numbers]
    lanes: Numbers
    tracks: Mapping[str, Sequence[str]]
    first_number: int

    @property
    def lane_count(self) -> int:
        """Number of lanes."""
        return int(self.lanes.max(initial=0)) + 1

    def number(self, kind: str, lane: Any = 0) -> Any:
        """The number of a track: `waiting`, `arrivals` and `state` have one each, other tracks one a lane."""
        single_tracks = ("waiting", "arrivals", "state")
        if kind in single_tracks:
            return self.first_number + 1 + single_tracks.index(kind)
        index = ["request", *self.tracks].index(kind)
        return self.first_number + 4 + index + lane * (1 + len(self.tracks))

    @property
    def next_free(self) -> int:
        """The first number that no track of this device has."""
        return int(self.number("request", self.lane_count))


def _stations(
    columns: Mapping[str, Numbers], summary: Mapping[str, Any]
) -> Iterator[tuple[Iterator[bytes], bytes]]:
    """For each device the packets of its events, and those that describe its tracks."""
    if not columns:
        return
    devices = np.nan_to_num(columns.get("device", np.zeros(len(columns["id"]))), nan=CACHE)
    states_by_device, next_number = spans(columns, devices, summary), 1
    device_numbers = [int(device) for device in np.unique(devices)]
    for number in device_numbers:
        is_own = devices == number
        own_columns = {key: column[is_own] for key, column in columns.items() if key != "device"}
        station = Station(
            own_columns,
            _lanes(own_columns["start_ns"], own_columns["completion_ns"]),
            _tracks(own_columns),
            next_number,
        )
        next_number = station.next_free
        track_name = _station_name(summary.get("config", {}), number, len(device_numbers))
        yield _packets(station, states_by_device.get(number, ())), _track_packets(station, track_name)


def _station_name(config: Mapping[str, Any], number: int, count: int) -> str:
    """Return the name of a device's tracks, with its scheduler: `mems-g2, SPTF`.

    The devices of an array have numbers. Those of a hybrid have only numbers, since they are of two models.
    """
    if number == CACHE:
        return "cache"
    device, scheduler = config.get("device", {}), config.get("scheduler", {})
    model = str(device.get("name") or device.get("preset") or device.get("kind") or "device")
    policy = str(scheduler.get("kind", "fcfs")).upper()
    if count == 1:
        return f"{model}, {policy}"
    is_hybrid = config.get("hybrid", {}).get("kind", "none") != "none"
    return f"device {number}" if is_hybrid else f"{model} {number}, {policy}"


def _tracks(columns: Mapping[str, Numbers]) -> Mapping[str, Sequence[str]]:
    """The positioning tracks of a device, without those on which no request spends any time."""
    tracks = SLED_TRACKS if columns["seek_y_ns"].any() else ARM_TRACKS
    return {
        name: parts for name, parts in tracks.items() if any(columns[f"{part}_ns"].any() for part in parts)
    }


def _lanes(start: Numbers, end: Numbers) -> Numbers:
    """A lane for each request: the first lane that is free when its service starts."""
    order = np.argsort(start, kind="stable")
    lanes = np.zeros(len(start), np.uint64)
    if not (start[order][1:] < np.maximum.accumulate(end[order])[:-1]).any():
        return lanes
    busy_lanes: list[tuple[int, int]] = []
    free_lanes: list[int] = []
    lane_count = 0
    for index, begins, ends in zip(order.tolist(), start[order].tolist(), end[order].tolist(), strict=True):
        while busy_lanes and busy_lanes[0][0] <= begins:
            heappush(free_lanes, heappop(busy_lanes)[1])
        if not free_lanes:
            heappush(free_lanes, lane_count)
            lane_count += 1
        lanes[index] = lane = heappop(free_lanes)
        heappush(busy_lanes, (ends, lane))
    return lanes


def _track_packets(station: Station, name: str) -> bytes:
    """Packets that describe the tracks of a device, and the first packets of their sequences."""
    first_number = station.first_number
    encoded = [packet(first_number, track(first_number, name))]
    tracks = [("waiting", 0), ("arrivals", 0), ("state", 0)]
    tracks += [(kind, lane) for lane in range(station.lane_count) for kind in ("request", *station.tracks)]
    for rank, (kind, lane) in enumerate(tracks):
        number = station.number(kind, lane)
        track_name = f"{kind} {lane + 1}" if lane else kind
        encoded.append(
            packet(
                number, track(number, track_name, first_number, rank, "requests" if kind == "waiting" else "")
            )
        )
        encoded.append(first_packet(number, number, list(NAMES.values()), ANNOTATIONS))
    return b"".join(encoded)


def _packets(station: Station, states: Sequence[tuple[str, Numbers, Numbers]]) -> Iterator[bytes]:
    """Packets of all events of a device: its requests, waiting requests and states."""
    for begin in range(0, len(station.lanes), CHUNK):
        part = slice(begin, begin + CHUNK)
        yield from _requests(station, {name: column[part] for name, column in station.columns.items()}, part)
    yield from _waiting_counter(station)
    yield from _states(station, states)


def _states(station: Station, states: Sequence[tuple[str, Numbers, Numbers]]) -> Iterator[bytes]:
    """Packets of states in order of time: where one ends as the next begins, the end has to come first."""
    if not states:
        return
    names = np.concatenate([np.full(len(begins), NAME_IDS[name], np.uint64) for name, begins, _ in states])
    begins, ends = (np.concatenate([state[index] for state in states]) for index in (1, 2))
    order = np.argsort(begins, kind="stable")
    sequences = np.full(len(begins), station.number("state"), np.uint64)
    yield from packets.interleave(
        [
            (events(BEGIN, begins[order], sequences, names=names[order]), None),
            (events(END, ends[order], sequences), None),
        ]
    )


def _requests(station: Station, columns: Mapping[str, Numbers], part: slice) -> Iterator[bytes]:
    """Packets of arrivals, requests, transfers and parts of the positioning."""
    lanes, ids = station.lanes[part], columns["id"]
    count, start, end = len(ids), columns["start_ns"], columns["completion_ns"]
    flow = packets.fixed64(ids + np.uint64(1))
    arrivals = np.full(count, station.number("arrivals"), np.uint64)
    request_tracks = station.number("request", lanes).astype(np.uint64)
    name_ids = np.where(columns["write"], NAME_IDS["write"], NAME_IDS["read"]).astype(np.uint64)
    flow_tag = packets.varint(47 << 3 | packets.FIXED64)
    flow_end_tag = packets.varint(48 << 3 | packets.FIXED64)
    fields = [_annotation(number, columns[column_name]) for number, column_name in enumerate(ANNOTATIONS, 1)]
    rows = [
        (events(INSTANT, columns["arrival_ns"], arrivals, flow_tag, flow, names=name_ids), None),
        (events(BEGIN, start, request_tracks, flow_end_tag, flow, *fields, names=name_ids), None),
    ]
    positioning_start = start + columns["overhead_ns"]
    for kind, parts in station.tracks.items():
        sequences, part_start = station.number(kind, lanes).astype(np.uint64), positioning_start
        for part_name in parts:
            part_ns = columns[f"{part_name}_ns"]
            rows += _slice(NAME_IDS[part_name], part_start, part_start + part_ns, sequences)
            part_start = part_start + part_ns
    rows += _slice(NAME_IDS["transfer"], np.maximum(end - columns["transfer_ns"], start), end, request_tracks)
    rows.append((events(END, end, request_tracks), None))
    yield from packets.interleave(rows)


def _slice(name_id: int, begins: Numbers, ends: Numbers, sequences: Numbers) -> list[tuple[Bytes, Any]]:
    """A slice for each request, omitted where it has no length."""
    has_length = ends > begins
    begin, end = events(BEGIN, begins, sequences, names=name_id), events(END, ends, sequences)
    return [(begin, has_length), (end, has_length)]


def _annotation(name_id: int, values: Numbers) -> Bytes:
    """An annotation of each event: a number under a name."""
    number = packets.varints(values, packets.width(values))
    return packets.message(4, len(values), field(1, name_id), packets.varint(3 << 3), number)


def _waiting_counter(station: Station) -> Iterator[bytes]:
    """The number of waiting requests, whenever it changes."""
    arrivals, starts = station.columns["arrival_ns"], station.columns["start_ns"]
    times = np.concatenate((arrivals, starts))
    changes = np.repeat(np.array([1, -1], np.int64), (len(arrivals), len(starts)))
    order = np.argsort(times, kind="stable")
    times, waiting_counts = times[order], np.cumsum(changes[order])
    is_kept = np.append(times[1:] != times[:-1], True)
    times, waiting_counts = times[is_kept], waiting_counts[is_kept]
    is_kept = np.append(True, waiting_counts[1:] != waiting_counts[:-1])
    times, waiting_counts = times[is_kept], waiting_counts[is_kept].astype(np.uint64)
    sequences = np.full(len(times), station.number("waiting"), np.uint64)
    encoded_counts = packets.varints(waiting_counts, packets.width(waiting_counts))
    yield events(COUNTER, times, sequences, packets.varint(30 << 3), encoded_counts).tobytes()
