"""Response times of each volume on a shared device, counted as requests complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.studies.fleet.histogram import Histogram, bin_indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.runs.requests import Column

MAX_BINS = 1 << 17
"""More than the number of bins of a histogram: bins of one volume follow those of the previous one."""

PENDING_CHUNKS = 16
"""Chunks of counts that are stored before they are added up, so that memory does not grow with requests."""

LOW_BITS = 32


@dataclass
class SplitTimes:
    """Counts of response times of a device's requests by volume: the one whose extent holds the address.

    Attributes:
        offsets: First block of each volume.
    """

    offsets: Sequence[int]
    _keys: list[Any] = field(default_factory=list)
    _counts: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start with empty counts."""
        starts = np.asarray(self.offsets, dtype=np.uint64)
        self._order = np.argsort(starts)
        self._starts = starts[self._order]
        self._sums_ns = [0] * len(self.offsets)
        self._max_ns = np.zeros(len(self.offsets), dtype=np.uint64)

    def write(self, columns: list[Column]) -> None:
        """Count a chunk of the requests table."""
        data = dict(columns)
        ops = np.frombuffer(data["op"], "S1")
        is_request = (ops == b"R") | (ops == b"W")
        lbns, times = (np.frombuffer(data[name], "<u8")[is_request] for name in ("lbn", "response_ns"))
        if not len(times):
            return
        volumes = self._order[np.searchsorted(self._starts, lbns, side="right") - 1]
        self._add(volumes, times)
        keys, counts = np.unique(volumes * MAX_BINS + bin_indices(times), return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        if len(self._keys) > PENDING_CHUNKS:
            self._gather()

    def _add(self, volumes: Any, times: Any) -> None:
        """Add times to the sums, exactly: sums of half of the bits stay within a float's integers."""
        np.maximum.at(self._max_ns, volumes, times)
        for shift, part in (
            (0, times & np.uint64(2**LOW_BITS - 1)),
            (LOW_BITS, times >> np.uint64(LOW_BITS)),
        ):
            sums = np.bincount(volumes, weights=part.astype(np.float64), minlength=len(self._starts))
            for volume in np.flatnonzero(sums):
                self._sums_ns[volume] += int(sums[volume]) << shift

    def _gather(self) -> None:
        """Add up the counts of each bin."""
        keys, indices = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, indices, np.concatenate(self._counts))
        self._keys, self._counts = [keys], [counts]

    def close(self, *, keep: bool = True) -> None:
        """Do nothing: no file is open."""

    @property
    def histograms(self) -> list[Histogram]:
        """The response times of each volume, in the order of their offsets."""
        bins: list[dict[int, int]] = [{} for _ in self.offsets]
        if self._keys:
            self._gather()
            for key, count in zip(self._keys[0].tolist(), self._counts[0].tolist(), strict=True):
                bins[key // MAX_BINS][key % MAX_BINS] = count
        return [
            Histogram(each, self._sums_ns[volume], int(self._max_ns[volume]))
            for volume, each in enumerate(bins)
        ]
