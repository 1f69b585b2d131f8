"""Runs as traces of Perfetto, read back with Perfetto's own classes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledlab as sl

from tests.require import need

MAX_BYTES_PER_REQUEST = 350
"""Maximum size of the file per request."""

BUSY = sl.workload("uniform", mean_interarrival_ms=0.7)


@dataclass
class Slice:
    """A slice of a track: the time between a begin and an end event."""

    name: str
    begin_ns: int
    end_ns: int
    fields: dict[str, int]
    flow: int | None = None


@dataclass
class Track:
    """Events of a track."""

    device: str
    slices: list[Slice] = field(default_factory=list)
    instants: list[tuple[str, int, int]] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)


def read_tracks(path: Path) -> dict[tuple[str, str], Track]:
    """Tracks of a file by device and name, every event in order of time, as Perfetto sorts them."""
    need("perfetto")
    proto = import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    descriptors_by_id = {
        p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")
    }
    track_ids, event_names, field_names = {}, {}, {}
    for packet in trace.packet:
        if packet.sequence_flags & proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence = packet.trusted_packet_sequence_id
            track_ids[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
            event_names[sequence] = {each.iid: each.name for each in packet.interned_data.event_names}
            field_names[sequence] = {
                each.iid: each.name for each in packet.interned_data.debug_annotation_names
            }
    tracks: dict[tuple[str, str], Track] = {}
    open_slices: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):  # stable, as Perfetto's
        event, sequence = packet.track_event, packet.trusted_packet_sequence_id
        descriptor = descriptors_by_id[track_ids[sequence]]
        key = (descriptors_by_id[descriptor.parent_uuid].name, descriptor.name)
        track = tracks.setdefault(key, Track(key[0]))
        match event.type:
            case proto.TrackEvent.TYPE_SLICE_BEGIN:
                fields = {
                    field_names[sequence][each.name_iid]: each.uint_value for each in event.debug_annotations
                }
                flow = next(iter(event.terminating_flow_ids), None)
                name = event_names[sequence][event.name_iid]
                open_slices[key].append(Slice(name, packet.timestamp, -1, fields, flow))
            case proto.TrackEvent.TYPE_SLICE_END:
                ended = open_slices[key].pop()
                ended.end_ns = packet.timestamp
                track.slices.append(ended)
            case proto.TrackEvent.TYPE_INSTANT:
                name = event_names[sequence][event.name_iid]
                track.instants.append((name, packet.timestamp, event.flow_ids[0]))
            case proto.TrackEvent.TYPE_COUNTER:
                track.values.append((packet.timestamp, event.counter_value))
    assert not any(open_slices.values()), "a slice that never ends"
    return tracks


def request_slices(tracks: dict[tuple[str, str], Track]) -> list[Slice]:
    return [
        each
        for (_, name), track in tracks.items()
        if name.startswith("request")
        for each in track.slices
        if each.fields
    ]


SYSTEMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sled": ("mems-g2", {"scheduler": "sptf"}),
    "parks at once": ("mems-g2", {"power": "immediate", "replay": "open"}),
    "disk": ("atlas-10k", {}),
    "ssd": ("ssd-tlc", {}),
    "stripe": ("mems-g2", {"system": sl.system("stripe", devices=2)}),
    "merged": ("mems-g2", {"merge": "chains", "speedup": 4.0}),
    "hybrid": ("atlas-10k", {"hybrid": "caching-disk", "front": "mems-g2"}),
    "cache": ("mems-g2", {"cache": "write-back"}),
    "after a warm-up": ("mems-g2", {"warmup": 100}),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_request_occurs_once(system: str, tmp_path: Path) -> None:
    device, options = SYSTEMS[system]
    r = sl.simulate(BUSY, device, limit=1500, **options)
    path = r.perfetto(tmp_path / "run.pftrace")
    tracks, rows = read_tracks(path), r.requests
    slices = sorted(request_slices(tracks), key=lambda each: each.fields["id"])
    sorted_rows = rows.sort("id")
    for name, values in {
        "id": [each.fields["id"] for each in slices],
        "lbn": [each.fields["lbn"] for each in slices],
        "blocks": [each.fields["blocks"] for each in slices],
        "op": [each.name[0].upper() for each in slices],
        "start_ns": [each.begin_ns for each in slices],
        "completion_ns": [each.end_ns for each in slices],
    }.items():
        assert values == sorted_rows[name].to_list(), name
    arrivals_ns = {flow - 1: time_ns for track in tracks.values() for _, time_ns, flow in track.instants}
    assert [arrivals_ns[number] for number in sorted_rows["id"]] == sorted_rows["arrival_ns"].to_list()
    assert [each.flow for each in slices] == [number + 1 for number in sorted_rows["id"]]
    assert path.stat().st_size <= MAX_BYTES_PER_REQUEST * rows.height


PARTS = {
    ("x", "seek"): "seek_x_ns",
    ("x", "settle"): "settle_ns",
    ("y", "seek"): "seek_y_ns",
    ("y", "turnaround"): "turnaround_ns",
    ("request", "transfer"): "transfer_ns",
    ("positioning", "seek"): "seek_x_ns",
    ("positioning", "rotation"): "rotation_ns",
}


@pytest.mark.parametrize(("device", "count"), [("mems-g2", 5), ("atlas-10k", 3)])
def test_durations_of_parts_equal_the_request_table(device: str, count: int, tmp_path: Path) -> None:
    r = sl.simulate(BUSY, device, limit=1500)
    tracks = read_tracks(r.perfetto(tmp_path / "run.pftrace"))
    checked_parts = 0
    for (kind, name), column in PARTS.items():
        track = tracks.get((f"{device}, FCFS", kind))
        durations_ns = (
            [each.end_ns - each.begin_ns for each in track.slices if each.name == name] if track else []
        )
        recorded_ns = r.requests.sort("start_ns").filter(pl.col(column) > 0)[column].to_list()
        if durations_ns:
            assert durations_ns == recorded_ns, (kind, name)
            checked_parts += 1
    assert checked_parts == count


def test_waiting_track_counts_queued_requests(tmp_path: Path) -> None:
    r = sl.simulate(BUSY, "mems-g2", limit=800)
    track = read_tracks(r.perfetto(tmp_path / "run.pftrace"))["mems-g2, FCFS", "waiting"]
    rows = r.requests
    for time_ns, queued in track.values:
        arrived = rows.filter(pl.col("arrival_ns") <= time_ns).height
        assert queued == arrived - rows.filter(pl.col("start_ns") <= time_ns).height
    assert track.values[-1][1] == 0


@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
@pytest.mark.parametrize(
    "policy", ["never", "immediate", "fixed:timeout_ms=2", "oracle", "adaptive", "delayed-spinup"]
)
def test_states_are_those_of_the_run(policy: str, scheduler: str, tmp_path: Path) -> None:
    workload = sl.workload("uniform", mean_interarrival_ms=2)
    r = sl.simulate(workload, "mems-g2", limit=1000, power=policy, scheduler=scheduler)
    track = read_tracks(r.perfetto(tmp_path / "run.pftrace"))[f"mems-g2, {scheduler.upper()}", "state"]
    durations_ns: dict[str, int] = defaultdict(int)
    for each in track.slices:
        durations_ns[each.name] += each.end_ns - each.begin_ns
    state_time = r.state_time
    assert all(a.end_ns <= b.begin_ns for a, b in pairwise(track.slices)), "one state at a time"
    assert durations_ns["start-up"] * 1e-9 == pytest.approx(state_time.startup, abs=1e-9)
    if policy in ("adaptive", "delayed-spinup"):
        idle_and_parked_ns = durations_ns["idle"] + durations_ns["parked"] + durations_ns["idle, then parked"]
        assert idle_and_parked_ns * 1e-9 == pytest.approx(state_time.idle + state_time.inactive, abs=1e-6)
        return
    assert durations_ns["idle"] * 1e-9 == pytest.approx(state_time.idle, abs=1e-6)
    assert durations_ns["parked"] * 1e-9 == pytest.approx(state_time.inactive, abs=1e-6)


def test_counter_of_waiting_requests_has_a_unit(tmp_path: Path) -> None:
    need("perfetto")
    proto = import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = proto.Trace()
    r = sl.simulate(BUSY, "mems-g2", limit=100, scheduler="sptf")
    trace.ParseFromString(r.perfetto(tmp_path / "run.pftrace").read_bytes())
    tracks = [each.track_descriptor for each in trace.packet if each.HasField("track_descriptor")]
    assert [each.counter.unit_name for each in tracks if each.name == "waiting"] == ["requests"]
    assert tracks[0].name == "mems-g2, SPTF"


def test_recording_requests_changes_no_bytes(tmp_path: Path) -> None:
    contents = [
        sl.simulate(BUSY, "mems-g2", limit=500, perfetto=tmp_path / f"{name}.pftrace", requests=requests)
        and (tmp_path / f"{name}.pftrace").read_bytes()
        for name, requests in (("a", None), ("b", False))
    ]
    assert contents[0] == contents[1]


def test_perfetto_without_requests_or_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sl.Error, match="unknown format of the trace"):
        sl.simulate(BUSY, "mems-g2", limit=10, perfetto=tmp_path / "run.json")
    r = sl.simulate(BUSY, "mems-g2", limit=10, requests=False)
    with pytest.raises(sl.Error, match="did not record its requests"):
        r.perfetto(tmp_path / "run.pftrace")


@pytest.mark.slow("300,000 requests")
def test_many_requests_take_seconds(tmp_path: Path) -> None:
    r = sl.simulate(BUSY, "mems-g2", limit=300_000, scheduler="sptf")
    path = r.perfetto(tmp_path / "run.pftrace")
    assert path.stat().st_size <= MAX_BYTES_PER_REQUEST * 300_000
