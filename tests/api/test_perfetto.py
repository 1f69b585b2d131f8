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

MAX_BYTES = 350
"""Of a request, at most."""

BUSY = sl.workload("uniform", mean_interarrival_ms=0.7)


@dataclass
class Slice:
    """What lies between a beginning and an end on a track."""

    name: str
    begin: int
    end: int
    fields: dict[str, int]
    flow: int | None = None


@dataclass
class Track:
    """What a file has on a track."""

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
    named = {
        p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")
    }
    place, names, labels = {}, {}, {}
    for packet in trace.packet:
        if packet.sequence_flags & proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence = packet.trusted_packet_sequence_id
            place[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
            names[sequence] = {each.iid: each.name for each in packet.interned_data.event_names}
            labels[sequence] = {each.iid: each.name for each in packet.interned_data.debug_annotation_names}
    result: dict[tuple[str, str], Track] = {}
    open_on: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):  # stable, as Perfetto's
        event, sequence = packet.track_event, packet.trusted_packet_sequence_id
        track = named[place[sequence]]
        key = (named[track.parent_uuid].name, track.name)
        mine = result.setdefault(key, Track(key[0]))
        match event.type:
            case proto.TrackEvent.TYPE_SLICE_BEGIN:
                fields = {
                    labels[sequence][each.name_iid]: each.uint_value for each in event.debug_annotations
                }
                flow = next(iter(event.terminating_flow_ids), None)
                name = names[sequence][event.name_iid]
                open_on[key].append(Slice(name, packet.timestamp, -1, fields, flow))
            case proto.TrackEvent.TYPE_SLICE_END:
                done = open_on[key].pop()
                done.end = packet.timestamp
                mine.slices.append(done)
            case proto.TrackEvent.TYPE_INSTANT:
                name = names[sequence][event.name_iid]
                mine.instants.append((name, packet.timestamp, event.flow_ids[0]))
            case proto.TrackEvent.TYPE_COUNTER:
                mine.values.append((packet.timestamp, event.counter_value))
    assert not any(open_on.values()), "a slice that never ends"
    return result


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
    messages = sorted(request_slices(tracks), key=lambda each: each.fields["id"])
    expected = rows.sort("id")
    for name, values in {
        "id": [each.fields["id"] for each in messages],
        "lbn": [each.fields["lbn"] for each in messages],
        "blocks": [each.fields["blocks"] for each in messages],
        "op": [each.name[0].upper() for each in messages],
        "start_ns": [each.begin for each in messages],
        "completion_ns": [each.end for each in messages],
    }.items():
        assert values == expected[name].to_list(), name
    arrivals = {flow - 1: at for track in tracks.values() for _, at, flow in track.instants}
    assert [arrivals[number] for number in expected["id"]] == expected["arrival_ns"].to_list()
    assert [each.flow for each in messages] == [number + 1 for number in expected["id"]]
    assert path.stat().st_size <= MAX_BYTES * rows.height


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
def test_parts_are_exact(device: str, count: int, tmp_path: Path) -> None:
    r = sl.simulate(BUSY, device, limit=1500)
    tracks = read_tracks(r.perfetto(tmp_path / "run.pftrace"))
    checked = 0
    for (kind, name), column in PARTS.items():
        track = tracks.get((f"{device}, FCFS", kind))
        lengths = [each.end - each.begin for each in track.slices if each.name == name] if track else []
        expected = r.requests.sort("start_ns").filter(pl.col(column) > 0)[column].to_list()
        if lengths:
            assert lengths == expected, (kind, name)
            checked += 1
    assert checked == count


def test_waiting_track_counts_queued_requests(tmp_path: Path) -> None:
    r = sl.simulate(BUSY, "mems-g2", limit=800)
    track = read_tracks(r.perfetto(tmp_path / "run.pftrace"))["mems-g2, FCFS", "waiting"]
    rows = r.requests
    for at, waiting in track.values:
        arrived = rows.filter(pl.col("arrival_ns") <= at).height
        assert waiting == arrived - rows.filter(pl.col("start_ns") <= at).height
    assert track.values[-1][1] == 0


@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
@pytest.mark.parametrize(
    "policy", ["never", "immediate", "fixed:timeout_ms=2", "oracle", "adaptive", "delayed-spinup"]
)
def test_states_are_those_of_the_run(policy: str, scheduler: str, tmp_path: Path) -> None:
    workload = sl.workload("uniform", mean_interarrival_ms=2)
    r = sl.simulate(workload, "mems-g2", limit=1000, power=policy, scheduler=scheduler)
    track = read_tracks(r.perfetto(tmp_path / "run.pftrace"))[f"mems-g2, {scheduler.upper()}", "state"]
    messages: dict[str, int] = defaultdict(int)
    for each in track.slices:
        messages[each.name] += each.end - each.begin
    real = r.state_time
    assert all(a.end <= b.begin for a, b in pairwise(track.slices)), "one state at a time"
    assert messages["start-up"] * 1e-9 == pytest.approx(real.startup, abs=1e-9)
    if policy in ("adaptive", "delayed-spinup"):
        remaining = messages["idle"] + messages["parked"] + messages["idle, then parked"]
        assert remaining * 1e-9 == pytest.approx(real.idle + real.inactive, abs=1e-6)
        return
    assert messages["idle"] * 1e-9 == pytest.approx(real.idle, abs=1e-6)
    assert messages["parked"] * 1e-9 == pytest.approx(real.inactive, abs=1e-6)


def test_counter_of_waiting_requests_has_a_unit(tmp_path: Path) -> None:
    need("perfetto")
    proto = import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = proto.Trace()
    r = sl.simulate(BUSY, "mems-g2", limit=100, scheduler="sptf")
    trace.ParseFromString(r.perfetto(tmp_path / "run.pftrace").read_bytes())
    tracks = [each.track_descriptor for each in trace.packet if each.HasField("track_descriptor")]
    assert [each.counter.unit_name for each in tracks if each.name == "waiting"] == ["requests"]
    assert tracks[0].name == "mems-g2, SPTF"


def test_same_run_same_bytes(tmp_path: Path) -> None:
    files = [
        sl.simulate(BUSY, "mems-g2", limit=500, perfetto=tmp_path / f"{name}.pftrace", requests=cached)
        and (tmp_path / f"{name}.pftrace").read_bytes()
        for name, cached in (("a", None), ("b", False))
    ]
    assert files[0] == files[1]


def test_names_and_tables_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(sl.Error, match="unknown format of the trace"):
        sl.simulate(BUSY, "mems-g2", limit=10, perfetto=tmp_path / "run.json")
    r = sl.simulate(BUSY, "mems-g2", limit=10, requests=False)
    with pytest.raises(sl.Error, match="did not record its requests"):
        r.perfetto(tmp_path / "run.pftrace")


@pytest.mark.slow("300,000 requests")
def test_many_requests_take_seconds(tmp_path: Path) -> None:
    r = sl.simulate(BUSY, "mems-g2", limit=300_000, scheduler="sptf")
    path = r.perfetto(tmp_path / "run.pftrace")
    assert path.stat().st_size <= MAX_BYTES * 300_000
