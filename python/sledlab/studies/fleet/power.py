"""Power and energy of a device over the time of the fleet."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from sledlab.runs.execute import Experiment, execute
from sledlab.runs.recording import Recording
from sledlab.traces.read import trace

if TYPE_CHECKING:
    from sledlab.studies.fleet.kinds import Kind
    from sledlab.study.measure import RunFigures

PERIOD_DIGITS = 2
"""Significant digits of the idle periods that are simulated: many devices share one."""

READ_BLOCKS = 8
"""Length of the reads before and after a simulated idle period, in blocks."""


def power_w(run: RunFigures, kind: Kind, span_s: float) -> float:
    """Return the mean power of a device, or of a group, in W.

    The mean is over the time of the fleet; over the time until the last completion, if that is later. A
    device that completes its requests earlier is idle until the end of the fleet, under its power policy.
    """
    interval_s = max(run.elapsed_s, span_s)
    idle_s = interval_s - run.elapsed_s
    energy_j = run.energy_j + (idle_power_w(kind, idle_s) * idle_s if idle_s > 0 else 0.0)
    return energy_j / interval_s if interval_s > 0 else 0.0


def idle_power_w(kind: Kind, period_s: float) -> float:
    """Return the mean power of a device, or of a group, in an idle period of a length, in W.

    The power policy decides as after a single request.
    """
    blocks = min(READ_BLOCKS, kind.blocks)
    return _simulate_idle_period(kind.experiment, blocks, float(f"{period_s:.{PERIOD_DIGITS}g}"))


@lru_cache(maxsize=10_000)
def _simulate_idle_period(experiment: Experiment, blocks: int, period_s: float) -> float:
    """Simulate two reads of some blocks that far apart, and return the mean power between them."""
    reads = trace(
        {
            "time_us": [0.0, period_s * 1e6],
            "op": ["R", "R"],
            "offset_bytes": [0, 0],
            "length_bytes": [blocks * 512] * 2,
        }
    )
    summary = execute(experiment, Recording(), trace=reads).summary
    times_s, joules = summary["state_time_s"], summary["energy_j"]
    idle_s = times_s["idle"] + times_s["inactive"]
    mechanisms = math.fsum(times_s.values()) / summary["elapsed_s"]
    return mechanisms * (joules["idle"] + joules["inactive"]) / idle_s if idle_s > 0 else 0.0
