"""The idle periods of devices, counted as their requests complete."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.study.access_map import ONE_DEVICE, AccessMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.runs.requests import Column

BINS_PER_DECADE = 100
"""Bins of the histogram of idle periods; a bin is 2.3 % wide."""


@dataclass
class IdlePeriods:
    """Histogram of the idle periods of devices that never park.

    An idle period of a device lasts from the completion of all requests that have arrived and access the
    device to the arrival of the next one that does.

    Attributes:
        access_map: The devices that requests access.
        counts: Number of idle periods in each bin.
        times_ns: Their total time.
        longest_ns: The longest idle period.
    """

    access_map: AccessMap = ONE_DEVICE
    counts: dict[int, int] = field(default_factory=dict)
    times_ns: dict[int, int] = field(default_factory=dict)
    longest_ns: int = 0
    _busy_until_ns: dict[int, int] = field(default_factory=dict)

    def write(self, columns: list[Column]) -> None:
        """Count the idle periods in a chunk of the table of requests."""
        data = dict(columns)
        arrivals, completions = (
            np.frombuffer(data[name], dtype="<u8").astype(np.int64)
            for name in ("arrival_ns", "completion_ns")
        )
        if self.access_map.units == 1:
            self._count(0, arrivals, completions)
            return
        lbns, blocks = (np.frombuffer(data[name], dtype="<u8") for name in ("lbn", "blocks"))
        for unit in range(self.access_map.units):
            is_accessed = self.access_map.is_accessed(unit, lbns, blocks)
            self._count(unit, arrivals[is_accessed], completions[is_accessed])

    def _count(self, unit: int, arrivals: Any, completions: Any) -> None:
        """Count the idle periods of a device."""
        if len(arrivals) == 0:
            return
        busy_until_ns = np.maximum.accumulate(
            np.concatenate(([self._busy_until_ns.get(unit, arrivals[0])], completions))
        )
        periods_ns = arrivals - busy_until_ns[:-1]
        periods_ns = periods_ns[periods_ns > 0]
        self._busy_until_ns[unit] = int(busy_until_ns[-1])
        if len(periods_ns) == 0:
            return
        self.longest_ns = max(self.longest_ns, int(periods_ns.max()))
        bins = np.floor(np.log10(periods_ns) * BINS_PER_DECADE).astype(np.int64)
        lowest = int(bins.min())
        counts = np.bincount(bins - lowest)
        times_ns = np.bincount(bins - lowest, weights=periods_ns)
        for place in np.flatnonzero(counts):
            key = lowest + int(place)
            self.counts[key] = self.counts.get(key, 0) + int(counts[place])
            self.times_ns[key] = self.times_ns.get(key, 0) + int(times_ns[place])

    def close(self, *, keep: bool = True) -> None:
        """Do nothing: a sink's `close`, and no file is open."""

    def to_dict(self) -> dict[str, Any]:
        """Return for each bin its middle in ms, the number of idle periods and their total time in s.

        The longest idle period, in ms, is None if there was none.
        """
        bins = [
            [10 ** ((key + 0.5) / BINS_PER_DECADE) / 1e6, self.counts[key], self.times_ns[key] / 1e9]
            for key in sorted(self.counts)
        ]
        return {"longest_ms": self.longest_ns / 1e6 if bins else None, "bins": bins}


@dataclass(frozen=True)
class IdlePeriodSummary:
    """The idle periods of several runs.

    Attributes:
        bins: For each bin its middle in ms, the number of idle periods and their total time in s; ascending.
        runs: Number of runs.
        longest_ms: The longest idle period; None without idle periods.
    """

    bins: Sequence[tuple[float, int, float]]
    runs: int
    longest_ms: float | None

    @classmethod
    def combine(cls, periods_by_run: Sequence[Mapping[str, Any]]) -> IdlePeriodSummary:
        """Combine the idle periods of runs, each from `IdlePeriods.to_dict`."""
        bins = sorted(
            (bin_ for each in periods_by_run for bin_ in each["bins"]), key=lambda bin_: float(bin_[0])
        )
        longest_ms = [each["longest_ms"] for each in periods_by_run if each["longest_ms"] is not None]
        return cls(bins, len(periods_by_run), max(longest_ms, default=None))

    @property
    def count(self) -> int:
        """Number of idle periods in all runs."""
        return sum(count for _, count, _ in self.bins)

    @property
    def median_ms(self) -> float | None:
        """The median idle period, with the precision of the bins."""
        remaining_count = self.count / 2
        for middle_ms, count, _ in self.bins:
            remaining_count -= count
            if remaining_count <= 0:
                return float(middle_ms)
        return None

    def longer(self, threshold_ms: float | None) -> tuple[float | None, float | None]:
        """Return the share of idle periods that are longer, and their share of the total idle time."""
        total_s = math.fsum(time_s for _, _, time_s in self.bins)
        if not threshold_ms or not total_s:
            return None, None
        longer = [(count, time_s) for middle_ms, count, time_s in self.bins if middle_ms > threshold_ms]
        time_s = sum(each for _, each in longer)
        return sum(count for count, _ in longer) / self.count, min(time_s / total_s, 1.0)
