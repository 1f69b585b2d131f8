"""Power: the Seagate trace on a sled, and energies over idle timeouts next to those of DiskSim."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars
import sledlab as sl

from .. import reference
from ..reference import RecordedRun
from ..simulator import PARKED_START, replay

SEAGATE = "seagate_gap"

MAX_STATE_DEVIATION = 0.01
"""Allowed relative deviation of the energy of a state from that of the reference simulator."""


@dataclass(frozen=True)
class SeagateTrace:
    """Statistics of the trace, and of its replay on a second-generation sled that never parks.

    Attributes:
        requests: Number of requests.
        read_share: Share of reads.
        sequential_share: Share of requests that begin where the previous one ended.
        mean_kb: Mean size in KB.
        size_scv: Squared coefficient of variation of the size.
        longest_gap_ms: Longest time between arrivals.
        longest_idle_ms: Longest time from a completion to the next arrival.
        mean_service_ms: Mean service time.
    """

    requests: int
    read_share: float
    sequential_share: float
    mean_kb: float
    size_scv: float
    longest_gap_ms: float
    longest_idle_ms: float
    mean_service_ms: float


@cache
def seagate_trace() -> SeagateTrace:
    """Return the statistics of the Seagate trace."""
    settings = {**PARKED_START, "power.kind": "never"}
    trace = sl.read_trace(reference.trace(SEAGATE), start="zero")
    result = sl.simulate(trace, "mems-g2", settings=settings, requests=True)
    requests = result.requests.sort("id")
    arrivals, completions = (requests[name].to_numpy() for name in ("arrival_ns", "completion_ns"))
    idle_periods = arrivals[1:] - np.maximum.accumulate(completions)[:-1]
    mean_kb = float(requests["blocks"].mean()) / 2  # type: ignore[arg-type]
    return SeagateTrace(
        requests.height,
        float((requests["op"] == "R").to_numpy().mean()),
        float(is_sequential(requests).mean()),
        mean_kb,
        float(requests["blocks"].var()) / (2 * mean_kb) ** 2,  # type: ignore[arg-type]
        float(np.diff(arrivals).max()) / 1e6,
        float(idle_periods.max()) / 1e6,
        result.summary["service_time_ms"]["mean"],
    )


def is_sequential(requests: polars.DataFrame) -> npt.NDArray[np.bool_]:
    """Return whether each request but the first begins at the block where the previous one ended."""
    lbns, blocks = (requests[name].to_numpy() for name in ("lbn", "blocks"))
    return np.asarray(lbns[1:] == lbns[:-1] + blocks[:-1])


@dataclass(frozen=True)
class StateEnergies:
    """Energy in J of servicing, start-ups, idling and the parked state: measured and recorded."""

    measured: tuple[float, ...]
    recorded: tuple[float, ...]

    @property
    def total_deviation(self) -> float:
        """Relative difference of the measured total from the recorded one."""
        return sum(self.measured) / sum(self.recorded) - 1


@cache
def state_energies(name: str) -> StateEnergies:
    """Return the energies of a reference run; the recorded idle energy includes the uncharged one."""
    run = reference.runs()[name]
    result = replay(
        run.trace, f"mems-{run.device.lower()}-disksim", scheduler=str(run.scheduler), **run.changes
    )
    energy, row = result.energy, run.row
    energies_j = (energy.seek + energy.access, energy.startup, energy.idle, energy.inactive)
    charged_energies = tuple(
        float(row[f"{name}_energy_j"]) for name in ("servicing", "startup", "idle", "inactive")
    )
    servicing, startup, idle, inactive = charged_energies
    reference_energies_j = (servicing, startup, idle + run.energy_j - run.charged_energy_j, inactive)
    return StateEnergies(energies_j, reference_energies_j)


def timeout_runs() -> list[RecordedRun]:
    """Return the reference runs over idle timeouts."""
    sweep_runs = [run for run in reference.runs().values() if run.family == "sweep"]
    return sorted(
        sweep_runs, key=lambda run: (run.device, run.row["trace"], run.parameters["inactive_after_ms"])
    )
