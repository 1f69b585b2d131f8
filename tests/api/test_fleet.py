"""Fleets: exact percentiles, a device of several volumes against one run, search, faults."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import sledlab as sl
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sledlab import _native
from sledlab.cli import run as cli
from sledlab.display import find_presentation
from sledlab.show import document, terminal
from sledlab.studies.fleet.histogram import PERCENTILES, Histogram, bin_index, middle_ns
from sledlab.studies.fleet.measurement import FleetRun, measure
from sledlab.studies.fleet.placement import BUSY
from sledlab.studies.fleet.recommendation import cost, recommend
from sledlab.studies.fleet.rows import MIX, FleetRow
from sledlab.studies.fleet.search import TriedPlacement, is_monotone, search
from sledlab.study.result_cache import files as cached_files
from sledlab.traces.volumes import Volume, merge_volumes, read_volumes


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=200))
def test_load_bins_are_fine_enough(values: list[int]) -> None:
    for value in values:
        assert abs(middle_ns(bin_index(value)) - value) <= value / 2000
    assert [bin_index(value) for value in sorted(values)] == sorted(map(bin_index, values))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five small volumes: three workloads on one clock."""
    directory = tmp_path_factory.mktemp("volumes")
    for number, (kind, mean_ms) in enumerate(
        [("uniform", 4.0), ("uniform", 20.0), ("cello", None), ("uniform", 60.0), ("uniform", 9.0)]
    ):
        options = {} if mean_ms is None else {"mean_interarrival_ms": mean_ms, "blocks": 1}
        result = sl.simulate(sl.workload(kind, **options), "mems-g2", limit=1500, seed=number + 1)
        rows = result.requests.sort("id")
        rows_on_device = rows.filter(rows["lbn"] < 1_200_000)
        sl.trace(
            {
                "time_us": rows_on_device["arrival_ns"] / 1000,
                "op": rows_on_device["op"],
                "offset_bytes": rows_on_device["lbn"] * 512,
                "length_bytes": rows_on_device["blocks"] * 512,
            }
        ).write(directory / f"volume {number}.csv")
    return directory


def merged_run(volumes: list[Volume], offsets: list[int], toml: str) -> FleetRun:
    return measure(_native.Experiment(toml).to_toml(), merge_volumes(volumes, offsets)).row


ONE_DEVICE = 'device.preset = "mems-g2"\n'
STRIPE = ONE_DEVICE + 'system.kind = "stripe"\nsystem.devices = 3\n'


@pytest.mark.parametrize("toml", [ONE_DEVICE, STRIPE])
def test_shared_device_replays_merged_trace(place: Path, tmp_path: Path, toml: str) -> None:
    volumes = read_volumes(place)
    offsets = [2_500_000, 0, 1_300_000, 3_800_000, 5_100_000]
    result = merged_run(volumes, offsets, toml)
    # The same with commands: shift every volume, merge all, and replay the result.
    files: list[str] = []
    for volume, offset in zip(volumes, offsets, strict=True):
        files.append(str(tmp_path / f"{volume.name}.csv"))
        arguments = [str(place / f"{volume.name}.csv"), files[-1], "--shift", str(offset), "--keep-times"]
        assert cli(["trace", "slice", *arguments]) == 0
    merged_file = tmp_path / "whole.csv"
    assert cli(["trace", "merge", *files, "--save", str(merged_file), "--keep-devices"]) == 0
    run = sl.run(_native.Experiment(toml).with_trace(str(merged_file)))
    direct = sl.run(_native.Experiment(toml), trace=merge_volumes(volumes, offsets))
    assert direct.requests.equals(run.requests)  # times in ns
    ignored_keys = {"config", "warnings"}
    assert {k: v for k, v in direct.summary.items() if k not in ignored_keys} == {
        k: v for k, v in run.summary.items() if k not in ignored_keys
    }
    assert result.requests == run.count
    assert result.device_row.energy_j == run.energy.total
    assert result.device_row.elapsed_s == run.elapsed_s
    for name in (*PERCENTILES, "mean", "max"):
        assert result.histogram.measure_ms(name) == pytest.approx(getattr(run.response_time, name), rel=1e-14)
    _check_volumes(result, run.requests, offsets)


