"""Presets of current devices against figures of data sheets that their parameters were not taken from."""

import pytest
import sledlab as sl

from tests.conftest import PROJECT

READS, WRITES = (sl.workload("uniform", blocks=8, align_blocks=8, read_share=share) for share in (1.0, 0.0))


PAGE = " ".join((PROJECT / "docs" / "device.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("device", "outstanding", "stated_iops", "sentence"),
    [
        ("hdd-20tb", 16, 170, "the model completes {} reads a second"),
        ("hdd-2x18tb-actuator", 8, 152, "One actuator with 8 completes {}."),
    ],
)
def test_random_reads_are_near_the_data_sheet(device, outstanding, stated_iops, sentence):
    result = sl.simulate(READS, device, scheduler="sptf", replay=f"closed:{outstanding}", limit=2000)
    assert result.throughput_iops == pytest.approx(stated_iops, rel=0.2)
    assert sentence.format(round(result.throughput_iops)) in PAGE


def test_both_actuators_are_near_the_data_sheet():
    sptf = sl.compare(study="hdd-2x18tb", parallel=1).runs.filter(scheduler="sptf")
    (iops,) = sptf["throughput_iops"]
    assert iops == pytest.approx(304, rel=0.02)
    assert f"Both with 16 complete {iops:.0f} (`sledlab compare hdd-2x18tb`)" in PAGE


@pytest.mark.parametrize(("device", "stated_mb_s"), [("hdd-20tb", 285), ("hdd-2x18tb-actuator", 273)])
def test_outer_tracks_reach_the_stated_rate(device, stated_mb_s):
    requests = {
        "time_us": [0.0] * 400,
        "op": ["R"] * 400,
        "offset_bytes": [index * 2**20 for index in range(400)],
        "length_bytes": [2**20] * 400,
    }
    result = sl.simulate(requests, device, replay="closed:1")
    assert 400 * 2**20 / 1e6 / result.elapsed_s == pytest.approx(stated_mb_s, rel=0.05)


def test_disk_with_two_actuators_has_both_halves():
    result = sl.side_by_side(
        READS, ["hdd-2x18tb"], limit=200, parallel=1, replay="closed:16", scheduler="sptf"
    )
    alone = sl.simulate(READS, "hdd-2x18tb-actuator", scheduler="sptf", replay="closed:16", limit=200)
    (iops,) = result.runs["throughput_iops"]
    assert iops > 1.3 * alone.throughput_iops
    (row,) = result.curves.iter_rows(named=True)
    assert row["devices_usd"] == 450


def test_flash_drive_reads_a_page_in_the_sum_of_parts():
    result = sl.simulate(READS, "nvme-tlc", replay="closed:1", limit=500)
    mean_us = result.response_time.mean * 1000
    assert mean_us == pytest.approx(20 + 50 + 4096 / 1600 + 4096 / 6500, rel=1e-3)
    assert f"a read of 4 KB in {mean_us:.0f} us" in PAGE


def test_bus_limits_reads_of_the_flash_drive():
    result = sl.simulate(READS, "nvme-tlc", replay="closed:256", limit=50_000, requests=False)
    assert result.throughput_iops == pytest.approx(6500e6 / 4096, rel=0.01)
    assert f"completes {result.throughput_iops / 1e6:.2f} million reads a second" in PAGE


@pytest.mark.parametrize(
    ("precondition", "outstanding", "limit", "sentence"),
    [
        ("sequential", 1, 500, "a write of 4 KB takes {time_ms:.2f} ms"),
        ("random", 1, 500, "{time_ms:.2f} ms with one outstanding"),
        ("sequential", 1024, 50_000, "instead of {thousands:.0f},000"),
        ("random", 1024, 50_000, "it completes {thousands:.0f},000 a second"),
    ],
)
def test_writes_to_the_flash_drive_depend_on_its_state(precondition, outstanding, limit, sentence):
    drive = sl.device("nvme-tlc", precondition=precondition)
    result = sl.simulate(WRITES, drive, replay=f"closed:{outstanding}", limit=limit, requests=False)
    values = {"time_ms": result.response_time.mean, "thousands": result.throughput_iops / 1000}
    assert sentence.format(**values) in PAGE


def test_no_nearline_disk_or_server_drive_parks():
    sparse = sl.workload("uniform", mean_interarrival_ms=60_000)
    for device in ("hdd-20tb", "nvme-tlc"):
        assert sl.simulate(sparse, device, limit=5).startups == 0
