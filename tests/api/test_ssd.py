"""Flash in every role of a device: alone, in an array, in front of a disk, behind memory, in a node."""

from pathlib import Path

import pytest
import sledlab as sl

WORK = Path(__file__).parents[2] / "sample" / "work"
SMALL_SSD = sl.device("ssd-tlc", startup_ms=0, blocks_per_die=256, pages_per_block=16)
READS = sl.workload("uniform", blocks=8, align_blocks=8, read_share=1)
DISK = "atlas-10k"


def simulate_reads(**options) -> sl.Result:
    return sl.simulate(READS, SMALL_SSD, limit=2000, **options)


def test_single_read_takes_the_sum_of_parts():
    response_time = simulate_reads(replay="closed:1", power="never").response_time
    expected_us = 20 + 60 + 4096 / 333 + 4096 / 560
    assert response_time.mean == pytest.approx(expected_us / 1e3, rel=1e-5)
    assert response_time.std < 1e-6


def test_commands_in_the_device_overlap():
    rates_iops = [simulate_reads(replay=f"closed:{depth}").throughput_iops for depth in (1, 4, 32)]
    assert rates_iops[1] > 3 * rates_iops[0]
    assert rates_iops[2] > 2 * rates_iops[1]


def test_writes_to_a_full_device_have_pages_moved():
    writes = sl.workload("uniform", blocks=32, align_blocks=32, read_share=0, mean_interarrival_ms=5)
    full, empty = (
        sl.simulate(writes, SMALL_SSD, settings={"device.filled": filled}, limit=20_000) for filled in (1, 0)
    )
    assert full.response_time.mean > 2 * empty.response_time.mean
    assert full.energy.access > empty.energy.access


@pytest.mark.parametrize(
    ("device", "options"),
    [
        (DISK, {"hybrid": sl.hybrid("caching-disk", front_mb=64), "front": "ssd-tlc"}),
        (DISK, {"hybrid": sl.hybrid("write-buffer"), "front": "ssd-tlc"}),
        ("ssd-tlc", {"hybrid": sl.hybrid("write-buffer"), "front": "ram"}),
        ("ssd-tlc", {"settings": {"system.kind": "mirror", "system.devices": 2}}),
        ("ssd-tlc", {"settings": {"system.kind": "stripe", "system.devices": 4}}),
        ("ssd-tlc", {"power": "adaptive"}),
        ("ssd-tlc", {"merge": "chains"}),
        ("ssd-tlc", {"scheduler": "sptf"}),
        ("ssd-tlc", {"cache": "write-back"}),
    ],
)
def test_ssd_works_in_every_system(device, options):
    """Every run checks the conservation of time and energy itself."""
    result = sl.simulate(sl.workload("cello"), device, limit=2000, **options)
    assert result.requests.height == 2000
    assert result.energy.total > 0


def test_ssd_works_as_store_of_a_node():
    flash, sled = (sl.replay(WORK / "scan.work", name, what_if=False) for name in ("ssd-tlc", "mems-g2"))
    assert flash.config["device"]["name"] == "ssd-tlc"
    assert 0 < flash.elapsed_s < sled.elapsed_s
