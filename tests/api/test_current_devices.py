"""Presets of current devices against figures of data sheets that their parameters were not taken from."""

import pytest
import sledlab as sl

READS = sl.workload("uniform", blocks=8, align_blocks=8, read_share=1)


@pytest.mark.parametrize(
    ("device", "outstanding", "stated_iops"), [("hdd-20tb", 16, 170), ("hdd-2x18tb-actuator", 8, 152)]
)
def test_random_reads_are_near_the_data_sheet(device, outstanding, stated_iops):
    result = sl.simulate(READS, device, scheduler="sptf", replay=f"closed:{outstanding}", limit=2000)
    assert result.throughput_iops == pytest.approx(stated_iops, rel=0.2)


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
    assert result.response_time.mean * 1000 == pytest.approx(20 + 50 + 4096 / 1600 + 4096 / 6500, rel=1e-3)


def test_no_nearline_disk_or_server_drive_parks():
    sparse = sl.workload("uniform", mean_interarrival_ms=60_000)
    for device in ("hdd-20tb", "nvme-tlc"):
        assert sl.simulate(sparse, device, limit=5).startups == 0
