"""Single runs, where a claim is about requests and not about curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import polars
import sledlab as sl

from ..simulator import PARKED_START
from .plan import snake_settings

CENTER_PARKING = ("power.kind", "immediate"), ("device.parking", "center")
"""Settings of a G3 sled of Lin: it parks at once, and starts from its center."""

BLOCK_BYTES = 512


@cache
def simulate_snake(device: str, *settings: tuple[str, Any], speedup: float = 10.0) -> sl.Result:
    """The stand-in for a day of Snake, as all experiments have it, request by request."""
    return sl.simulate(
        sl.workload("snake"),
        device,
        speedup=speedup,
        settings={**PARKED_START, **snake_settings(), **dict(settings)},
        requests=True,
    )


def idle_mw(device: str) -> float:
    """Mean power of a device while idle, over the stand-in for Snake."""
    summary = simulate_snake(device, ("power.kind", "fixed:timeout_ms=1000")).summary
    return float(summary["energy_j"]["idle"] / summary["state_time_s"]["idle"]) * 1e3


@cache
def simulate_reads(
    device: str, requests: tuple[tuple[float, int, int], ...], *settings: tuple[str, Any]
) -> sl.Result:
    """A run of reads, given by arrival in ms, first block and number of blocks; the device parks at once."""
    trace = polars.DataFrame(
        {
            "time_us": [at_ms * 1000.0 for at_ms, _, _ in requests],
            "op": ["R"] * len(requests),
            "offset_bytes": [lbn * BLOCK_BYTES for _, lbn, _ in requests],
            "length_bytes": [blocks * BLOCK_BYTES for _, _, blocks in requests],
        }
    )
    return sl.simulate(
        trace, device, settings={**PARKED_START, "power.kind": "immediate", **dict(settings)}, requests=True
    )


def energy_and_time_by_state(result: sl.Result) -> dict[str, tuple[float, float]]:
    """Energy in J and time in s by state."""
    summary = result.summary
    return {name: (summary["energy_j"][name], time_s) for name, time_s in summary["state_time_s"].items()}


def fit_line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Slope of the line of least squares, and R squared."""
    slope, offset = np.polyfit(x, y, 1)
    residuals = np.asarray(y) - (slope * np.asarray(x) + offset)
    return float(slope), float(1 - (residuals**2).sum() / ((np.asarray(y) - np.mean(y)) ** 2).sum())
