"""Garbage collection of flash in results, tables and warnings."""

import pytest
import sledlab as sl

WRITES = sl.workload("uniform", blocks=32, align_blocks=32, read_share=0.0)
SMALL = {"blocks_per_die": 128, "pages_per_block": 64}
FRESH = "met no garbage collection"


def simulate(device, limit=3000, **options) -> sl.Result:
    return sl.simulate(WRITES, device, limit=limit, **options)


def text(result: sl.Result) -> str:
    return " ".join(str(result).split())


def test_counts_are_those_of_the_steady_state():
    result = simulate(sl.device("ssd-tlc", precondition="random", **SMALL), limit=20_000)
    flash, device = result.summary["flash"], result.config["device"]
    assert flash["written_pages"] == 20_000
    amplification = flash["write_amplification"]
    assert amplification == 1 + flash["moved_pages"] / flash["written_pages"]
    assert amplification == pytest.approx(flash["steady_write_amplification"], rel=0.05)
    moves_us = flash["moved_pages"] * (device["read_us"] + device["program_us"])
    collection_us = moves_us + flash["erased_blocks"] * device["erase_us"]
    assert flash["collection_time_s"] == pytest.approx(collection_us / 1e6)


def test_share_is_of_the_time_of_all_dies():
    result = simulate(sl.device("ssd-tlc", precondition="random", **SMALL))
    flash = result.summary["flash"]
    assert flash["collection_share"] == pytest.approx(flash["collection_time_s"] / 16 / result.elapsed_s)
    assert "write amplification" in text(result)
    assert FRESH not in text(result)


def test_new_flash_is_a_warning():
    result = simulate("ssd-tlc")
    assert result.summary["flash"]["write_amplification"] == 1.0
    assert f"3,000 page writes {FRESH}" in text(result)
    assert "set device.precondition=random" in text(result)


def test_front_is_named_in_the_warning():
    assert "set front.precondition=random" in text(simulate("atlas-10k+ssd-tlc:64MiB"))


@pytest.mark.parametrize("device", ["mems-g2", "ram"])
def test_other_devices_have_no_counts(device):
    result = simulate(device, limit=10)
    assert "flash" not in result.summary
    assert "amplification" not in text(result)


def test_reads_alone_have_no_amplification():
    reads = sl.workload("uniform", read_share=1.0)
    result = sl.simulate(reads, "ssd-tlc", limit=100)
    assert result.summary["flash"]["write_amplification"] is None
    assert "amplification" not in text(result)


def test_warm_up_does_not_count():
    device = sl.device("ssd-tlc", precondition="random", **SMALL)
    all_writes, last_writes = (simulate(device, warmup=warmup).summary["flash"] for warmup in (0, 2000))
    assert last_writes["written_pages"] < all_writes["written_pages"] / 2
    assert last_writes["moved_pages"] < all_writes["moved_pages"]


def test_compared_devices_have_columns():
    devices = ["ssd-tlc", "ssd-tlc:precondition=random", "mems-g2"]
    comparison = sl.compare(WRITES, devices, limit=3000, parallel=1)
    rows = {row["device"]: row for row in comparison.curves.to_dicts()}
    assert rows["ssd-tlc"]["flash_write_amplification"] == 1.0
    assert rows["ssd-tlc:precondition=random"]["flash_collection_share"] > 0
    assert rows["mems-g2"]["flash_written_pages"] is None
    shown = text(comparison)
    assert "WA" in shown
    assert f"page writes on ssd-tlc {FRESH}" in shown
    assert shown.count(FRESH) == 1


def test_compared_schedulers_share_the_warning():
    comparison = sl.compare(WRITES, "ssd-tlc", scheduler=["fcfs", "sptf"], limit=1000, parallel=1)
    assert f"1,000 page writes {FRESH}" in text(comparison)
    assert "set device.precondition=random" in text(comparison)
    assert FRESH not in text(sl.compare(WRITES, "mems-g2", limit=100, parallel=1))
