"""A trace of several devices is read with an address space for each device, or refused; never overlaid.

The trace reads each block of four devices once, at the same addresses on each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledlab as sl
from sledlab.traces.columns import BLOCK_BYTES

SPC = Path(__file__).parents[1] / "published_traces" / "hits-four-units-same-addresses.spc"
REQUESTS, DEVICES, REQUEST_BYTES = 32, 4, 65536
SHORT_STUDY = {"limit": 8, "parallel": 1}

SIMULATIONS: dict[str, Callable[[Any], Any]] = {
    "simulate": lambda trace: sl.simulate(trace, "mems-g2"),
    "compare": lambda trace: sl.compare(trace, "mems-g2", scheduler=["fcfs"], speedup=[1], **SHORT_STUDY),
    "side-by-side": lambda trace: sl.side_by_side(trace, ["mems-g2", "mems-g3"], **SHORT_STUDY),
    "power": lambda trace: sl.power_study(
        trace, "mems-g2", power=["never"], strategy=["immediate"], **SHORT_STUDY
    ),
    "hybrid": lambda trace: sl.hybrid_study(
        trace, configuration=["mcd-all"], mems_mb=[8.0], segment_kb=[64], **SHORT_STUDY
    ),
    "tune": lambda trace: sl.tune_hybrid(trace, budget=8.0, **SHORT_STUDY),
}
"""Functions with one device, or one front, for all requests."""

COMMANDS = {
    "simulate": ("simulate", "--device", "mems-g2", "--trace"),
    "compare": ("compare", "--device", "mems-g2", "--scheduler", "fcfs", "--speedup", "1", "--trace"),
    "side-by-side": ("compare", "--device", "mems-g2,mems-g3", "--trace"),
    "power": ("power", "--device", "mems-g2", "--trace"),
    "hybrid": ("hybrid", "--trace"),
    "tune": ("hybrid", "tune", "--budget", "8", "--trace"),
}


@pytest.fixture(params=["spc", "parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The trace in a format with names of devices, and in Parquet with a column `device`."""
    path = tmp_path / f"units.{request.param}"
    if request.param == "spc":
        path.write_bytes(SPC.read_bytes())
    else:
        sl.read_trace(SPC).frame().write_parquet(path)
    return path


@pytest.mark.parametrize("name", SIMULATIONS)
def test_simulations_refuse_several_devices(name: str, file: Path, refused: Callable[[str], Any]) -> None:
    with refused("the trace has several devices"):
        SIMULATIONS[name](file)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_simulations_refuse_frames_of_several_devices(name: str, refused: Callable[[str], Any]) -> None:
    with refused("the trace has several devices"):
        SIMULATIONS[name](sl.read_trace(SPC).frame())


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_refuse_several_devices(name: str, file: Path, sledlab: Callable[..., Any]) -> None:
    answer = sledlab(*COMMANDS[name], file)
    assert answer.code == 2
    assert "the trace has several devices" in answer.err
    assert "place them one after another" in answer.err


def test_cache_of_several_devices_has_no_hits(file: Path, sledlab: Callable[..., Any]) -> None:
    hits = sl.hit_ratios(file)
    assert hits.footprint_mb == REQUESTS * REQUEST_BYTES / 1e6
    assert hits.frame["hit_ratio"].max() == 0
    assert "belady" in hits.frame["policy"].to_list()
    answer = sledlab("trace", "hits", file, "--json")
    assert {row["hit_ratio"] for row in answer.json["hits"]} == {0}


def test_characteristics_tell_devices_apart(file: Path) -> None:
    info = sl.read_trace(file).info()
    assert len(info["devices"]) == DEVICES
    assert info["working_set"]["all_512_bytes"] == REQUESTS * REQUEST_BYTES
    assert info["sequentiality"]["one_stream_share"] == 1 - DEVICES / REQUESTS
    assert {cache["hit_ratio"] for cache in info["cache_hits"]} == {0}


def test_head_has_devices(file: Path, sledlab: Callable[..., Any]) -> None:
    assert sl.read_trace(file).head(5)["device"].to_list() == [0, 1, 2, 3, 0]
    assert [row["device"] for row in sledlab("trace", "head", file, "--json").json[:5]] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize("command", [("convert",), ("slice",), ("merge",)])
