"""Schema and warnings in summaries, and the device of each request."""

import json

import numpy as np
import polars as pl
import pytest
import sledlab as sl


def simulate(limit: int = 300, **options):
    return sl.simulate(sl.workload("uniform", mean_interarrival_ms=5), "mems-g2", limit=limit, **options)


@pytest.mark.usefixtures("without_pages")
def test_summaries_contain_schema_and_warnings(sledlab, tmp_path):
    arguments = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 5000)
    arguments = (*arguments, "--out", tmp_path)
    rate = ("--set", "workload.mean_interarrival_ms=0.2")
    answer = sledlab(*arguments, *rate)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["schema"] == 2
    assert len(summary["warnings"]) == 1
    assert summary["warnings"][0].startswith("The queue kept growing")
    assert summary["warnings"][0] in " ".join(answer.out.split())
    assert sledlab(*arguments, *rate, "--json").json["warnings"] == summary["warnings"]
    steady = simulate()
    assert (steady.to_dict()["warnings"], steady.warnings, json.loads(steady.to_json())["warnings"]) == (
        [],
        [],
        [],
    )


def test_cluster_and_study_summaries_contain_schema():
    cluster = sl.replay("sample/work/scan.work", "mems-g2", what_if=False)
    race = sl.compare(sl.workload("uniform"), "mems-g2", scheduler="fcfs", speedup=[1], limit=200, parallel=1)
    for summary in (json.loads(cluster.to_json()), race.to_dict()):
        assert summary["schema"] == 2
        assert isinstance(summary["warnings"], list)
    assert race.plain_data({})["warnings"] == race.warnings


@pytest.mark.parametrize(
    ("kind", "devices"), [("concatenation", 3), ("stripe", 3), ("mirror", 2), ("raid5", 4)]
)
def test_the_table_of_an_array_names_the_device(kind, devices):
    result = simulate(system=kind, settings={"system.devices": devices})
    assert result.requests.columns[-1] == "device"
    assert result.requests["device"].null_count() == 0
    assert set(result.requests["device"]) == set(range(devices))


def test_stripe_requests_name_device_of_last_block():
    settings = {
        "system.devices": 4,
        "system.unit_blocks": 8,
        "workload.blocks": 8,
        "workload.align_blocks": 8,
    }
    requests = simulate(system="stripe", settings=settings).requests
    assert (requests["device"] == requests["lbn"] // 8 % 4).all()


def test_front_device_of_hybrid_is_first(tmp_path):
    disk = "atlas-10k"
    options = {"hybrid": sl.hybrid("caching-disk", front_mb=64), "front": "mems-g2", "limit": 500}
    out = tmp_path / "requests.csv"
    requests = sl.simulate(sl.workload("cello"), disk, requests=out, **options).requests
    assert set(requests["device"]) == {0, 1}
    assert pl.read_csv(out)["device"].to_list() == requests["device"].to_list()
    array_requests = sl.simulate(
        sl.workload("cello"), disk, system="stripe", settings={"system.devices": 2}, **options
    ).requests
    assert set(array_requests["device"]) == {0, 1, 2, 3}
    # A device in front answers in less time than a disk turns.
    response_ms = array_requests["response_ns"].to_numpy() / 1e6
    is_front = array_requests["device"].to_numpy() % 2 == 0
    assert np.median(response_ms[is_front]) < np.median(response_ms[~is_front])


def test_cache_hits_name_no_device():
    requests = simulate(system="stripe", cache="write-back", settings={"system.devices": 2}).requests
    assert requests.filter(pl.col("op") == "W")["device"].null_count() > 0
    reads = requests.filter((pl.col("op") == "R") & (pl.col("seek_x_ns") > 0))
    assert set(reads["device"]) == {0, 1}


def test_requests_of_single_device_have_no_device_column():
    assert "device" not in simulate().requests.columns
    assert (
        "device"
        not in simulate(settings={"device.sleds": 2, "device.sled_motion": "independent"}).requests.columns
    )
