"""One run of a power study: from the text of an experiment to a row of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab import _native, wording
from sledlab.comparison.measuring import arrival_rate

if TYPE_CHECKING:
    from sledlab.requests_table import Column
    from sledlab.result import Result
    from sledlab.traces import Trace

BINS_PER_DECADE = 100
"""Rests are counted in bins of 2.3 % each."""


def measure(text: str, trace: Trace | None) -> dict[str, Any]:
    """Runs an experiment; where the device never parks, its rests are counted too.

    Returns:
        `row`, the simulated results, and `timing`, the wall-clock figures.

    Raises:
        Error: The run failed because of what it was given.
        InternalError: It failed because of us.
        KeyboardInterrupt: It was interrupted.
    """
    from sledlab.recording import Recording
    from sledlab.simulation import execute

    experiment = _native.Experiment(text)
    rests = Rests() if experiment.setting("power.kind") == "never" else None
    result = execute(experiment, Recording(sinks=[rests] if rests else []), trace=trace)
    if result.interrupted:
        raise KeyboardInterrupt
    row = _row(result, arrival_rate(result, trace))
    if rests is not None:
        row["rests"] = rests.to_dict()
    return {"row": row, "timing": dict(result.timing)}


def _row(result: Result, rate: float) -> dict[str, Any]:
    """The simulated results; nothing that depends on the machine."""
    times, merged = result.response_time, result.summary["merged"]
    row = {
        "requests": result.count,
        "elapsed_s": result.elapsed_s,
        "arrival_rate": rate,
        "mean_ms": times.mean,
        "mean_ci95_ms": times.ci95_half_width,
        "p95_ms": times.p95,
        "p99_ms": times.p99,
        "saturated": result.saturated,
        "utilization": result.utilization,
        "startups": result.startups,
        "energy_j": result.energy.total,
        "read_uj": result.summary["read"]["energy_uj"],
        "write_uj": result.summary["write"]["energy_uj"],
        "merged_requests": merged["requests"],
        "merged_groups": merged["groups"],
        "tip_time_s": result.summary["tip_time_s"],
        "dark_tip_time_s": result.summary["dark_tip_time_s"],
    }
    for state in wording.STATES:
        row[f"{state}_j"] = getattr(result.energy, state)
        row[f"{state}_s"] = getattr(result.state_time, state)
    return row


@dataclass
class Rests:
    """Counts the rests of a device that never parks, as the requests complete.

    A rest lasts from the moment when everything that had arrived is done to the next arrival.
    """

    counts: dict[int, int] = field(default_factory=dict)
    times_ns: dict[int, int] = field(default_factory=dict)
    longest_ns: int = 0
    _done_ns: int | None = None

    def write(self, columns: list[Column]) -> None:
        """Takes a chunk of the requests table."""
        import numpy as np

        data = dict(columns)
        arrivals, completions = (
            np.frombuffer(data[name], dtype="<u8").astype(np.int64)
            for name in ("arrival_ns", "completion_ns")
        )
        if len(arrivals) == 0:
            return
        first = arrivals[0] if self._done_ns is None else self._done_ns
        done = np.maximum.accumulate(np.concatenate(([first], completions)))
        rests = arrivals - done[:-1]
        rests = rests[rests > 0]
        self._done_ns = int(done[-1])
        if len(rests) == 0:
            return
        self.longest_ns = max(self.longest_ns, int(rests.max()))
        bins = np.floor(np.log10(rests) * BINS_PER_DECADE).astype(np.int64)
        lowest = int(bins.min())
        counts = np.bincount(bins - lowest)
        times = np.bincount(bins - lowest, weights=rests)
        for place in np.flatnonzero(counts):
            key = lowest + int(place)
            self.counts[key] = self.counts.get(key, 0) + int(counts[place])
            self.times_ns[key] = self.times_ns.get(key, 0) + int(times[place])

    def close(self) -> None:
        """Nothing to complete."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data: for each bin its middle in ms, the number of rests and their time in s."""
        bins = [
            [10 ** ((key + 0.5) / BINS_PER_DECADE) / 1e6, self.counts[key], self.times_ns[key] / 1e9]
            for key in sorted(self.counts)
        ]
        return {"longest_ms": self.longest_ns / 1e6, "bins": bins}
