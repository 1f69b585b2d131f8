"""Single runs, where a claim is about accesses and not about response times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars
import sledlab as sl
from sledlab.reproduction.assumption import assumptions

from ..simulator import PARKED_START, calibration, parameters
from .names import STAND_INS
from .systems import BASELINES

DISK_SETTINGS = {**PARKED_START, "device.startup_ms": 0, "power.kind": "never"}
"""Settings as in the experiments."""

CACHING_DISK = (("hybrid.kind", "caching-disk"), ("hybrid.copy_kb", 64))
WRITE_BUFFER = (("hybrid.kind", "write-buffer"), ("hybrid.idle_ms", 100_000))
"""The hybrids of the set of assumptions."""

NO_CACHE = ("cache.kind", "none")

STREAM_REQUESTS, STREAM_REQUEST_BYTES = 64, 4 << 20
"""Number of successive requests, and the size of each in bytes."""

REQUESTS = 100_000
"""Requests of a single run."""


def settings_of_set(workload: str) -> dict[str, Any]:
    """The settings of the set of assumptions for a disk under a workload, and the workload's parameters."""
    place = f"{BASELINES}-{workload}"
    set_settings = {
        key: value
        for each in assumptions("wang2005")
        if each.applies_to(place)
        for key, value in each.settings.items()
        if not key.startswith(("study.", "hybrid.")) and key != "device.preset"
    }
    workload_parameters = calibration.CALIBRATIONS[STAND_INS[workload]].parameters
    return {
        **DISK_SETTINGS,
        **{f"workload.{name}": value for name, value in workload_parameters.items()},
        **set_settings,
    }


@cache
def simulate_on_disk(
    disk: str, workload: str, *settings: tuple[str, Any], limit: int = REQUESTS
) -> sl.Result:
    """The first requests of a workload on a disk, with the set of assumptions."""
    return sl.simulate(
        sl.workload(workload),
        disk,
        settings={**settings_of_set(workload), **dict(settings)},
        limit=limit,
        seed=1,
        requests=True,
    )


@cache
def stream_rate_mb_s(disk: str, surfaces: int | None = None) -> float:
    """Rate in MB/s of successive requests of 4 MB from the first block of a disk on.

    Args:
        disk: The disk.
        surfaces: Number of its surfaces, without bad sectors; by default it is as it is.
    """
    device = sl.device(disk)
    if surfaces is not None:
        zones = [{**zone, "slipped": []} for zone in parameters(disk)["zones"]]
        device = sl.device(disk, heads=surfaces, zones=zones)
    requests = polars.DataFrame(
        {
            "time_us": [0.0] * STREAM_REQUESTS,
            "op": ["R"] * STREAM_REQUESTS,
            "offset_bytes": [i * STREAM_REQUEST_BYTES for i in range(STREAM_REQUESTS)],
            "length_bytes": [STREAM_REQUEST_BYTES] * STREAM_REQUESTS,
        }
    )
    result = sl.simulate(requests, device, replay="closed:1", settings=DISK_SETTINGS)
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
def queue_at_arrivals(disk: str, workload: str) -> Queue:
    """The queue that requests of a workload meet at a disk."""
    requests = int(settings_of_set(workload)["workload.requests"])
    result = simulate_on_disk(disk, workload, limit=requests)
    arrivals, completions = (
        np.sort(result.requests[name].to_numpy().astype(np.int64)) for name in ("arrival_ns", "completion_ns")
    )
    queue_lengths = np.arange(len(arrivals)) - np.searchsorted(completions, arrivals, side="right")
    return Queue(
        float(queue_lengths.mean()), float(np.quantile(queue_lengths, 0.95)), int(queue_lengths.max())
    )