def test_written_traces_keep_devices(
    command: tuple[str, ...], file: Path, sledlab: Callable[..., Any], tmp_path: Path
) -> None:
    for suffix in ("csv", "parquet", "txt"):
        out = tmp_path / f"out.{suffix}"
        output_arguments = ("--save", out) if command == ("merge",) else (out,)
        if suffix != "txt":  # DiskSim's format always has devices
            answer = sledlab("trace", *command, file, *output_arguments)
            assert answer.code == 2
            assert "--device-column" in answer.err
        assert sledlab("trace", *command, file, *output_arguments, "--device-column").code == 0
        assert sl.read_trace(out).frame()["device"].n_unique() == DEVICES


def test_merge_numbers_devices_of_files_apart(
    file: Path, sledlab: Callable[..., Any], tmp_path: Path
) -> None:
    copy = tmp_path / f"copy{file.suffix}"
    copy.write_bytes(file.read_bytes())
    assert sledlab("trace", "merge", file, copy, "--save", tmp_path / "m.csv", "--device-column").code == 0
    assert sl.read_trace(tmp_path / "m.csv").frame()["device"].n_unique() == 2 * DEVICES


def test_volumes_have_one_device(file: Path, refused: Callable[[str], Any]) -> None:
    message = "holds several volumes"
    with refused(message):
        sl.survey(file)
    with refused(message):
        sl.survey(sl.Volume("units", sl.read_trace(file)))
    with refused(message):
        sl.merge_volumes([file], [0]).frame()


def test_fleets_refuse_volumes_with_several_devices(
    file: Path, tmp_path: Path, sledlab: Callable[..., Any]
) -> None:
    folder = tmp_path / ("fleet/volume=units" if file.suffix == ".parquet" else "fleet")
    folder.mkdir(parents=True)
    file.rename(folder / file.name)
    answer = sledlab("fleet", tmp_path / "fleet", "--device", "mems-g2")
    assert answer.code == 2
    assert "the trace of the volume `units` holds several volumes" in answer.err
    assert "sledlab fleet split" in answer.err
    (volume,) = sl.read_volumes(tmp_path / "fleet")
    assert volume.trace.frame()["device"].n_unique() == DEVICES


def test_split_volumes_are_devices(file: Path, tmp_path: Path) -> None:
    volumes = sl.split_volumes(file, tmp_path / "fleet")
    assert [len(volume.trace) for volume in volumes] == [REQUESTS // DEVICES] * DEVICES
    blocks = max(sl.survey(volume).end_blocks for volume in volumes)
    offsets = [blocks * number for number in range(DEVICES)]
    merged = sl.merge_volumes(volumes, offsets).frame()
    assert merged["offset_bytes"].n_unique() == REQUESTS
    assert merged["offset_bytes"].max() == REQUESTS * REQUEST_BYTES - REQUEST_BYTES
    assert blocks * BLOCK_BYTES * DEVICES == REQUESTS * REQUEST_BYTES


def test_named_volumes_have_one_device_each(tmp_path: Path, refused: Callable[[str], Any]) -> None:
    frame = sl.read_trace(SPC).frame()
    frame.with_columns(volume=pl.lit("all")).write_parquet(tmp_path / "one.parquet")
    with refused("the volume `all` has several devices"):
        sl.split_volumes(tmp_path / "one.parquet", tmp_path / "fleet")
    frame.with_columns(volume=pl.format("unit-{}", "device")).write_parquet(tmp_path / "four.parquet")
    assert len(sl.split_volumes(tmp_path / "four.parquet", tmp_path / "fleet")) == DEVICES


def test_single_device_number_of_a_volume_is_free(tmp_path: Path) -> None:
    columns = {"time_us": [0, 1], "op": ["R", "R"], "offset_bytes": [0, 512], "length_bytes": [512, 512]}
    merged = sl.merge_volumes([pl.DataFrame(columns | {"device": [7, 7]}), columns], [0, 100])
    assert merged.frame()["device"].to_list() == [0, 0, 0, 0]
