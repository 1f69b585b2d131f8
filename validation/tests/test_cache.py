"""A cache in front of a disk compared with a recorded run of the reference simulator."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl

from validation.sections.arrays import COMPONENTS, MISSING_MESSAGE, import_disk

pytestmark = pytest.mark.skipif(not COMPONENTS.is_dir(), reason=MISSING_MESSAGE)

SETTINGS = {
    "system.start": "ready",
    "cache.kind": "write-back",
    "cache.capacity_blocks": 8192,
    "cache.line_blocks": 64,
    "cache.access_us": 0.0,
    "cache.bus_mb_s": 1e9,
    "cache.destage_idle_ms": 1e12,
    "cache.destage_blocks": 512,
}


def read_rows(name: str) -> list[dict[str, str]]:
    with gzip.open(COMPONENTS / f"{name}.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def simulate(tmp_path: Path, **settings) -> sl.Result:
    """A run of the recorded requests."""
    return sl.simulate(
        sl.read_trace(COMPONENTS / "synthcachemem.trace.gz", start="zero"),
        device=import_disk("synthcachemem", tmp_path),
        scheduler="validation.sections.arrays:Cyclic",
        power="never",
        settings=SETTINGS | settings,
        requests=True,
    )


def test_disk_serves_the_same_blocks(tmp_path):
    result = simulate(tmp_path)
    rows, counters = read_rows("synthcachemem"), result.summary["cache"]
    is_read = np.array([int(row["flags_hex"], 16) & 1 for row in rows], dtype=bool)
    recorded_ms = np.array([float(row["response_us"]) for row in rows]) / 1e3
    assert result.summary["requests"] == len(rows)
    # A hit takes no time in the reference.
    assert counters["read_hits"] == (recorded_ms[is_read] < 0.01).sum() == 6
    devices = read_rows("synthcachemem.devreqs")
    blocks = {op: sum(int(row["blocks"]) for row in devices if row["rw"] == op) for op in "RW"}
    assert counters["fetched_blocks"] == pytest.approx(blocks["R"], rel=1e-4)
    # The reference does not destage blocks that are dirty at the end.
    max_dirty_blocks = 8192
    assert 0 <= counters["destaged_blocks"] - blocks["W"] < max_dirty_blocks
    # Reads wait for no destage.
    assert result.summary["read"]["response_time_ms"]["mean"] < recorded_ms[is_read].mean()
    assert recorded_ms.mean() == pytest.approx(24.65, abs=0.01)
    assert result.response_time.mean == pytest.approx(20.18, abs=0.01)


def test_reads_that_wait_for_destages_fetch_the_same_blocks(tmp_path):
    """In the reference a read that finds only dirty lines waits for a destage, and its line is cached."""
    result = simulate(tmp_path, **{"cache.read_destage": "first"})
    blocks = sum(int(row["blocks"]) for row in read_rows("synthcachemem.devreqs") if row["rw"] == "R")
    assert result.summary["cache"]["fetched_blocks"] == blocks
    is_read = [int(row["flags_hex"], 16) & 1 for row in read_rows("synthcachemem")]
    recorded_ms = [float(row["response_us"]) / 1e3 for row in read_rows("synthcachemem")]
    assert np.average(recorded_ms, weights=is_read) == pytest.approx(30.53, abs=0.01)
    assert result.summary["read"]["response_time_ms"]["mean"] == pytest.approx(28.54, abs=0.01)
