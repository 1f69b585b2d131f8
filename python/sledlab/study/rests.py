"""The rests of a device, counted as its requests complete."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.runs.requests import Column

BINS_PER_DECADE = 100
"""Rests are counted in bins of 2.3 % each."""


@dataclass
class Rests:
    """Counts the rests of a device that never parks, as the requests complete.

    A rest lasts from the moment when all requests that had arrived are done to the next arrival.
    """

    counts: dict[int, int] = field(default_factory=dict)
    times_ns: dict[int, int] = field(default_factory=dict)
    longest_ns: int = 0
    _done_ns: int | None = None

    def write(self, columns: list[Column]) -> None:
        """Counts rests in a chunk of the requests table."""
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

    def close(self, *, keep: bool = True) -> None:
        """Does nothing: a sink's `close`, and no file is open."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data: for each bin its middle in ms, the number of rests and their total time in s."""
        bins = [
            [10 ** ((key + 0.5) / BINS_PER_DECADE) / 1e6, self.counts[key], self.times_ns[key] / 1e9]
            for key in sorted(self.counts)
        ]
        return {"longest_ms": self.longest_ns / 1e6, "bins": bins}


@dataclass(frozen=True)
class Resting:
    """The rests of several runs together.

    Attributes:
        bins: For each bin its middle in ms, the number of rests and their total time in s; ascending.
        runs: Number of runs.
        longest_ms: The longest rest.
    """

    bins: Sequence[tuple[float, int, float]]
    runs: int
    longest_ms: float

    @classmethod
    def of(cls, found: Sequence[Mapping[str, Any]]) -> Resting:
        """The rests of runs, each as `Rests.to_dict` gives it."""
        bins = sorted((bin_ for each in found for bin_ in each["bins"]), key=lambda bin_: float(bin_[0]))
        return cls(bins, len(found), max(each["longest_ms"] for each in found))

    @property
    def count(self) -> int:
        """Number of rests in all runs."""
        return sum(count for _, count, _ in self.bins)

    @property
    def median_ms(self) -> float | None:
        """The median rest, as exact as the bins are."""
        left = self.count / 2
        for middle_ms, count, _ in self.bins:
            left -= count
            if left <= 0:
                return float(middle_ms)
        return None

    def longer(self, than_ms: float | None) -> tuple[float | None, float | None]:
        """The share of rests that last longer, and their share of the time of all rests."""
        spans = math.fsum(time_s for _, _, time_s in self.bins)
        if not than_ms or not spans:
            return None, None
        longer = [(count, time_s) for middle_ms, count, time_s in self.bins if middle_ms > than_ms]
        time_s = sum(each for _, each in longer)
        return sum(count for count, _ in longer) / self.count, min(time_s / spans, 1.0)