def _check_volumes(result: FleetRun, requests: polars.DataFrame, offsets: list[int]) -> None:
    """Check that each volume has the response times of the requests in its extent, and that they sum up."""
    ends = sorted([*offsets, 10**9])
    for offset, histogram in zip(offsets, result.histograms, strict=True):
        end = ends[ends.index(offset) + 1]
        response_ns = requests.filter((polars.col("lbn") >= offset) & (polars.col("lbn") < end))[
            "response_ns"
        ]
        assert (histogram.requests, histogram.sum_ns, histogram.max_ns) == (
            len(response_ns),
            response_ns.sum(),
            response_ns.max(),
        )
        ranked_ns = response_ns.sort()
        for share in PERCENTILES.values():
            exact_ms = ranked_ns[max(-int(-share * len(response_ns) // 1), 1) - 1] / 1e6
            assert histogram.percentile_ms(share) == pytest.approx(exact_ms, rel=1e-3)
    merged = Histogram.merge(result.histograms)
    assert merged.counts == result.histogram.counts
    assert merged.max_ns == result.histogram.max_ns
    assert merged.sum_ns == pytest.approx(result.histogram.sum_ns, rel=1e-14)
    assert Histogram.from_dict(json.loads(json.dumps(merged.to_dict()))) == merged


def test_fleet_percentiles_cover_all_requests(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2"], parallel=1)
    times_by_volume = [
        sl.simulate(times_ns.trace, "mems-g2").requests["response_ns"].to_list()
        for times_ns in read_volumes(place)
    ]
    sorted_ns = sorted(time for times_ns in times_by_volume for time in times_ns)
    row = result.fleet("mems-g2")
    assert row.requests == len(sorted_ns)
    assert row.mean_ms == pytest.approx(sum(sorted_ns) / len(sorted_ns) / 1e6, rel=1e-12)
    for name, share in PERCENTILES.items():
        exact_ms = sorted_ns[max(-int(-share * len(sorted_ns) // 1), 1) - 1] / 1e6
        assert getattr(row, f"{name}_ms") == pytest.approx(exact_ms, rel=1e-3)


def test_packing_saves_devices_within_the_goal(place: Path) -> None:
    one_each = sl.fleet(place, ["mems-g2"], parallel=1).fleet("mems-g2")
    packed = sl.fleet(place, ["mems-g2", "ram"], placement="packed", goal="p99=1s", parallel=1)
    row = packed.fleet("mems-g2")
    assert row.devices < one_each.devices == 5
    assert row.meets
    assert "), the placement keeps p99 at 1,000 ms over all requests." in packed.answer
    tight = sl.fleet(
        place, ["mems-g2"], placement="packed", goal=f"p99={one_each.p99_ms * 1.001}ms", parallel=1
    )
    assert tight.fleet("mems-g2").meets
    assert row.devices <= tight.fleet("mems-g2").devices <= 5


def test_answer_starts_with_the_nearest_fleet(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2", "ram"], placement="packed", goal="max=0.0001ms", parallel=1)
    nearest = result.recommendation
    assert nearest is not None
    assert not nearest.meets
    first, second = result.answer.split(". ")[:2]
    assert first == "No fleet that was tried keeps max at 0.100 µs over all requests"
    assert second.startswith(f"Nearest: {nearest.devices} {nearest.fleet} (")
    assert f"{nearest.volumes_meet} of 5 volumes within the goal" in second
    assert "max over all requests is" in second
    assert result.to_dict()["recommended"] == nearest.fleet


def test_goal_comes_first_in_a_terminal_of_80_characters(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2", "atlas-10k"], goal="p99=20ms", parallel=1)
    brief = find_presentation(result).brief(result)  # type: ignore[attr-defined]
    lines = terminal.as_text(lambda console: document.write(brief, console), 80).splitlines()
    rules = [index for index, line in enumerate(lines) if line.startswith(" ─")]
    assert len(rules) == 2
    assert lines[rules[0] - 1].split()[:3] == ["goal", "in", "goal"]
    assert {line.split()[1] for line in lines[rules[0] + 1 : rules[0] + 3]} <= {"yes", "no"}
    assert max(map(len, lines)) <= 80


@st.composite
def fleet_rows(draw: st.DrawFn) -> list[FleetRow]:
    """Fleets of some kinds and a mix, with random prices, goals and volumes."""
    rows = []
    for name in [*"abcd"[: draw(st.integers(1, 4))], MIX]:
        price_usd = draw(st.none() | st.integers(1, 5000).map(float))
        energy_usd, volumes_meet, left_count = (
            float(draw(st.integers(0, 50))),
            draw(st.integers(0, 20)),
            draw(st.integers(0, 20)),
        )
        columns: dict[str, Any] = dict.fromkeys((each.name for each in fields(FleetRow)), 1)
        drawn_columns = {
            "fleet": name,
            "meets": draw(st.booleans()),
            "volumes_meet": volumes_meet,
            "energy_usd": energy_usd,
        }
        total_usd = None if price_usd is None else price_usd + energy_usd
        columns |= {"left": left_count, "devices_usd": price_usd, "total_usd": total_usd}
        rows.append(FleetRow(**{**columns, **drawn_columns}))
    return rows


@given(fleet_rows(), st.permutations(range(5)))
@settings(deadline=None)
def test_recommended_mix_is_never_worse(rows: list[FleetRow], order: list[int]) -> None:
    rows = [rows[position] for position in order if position < len(rows)]
    singles = [row for row in rows if row.fleet != MIX]
    recommended, single = recommend(rows), recommend(singles)
    assert recommended.meets >= single.meets
    if recommended.fleet == MIX:
        assert recommended.left <= single.left
        assert recommended.volumes_meet >= single.volumes_meet
        assert cost(recommended, (recommended, single)) <= cost(single, (recommended, single))
    for row in singles:
        if row.meets:
            assert single.meets
            assert cost(single, singles) <= cost(row, singles)
        if not single.meets:
            merits = [(-each.left, each.volumes_meet, -cost(each, singles)) for each in (single, row)]
            assert merits[0] >= merits[1]


def with_prices(result: sl.Fleet, **usd_and_within: tuple[float, int]) -> sl.Fleet:
    """A fleet with other prices and volumes within the goal, and a mix of one device of each kind."""
    first_fleet = result.fleet(result.devices[0])
    fleets = [
        replace(first_fleet, fleet=name, devices=1, meets=False, total_usd=usd, volumes_meet=volumes_meet)
        for name, (usd, volumes_meet) in usd_and_within.items()
    ]
    devices = [replace(result.table_rows("devices")[0], fleet=MIX, device=name) for name in result.devices]
    return replace(result, rows={**result.rows, "fleet": fleets, "devices": devices})


def test_dominated_mix_is_not_recommended(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2", "ram"], placement="packed", goal="p99=1ms", parallel=1)
    worse = with_prices(result, **{"mems-g2": (300.0, 1), "ram": (255.0, 4), MIX: (3563.0, 3)})
    assert worse.recommendation == worse.fleet("ram")
    assert "Nearest: 1 ram ($255 with energy, 4 of 5 volumes within the goal);" in worse.answer
    assert "The mix, each volume on its own best kind, has 1 mems-g2 and 1 ram." in worse.answer
    better = with_prices(result, **{"mems-g2": (300.0, 1), "ram": (255.0, 4), MIX: (200.0, 5)})
    assert better.recommendation == better.mix
    assert "Nearest: 1 mems-g2 and 1 ram ($200 with energy, 5 of 5 volumes within the goal);" in better.answer


def write_volume(directory: Path, name: str, times_ms: Any, blocks: int = 6_000_000) -> Path:
    """A volume of random reads of 4 KB within its first blocks, at these times."""
    count = len(times_ms)
    pages = np.random.default_rng(count).integers(0, blocks // 8, count)
    columns = {"time_us": np.asarray(times_ms) * 1000.0, "op": ["R"] * count}
    sl.trace({**columns, "offset_bytes": pages * 4096, "length_bytes": np.full(count, 4096)}).write(
        directory / f"{name}.csv"
    )
    return directory


@given(
    st.lists(st.tuples(st.integers(1, 300), st.floats(0.01, 50.0)), min_size=1, max_size=4),
    st.sampled_from(["mems-g2", "mems-g2:sleds=3", "atlas-10k"]),
    st.sampled_from(["one-each", "packed", "striped"]),
)
@settings(deadline=None, max_examples=8)
def test_energy_is_power_times_time(
    volumes: list[tuple[int, float]], device: str, placement_name: str
) -> None:
    assume(placement_name != "striped" or "sleds" not in device)  # refused: an array of several sleds each
    with tempfile.TemporaryDirectory() as name:
        for number, (count, gap_ms) in enumerate(volumes):
            write_volume(Path(name), f"v{number}", np.arange(count) * gap_ms, 2_000_000)
        result = sl.fleet(name, [device], placement=placement_name, parallel=1)
        span_s = result.config["span_s"]
        (row,), devices = result.table_rows("fleet"), result.table_rows("devices")
        traces = {volume.name: volume.trace for volume in read_volumes(name)}
        assert sum(each.energy_j for each in devices) == pytest.approx(row.power_w * span_s)
        for each in devices if placement_name == "one-each" else ():
            volume_run = sl.simulate(traces[f"v{each.number}"], device, requests=False)
            if volume_run.elapsed_s >= span_s:
                assert each.energy_j == pytest.approx(volume_run.energy.total / volume_run.elapsed_s * span_s)
            else:  # idle for the remaining time
                idle_w = (each.energy_j - volume_run.energy.total) / (span_s - volume_run.elapsed_s)
                assert 0 < idle_w < MAX_IDLE_W[device]
        years_kwh = row.power_w * 3 * 365.25 * 24 / 1000
        assert row.energy_usd == pytest.approx(years_kwh * result.config["prices"]["kwh"])


MAX_IDLE_W = {"mems-g2": 0.2, "mems-g2:sleds=3": 0.6, "atlas-10k": 11.01}
"""Upper bounds of the power of an idle device."""


def test_overloaded_devices_draw_their_own_power(tmp_path: Path) -> None:
    write_volume(tmp_path, "flood", np.arange(4000) * 0.1)
    write_volume(tmp_path, "calm", [0.0, 400.0])
    result = sl.fleet(tmp_path, ["atlas-10k"], parallel=1)
    flood = sl.simulate(tmp_path / "flood.csv", "atlas-10k")
    assert flood.saturated
    assert flood.elapsed_s > 20
    flood_row = next(row for row in result.table_rows("volumes") if row.volume == "flood")
    assert flood_row.energy_j == pytest.approx(flood.energy.total / flood.elapsed_s * 0.4, rel=0.001)
    assert result.fleet("atlas-10k").power_w < 2 * 15


def test_devices_idle_until_the_fleet_ends(tmp_path: Path) -> None:
    times_ms = np.arange(500) * 8.0
    write_volume(tmp_path, "early", times_ms)
    write_volume(tmp_path, "late", [0.0, 18_000.0])
    columns = ("time_us", "op", "offset_bytes", "length_bytes")
    early = sl.read_trace(tmp_path / "early.csv").frame().select(columns)
    last = polars.DataFrame([(18e6, "R", 0, 4096)], schema=early.schema, orient="row")
    with_last = sl.simulate(polars.concat([early, last]), "mems-g2")
    row = with_last.requests.row(-1, named=True)
    expected_j = with_last.energy.total - (row["seek_uj"] + row["access_uj"] + row["startup_uj"]) * 1e-6
    result = sl.fleet(tmp_path, ["mems-g2"], parallel=1)
    early_row = next(each for each in result.table_rows("volumes") if each.volume == "early")
    assert early_row.energy_j == pytest.approx(expected_j, rel=0.01)


def test_load_is_that_of_the_busiest_sled(tmp_path: Path) -> None:
    for number in range(4):
        gaps_ms = np.random.default_rng(number).exponential(1.6, 2000)
        write_volume(tmp_path, f"v{number}", np.cumsum(gaps_ms), 1_440_000)
    contiguous = sl.device("mems-g2", sleds=4)
    striped = sl.device("mems-g2", sleds=4, sled_map="round-robin", stripe_blocks=8)
    result = sl.fleet(tmp_path, [contiguous, striped], placement="packed", parallel=1)
    apart, together = (result.fleet(name) for name in result.devices)
    assert (apart.devices, together.devices) == (4, 1)
    assert apart.overloaded == together.overloaded == 0
    loads = [row.load for row in result.table_rows("volumes") if row.device == result.devices[0]]
    utilizations = [row.utilization for row in map(sl.simulate, sorted(tmp_path.iterdir()), ["mems-g2"] * 4)]
    assert loads == pytest.approx(utilizations, rel=0.05)


def test_hybrid_load_is_load_of_busier_device(tmp_path: Path) -> None:
    volumes = tmp_path / "volumes"
    volumes.mkdir()
    for number in range(3):
        gaps_ms = np.random.default_rng(number).exponential(14.0, 1000)
        write_volume(volumes, f"v{number}", np.cumsum(gaps_ms), 4_000_000)
    file = tmp_path / "buffered.toml"
    file.write_text(
        'device.preset = "atlas-10k"\nfront.preset = "mems-g2"\n\n[hybrid]\nkind = "write-buffer"\n'
    )
    result = sl.fleet(volumes, [file], placement="packed", parallel=1)
    assert result.fleet("buffered").devices == 3  # reads bypass the buffer and keep the disk busy
    for row in result.table_rows("volumes"):
        disk = sl.simulate(volumes / f"{row.volume}.csv", "atlas-10k", requests=False)
        assert row.load == pytest.approx(disk.utilization, rel=0.1)
        assert row.load > 0.35


def test_simultaneous_requests_are_a_load(tmp_path: Path) -> None:
    write_volume(tmp_path, "burst", np.zeros(20_000))
    burst_fleet = sl.fleet(tmp_path, ["mems-g2"], placement="packed", parallel=1)
    assert [row.load for row in burst_fleet.table_rows("devices")] == [pytest.approx(1.0)]
    write_volume(tmp_path, "calm", np.arange(101) * 100.0)
    result = sl.fleet(tmp_path, ["mems-g2"], placement="packed", parallel=1)
    loads_by_volume = {row.volume: (row.load, row.why) for row in result.table_rows("placement")}
    assert loads_by_volume["burst"][0] > 1
    assert loads_by_volume["burst"][1] == BUSY
    rows_by_volume = {row.volume: row for row in result.table_rows("volumes")}
    assert (
        rows_by_volume["burst"].busiest_minute_iops
        >= rows_by_volume["burst"].rate_iops
        == pytest.approx(2000)
    )


def test_fastest_fleet_places_the_most_volumes(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2", "ram"], parallel=1)

    def answer_with(**changes: dict[str, Any]) -> str:
        rows = [replace(result.fleet(name), **changes[name.replace("-", "_")]) for name in result.devices]
        return replace(result, rows={**result.rows, "fleet": rows}).answer

    fast, slow = {"p99_ms": 1.0}, {"p99_ms": 2.0}
    assert answer_with(mems_g2=fast, ram=slow).startswith("Fastest: 5 mems-g2 answer")
    assert answer_with(mems_g2={**fast, "left": 1}, ram=slow).startswith(
        "The only fleet with a device for 5 volumes: 5 ram answer 99"
    )
    assert answer_with(mems_g2={**fast, "overloaded": 1}, ram=slow).startswith("Fastest: 5 ram answer")


def test_figures_mark_overloaded_devices(tmp_path: Path) -> None:
    write_volume(tmp_path, "flood", np.arange(4000) * 0.1)
    write_volume(tmp_path, "calm", np.arange(50) * 50.0)
    result = sl.fleet(tmp_path, ["atlas-10k"], placement="packed", goal="p99=1s", parallel=1)
    tried_rows = [replace(row, overloaded=1) for row in result.table_rows("tried")]
    overloaded = replace(result, rows={**result.rows, "tried": tried_rows})
    for kind in ("volumes", "goals"):
        points = [line for line in overloaded.plot(kind).axes[0].lines if line.get_marker() == "o"]
        assert any(point.get_markerfacecolor() == "white" for point in points)


def test_striped_volumes_lie_on_groups(place: Path) -> None:
    result = sl.fleet(place, ["mems-g2"], placement="striped", group=2, fill=0.9, parallel=1)
    assert result.fleet("mems-g2").devices % 2 == 0
    assert result.config["devices"]["mems-g2"]["system"]["devices"] == 2
    with pytest.raises(sl.Error, match="require --placement striped"):
        sl.fleet(place, ["mems-g2"], group=2)


def test_a_hybrid_is_a_kind_of_device(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "buffered.toml"
    file.write_text(
        'device.preset = "atlas-10k"\nfront.preset = "mems-g2"\n\n[hybrid]\nkind = "caching-disk"\n'
    )
    result = sl.fleet(place, [file, "atlas-10k"], parallel=1)
    assert result.devices == ["buffered", "atlas-10k"]
    both, disk = result.fleet("buffered"), result.fleet("atlas-10k")
    assert both.devices_usd > disk.devices_usd
    assert both.mean_ms < disk.mean_ms


@given(st.lists(st.floats(1, 100), min_size=101, max_size=101), st.floats(1, 100))
def test_search_ends_between_success_and_failure(values: list[float], limit: float) -> None:
    tried_by_fill: dict[float, TriedPlacement] = {}

    def try_fill(fill: float) -> TriedPlacement:
        assert fill not in tried_by_fill
        percent = round(100 * fill)
        tried_by_fill[fill] = TriedPlacement(
            fill, 500 - 4 * percent, 0, values[percent], values[percent] <= limit
        )
        return tried_by_fill[fill]

    tried_rows = search(0.9, try_fill)
    assert tried_rows == [tried_by_fill[fill] for fill in sorted(tried_by_fill)]
    assert len(tried_rows) <= 12
    met_fills = [each.fill for each in tried_rows if each.meets]
    assert {0.0, 0.9} <= set(tried_by_fill)
    if not met_fills:
        assert len(tried_rows) == 5
    elif max(met_fills) < 0.9:
        next_tried = next(each for each in tried_rows if each.fill > max(met_fills))
        assert round(100 * (next_tried.fill - max(met_fills))) == 1
    assert is_monotone([(each.devices, each.meets) for each in tried_rows]) == all(
        not each.meets
        for each in tried_rows
        if each.fill > min((e.fill for e in tried_rows if not e.meets), default=1)
    )


def test_corrupt_volumes_are_named_and_others_finish(place: Path, tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    for file in place.iterdir():
        (fleet / file.name).write_bytes(file.read_bytes())
    lines = (fleet / "volume 1.csv").read_text().splitlines()
    (fleet / "broken\x1b[1m.csv").write_text("\n".join([*lines[:200], "12,R,oops,512"]))
    (fleet / "empty.csv").write_text(lines[0] + "\n")
    result = sl.fleet(fleet, ["mems-g2"], placement="packed", parallel=1)
    reasons_by_volume = {row.volume: row.why for row in result.table_rows("failed")}
    assert set(reasons_by_volume) == {"broken\x1b[1m", "empty"}
    assert "oops" in reasons_by_volume["broken\x1b[1m"]
    assert "holds no requests" in reasons_by_volume["empty"]
    assert result.fleet("mems-g2").volumes == 5
    printed = str(result)
    assert "2 volumes cannot be replayed" in " ".join(printed.split())
    assert "\x1b" not in printed
    alone = sl.fleet(place, ["mems-g2"], placement="packed", parallel=1)
    assert alone.fleet("mems-g2") == result.fleet("mems-g2")


def test_first_error_is_raised_when_all_replays_fail(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("time_us,op,offset_bytes,length_bytes\n1,R,oops,512\n")
    with pytest.raises(sl.Error, match=r"(?s)`bad`: .*oops") as caught:
        sl.fleet(tmp_path, ["mems-g2"], parallel=1)
    assert "no volume of the fleet can be replayed" in str(caught.value)


def test_volume_larger_than_any_device_is_named(place: Path) -> None:
    result = sl.fleet(
        place,
        ["mems-g2:sleds=1"],
        placement="packed",
        fill=0.01,
        settings={"device.active_tips": 640},
        parallel=1,
    )
    assert result.fleet(result.devices[0]).left == 0
    small = sl.fleet("sample:", ["mems-g1"], placement="packed", parallel=1)
    unplaced_rows = [row for row in small.table_rows("placement") if row.why]
    assert all(row.number is None for row in unplaced_rows)
    assert small.fleet("mems-g1").left == len(unplaced_rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "p98=3ms"}, "unknown measure of a goal"),
        ({"goal": "3ms"}, "is not a goal"),
        ({"goal": "p99=10"}, "write it with a unit"),
        ({"fill": 0}, "cannot be filled"),
        ({"placement": "packd"}, "unknown placement"),
        ({"device": ["mems-g2", "mems-g2"]}, "given twice"),
        ({"device": []}, "no device was given"),
        ({"price": ["mems-g22=3"]}, "mems-g22"),
        ({"place": None}, "no volumes were given"),
    ],
)
def test_invalid_input_is_an_error(place: Path, options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"place": place, "device": ["mems-g2"], **options}
    with pytest.raises(sl.Error, match=message):
        sl.fleet(**arguments)


def digests(directory: Path) -> dict[str, str]:
    """Digests of tables, summary and cached rows, independent of the order in which runs completed."""
    file_digests = {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in directory.iterdir()
        if each.suffix in (".csv", ".json", ".toml", ".html") and each.name != "sledlab.json"
    }
    return {
        **file_digests,
        "rows": hashlib.sha256(repr(sorted(cached_rows(directory).items())).encode()).hexdigest(),
    }


def cached_rows(directory: Path) -> dict[str, str]:
    """Cached rows by key; no key may occur twice."""
    rows_by_key: dict[str, str] = {}
    for file in cached_files(directory):
        for line in file.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            assert record["key"] not in rows_by_key
            rows_by_key[record["key"]] = json.dumps(record["row"])
    return rows_by_key


OPTIONS = ("--device", "mems-g2,ram", "--placement", "packed", "--goal", "p99=9ms")


def command(place: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "sledlab", "fleet", str(place), *OPTIONS, "--out", str(out), "-q", *options]


@pytest.mark.slow("starts the command with processes of its own")
def test_parallel_run_and_file_give_equal_bytes(place: Path, tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("one", "two", "again")]
    for out, options in zip(outs, (("--parallel", "1"), ("--parallel", "2")), strict=False):
        subprocess.run(command(place, out, *options), check=True, capture_output=True)
    arguments = ["fleet", str(outs[0] / "study.toml"), "--out", str(outs[2]), "--parallel", "1"]
    subprocess.run([sys.executable, "-m", "sledlab", *arguments], check=True, capture_output=True)
    assert digests(outs[0]) == digests(outs[1]) == digests(outs[2])
    listed_files = set(json.loads((outs[0] / "sledlab.json").read_text())["files"])
    assert {each.name for each in outs[0].iterdir() if each.is_file()} - {"sledlab.json"} <= listed_files


@pytest.mark.slow("kills the command three times")
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_study_resumes(place: Path, tmp_path: Path) -> None:
    uninterrupted, interrupted, rng = tmp_path / "whole", tmp_path / "killed", random.Random(7)
    start_s = time.monotonic()
    subprocess.run(command(place, uninterrupted, "--parallel", "2"), check=True, capture_output=True)
    duration_s = time.monotonic() - start_s
    previous_rows: dict[str, str] = {}
    for turn in range(3):
        jobs = str(1 + turn % 2)
        process = subprocess.Popen(
            command(place, interrupted, "--parallel", jobs),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.uniform(0.2, 1.0) * duration_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        current_rows = cached_rows(interrupted) if interrupted.exists() else {}
        assert previous_rows.items() <= current_rows.items()
        previous_rows = current_rows
    subprocess.run(command(place, interrupted, "--parallel", "2"), check=True, capture_output=True)
    assert digests(uninterrupted) == digests(interrupted)
