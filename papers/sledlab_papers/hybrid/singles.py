"""Single runs, where a claim is about accesses and not about response times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars
import sledlab as sl

from ..simulator import PARKED_START, calibration

DISK_SETTINGS = {**PARKED_START, "device.startup_ms": 0, "power.kind": "never"}
"""Settings as in the experiments."""

STREAM_REQUESTS, STREAM_REQUEST_BYTES = 64, 4 << 20
"""Number of successive requests, and the size of each in bytes."""

REQUESTS = 100_000
"""Requests of a single run."""


@cache
def simulate_on_disk(disk: str, workload: str, *settings: tuple[str, Any]) -> sl.Result:
    """The first requests of a workload on a disk without a controller cache."""
    return sl.simulate(
        sl.workload(workload),
        disk,
        settings={**DISK_SETTINGS, **dict(settings)},
        limit=REQUESTS,
        seed=1,
        requests=True,
    )


@cache
def stream_rate_mb_s(disk: str) -> float:
    """Rate in MB/s of successive requests of 4 MB from the disk's first block on."""
    requests = polars.DataFrame(
        {
            "time_us": [0.0] * STREAM_REQUESTS,
            "op": ["R"] * STREAM_REQUESTS,
            "offset_bytes": [i * STREAM_REQUEST_BYTES for i in range(STREAM_REQUESTS)],
            "length_bytes": [STREAM_REQUEST_BYTES] * STREAM_REQUESTS,
        }
    )
    result = sl.simulate(requests, disk, replay="closed:1", settings=DISK_SETTINGS)
    return STREAM_REQUESTS * STREAM_REQUEST_BYTES / 1e6 / float(result.summary["elapsed_s"])


def distinct_written_blocks(result: sl.Result) -> int:
    """Blocks that were written at least once."""
    writes = result.requests.filter(op="W")
    first_blocks, blocks = (writes[name].to_numpy().astype(np.int64) for name in ("lbn", "blocks"))
    offsets = np.arange(int(blocks.sum())) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    return len(np.unique(np.repeat(first_blocks, blocks) + offsets))


@dataclass(frozen=True)
class Queue:
    """Requests in the system at arrivals, the arriving one not counted."""

    mean: float
    p95: float
    max_length: int


@cache
def queue_at_arrivals(stand_in: str) -> Queue:
    """The queue that requests of a stand-in meet at a disk with the controller cache of the experiments."""
    calibrated_workload = calibration.CALIBRATIONS[stand_in]
    settings = {
        **DISK_SETTINGS,
        "cache.kind": "write-back",
        "cache.destage": "demand",
        **{f"workload.{name}": value for name, value in calibrated_workload.parameters.items()},
    }
    result = sl.simulate(
        sl.workload(calibrated_workload.workload), "atlas-10k-50mb", settings=settings, seed=1, requests=True
    )
    arrivals, completions = (
        np.sort(result.requests[name].to_numpy().astype(np.int64)) for name in ("arrival_ns", "completion_ns")
    )
    queue_lengths = np.arange(len(arrivals)) - np.searchsorted(completions, arrivals, side="right")
    return Queue(
        float(queue_lengths.mean()), float(np.quantile(queue_lengths, 0.95)), int(queue_lengths.max())
    )
