"""Histograms of response times that can be merged: percentiles over many devices are those of one recorder.

The simulator counts response times in bins of three significant digits (an HDR histogram). A run keeps the
same bins, so that merged histograms equal the one that a single recorder would have counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sledlab.runs.result import Result

HALF = 1024
"""Bins between a power of two and the next; below twice as many nanoseconds each time has its own bin."""

HALF_BITS = 10

NS_PER_MS = 1e6

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""Percentiles by their names, as shares."""


def bin_index(value_ns: int) -> int:
    """Return the bin of a time in ns: bins rise with times, without gaps.

    Examples:
        >>> [bin_index(value) for value in (0, 2047, 2048, 2049, 2050, 4096)]
        [0, 2047, 2048, 2048, 2049, 3072]
    """
    shift = max(value_ns.bit_length() - HALF_BITS - 1, 0)
    return shift * HALF + (value_ns >> shift)


def bin_indices(values_ns: Any) -> Any:
    """Return the bins of an array of times, each below 2^53 ns, which is 104 days."""
    bits = np.frexp(values_ns.astype(np.float64))[1]
    shifts = np.maximum(bits - HALF_BITS - 1, 0).astype(np.int64)
    return shifts * HALF + (values_ns.astype(np.int64) >> shifts)


def middle_ns(number: int) -> int:
    """Return the time in the middle of a bin.

    Examples:
        >>> [middle_ns(bin_index(value)) for value in (7, 2049, 10**6)]
        [7, 2049, 1000192]
    """
    shift = max(number // HALF - 1, 0)
    low = (number - shift * HALF) << shift
    return low + ((1 << shift) >> 1)


@dataclass(frozen=True)
class ResponseStatistics:
    """Statistics of response times without their histogram, small enough for thousands of volumes.

    Attributes:
        requests: Number of requests.
        values_ms: Mean, percentiles and longest by name, in ms.
    """

    requests: int
    values_ms: Mapping[str, float]

    def measure_ms(self, name: str) -> float:
        """`mean`, `max`, or a percentile by its name, such as `p99`."""
        return self.values_ms[name]


@dataclass(frozen=True)
class Histogram:
    """Response times of some requests, counted in bins.

    Attributes:
        counts: Number of requests by bin, in ascending order of bins.
        sum_ns: Sum of all response times.
        max_ns: The longest response time.
    """

    counts: Mapping[int, int]
    sum_ns: int
    max_ns: int

    @classmethod
    def from_result(cls, result: Result) -> Histogram:
        """Return the histogram of all reads and writes of a run; its sum is as exact as the reported mean."""
        times, request_count = result.cdf["all"], result.count
        cumulative_counts = [round(share * request_count) for share in times["share"]]
        bins = [bin_index(round(time_ms * NS_PER_MS)) for time_ms in times["response_ms"]]
        counts = [
            after - before for before, after in zip([0, *cumulative_counts], cumulative_counts, strict=False)
        ]
        response_time = result.response_time
        sum_ns, max_ns = (
            round(response_time.mean * NS_PER_MS * request_count),
            round(response_time.max * NS_PER_MS),
        )
        return cls(dict(zip(bins, counts, strict=True)), sum_ns, max_ns)

    @classmethod
    def merge(cls, parts: Iterable[Histogram]) -> Histogram:
        """Return the histogram of the requests of several; an empty one of none."""
        counts: Counter[int] = Counter()
        sum_ns = max_ns = 0
        for part in parts:
            counts.update(part.counts)
            sum_ns, max_ns = sum_ns + part.sum_ns, max(max_ns, part.max_ns)
        return cls(dict(sorted(counts.items())), sum_ns, max_ns)

    @cached_property
    def _ranks(self) -> tuple[list[int], list[int]]:
        """The bins, and for each the number of requests in it and in the bins below."""
        return list(self.counts), list(accumulate(self.counts.values()))

    @cached_property
    def requests(self) -> int:
        """Number of requests."""
        return sum(self.counts.values())

    @property
    def mean_ms(self) -> float | None:
        """Mean response time; None without requests."""
        return self.sum_ns / self.requests / NS_PER_MS if self.requests else None

    @property
    def max_ms(self) -> float | None:
        """The longest response time; None without requests."""
        return self.max_ns / NS_PER_MS if self.requests else None

    def percentile_ms(self, share: float) -> float | None:
        """Return the time below which a share of the requests is, within 0.05 %; equal to that of a run.

        None without requests.

        Examples:
            >>> Histogram({bin_index(10**6): 98, bin_index(10**7): 2}, 118 * 10**6, 10**7).percentile_ms(0.99)
            9.998336
        """
        if not self.requests:
            return None
        bins, cumulative_counts = self._ranks
        place = bisect_left(cumulative_counts, max(ceil(share * self.requests), 1))
        return min(middle_ns(bins[place]), self.max_ns) / NS_PER_MS

    def measure_ms(self, name: str) -> float | None:
        """`mean`, `max`, or a percentile by its name, such as `p99`; None without requests."""
        if name in PERCENTILES:
            return self.percentile_ms(PERCENTILES[name])
        return self.mean_ms if name == "mean" else self.max_ms

    @property
    def statistics(self) -> ResponseStatistics | None:
        """The statistics of the response times, without the histogram; None without requests."""
        values_ms = {name: self.measure_ms(name) for name in ("mean", *PERCENTILES, "max")}
        known_ms = {name: value for name, value in values_ms.items() if value is not None}
        return ResponseStatistics(self.requests, known_ms) if self.requests else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: distances between bins, and counts, as numbers in one text."""
        bins = list(self.counts)
        steps = [after - before for before, after in zip([0, *bins], bins, strict=False)]
        return {
            "steps": " ".join(map(str, steps)),
            "counts": " ".join(map(str, self.counts.values())),
            "sum_ns": self.sum_ns,
            "max_ns": self.max_ns,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Histogram:
        """Return the histogram that plain data hold."""
        steps, counts = (list(map(int, data[name].split())) for name in ("steps", "counts"))
        return cls(dict(zip(accumulate(steps), counts, strict=True)), data["sum_ns"], data["max_ns"])
