"""Bins of adaptive widths, units of them, and clusters of units: what MAFIA works out between passes.

A bin has a code, `dimension * windows + number in its dimension`; a unit is a row of codes, ascending: a
bin in each of some dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.job.files import Array

    Unit = tuple[int, ...]


@dataclass(frozen=True)
class Bins:
    """How each dimension is cut.

    Attributes:
        ends: Where bins end, in windows, dimension by dimension; ascending, the last the number of windows.
        low: The smallest value of every dimension.
        high: The largest.
    """

    ends: Sequence[Sequence[int]]
    low: float
    high: float

    @classmethod
    def of(cls, histogram: Array, *, beta: float, equal: int, low: float, high: float) -> Bins:
        """Bins that follow from the records in each window, a row for each dimension."""
        windows = histogram.shape[1]
        even = [windows * (bin_ + 1) // equal for bin_ in range(equal)]
        found = [merged(row, beta) for row in histogram.tolist()]
        return cls([ends if len(ends) > 1 else even for ends in found], low, high)

    @property
    def windows(self) -> int:
        """Windows of a dimension."""
        return self.ends[0][-1]

    @cached_property
    def of_window(self) -> Array:
        """The number of each window's bin, a row for each dimension."""
        rows = [np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)) for ends in self.ends]
        return np.stack(rows).astype(np.uint16)

    @cached_property
    def widths(self) -> Array:
        """Width of each bin by its code, as a share of the range."""
        found = np.zeros((len(self.ends), self.windows))
        for row, ends in zip(found, self.ends, strict=True):
            row[: len(ends)] = np.diff(ends, prepend=0) / self.windows
        return found.ravel()

    def counts(self, histogram: Array) -> Array:
        """Records in each bin by its code."""
        found = np.zeros(histogram.shape, np.uint64)
        for dimension, ends in enumerate(self.ends):
            found[dimension, : len(ends)] = np.add.reduceat(histogram[dimension], [0, *ends[:-1]])
        return found.ravel()

    def pairs(self, codes: Array) -> Array:
        """Dimensions and numbers of bins."""
        return np.stack(np.divmod(codes, self.windows), axis=-1)

    def edges(self, dimension: int) -> list[float]:
        """Where the first bin of a dimension begins and each ends."""
        span = self.high - self.low
        return [self.low + span * end / self.windows for end in (0, *self.ends[dimension])]

    def interval(self, code: int) -> list[float]:
        """Where a bin begins and ends."""
        dimension, bin_ = divmod(code, self.windows)
        return self.edges(dimension)[bin_ : bin_ + 2]


def merged(values: Sequence[int], beta: float) -> list[int]:
    """Where bins end when windows are merged from left to right.

    The value of a bin is the largest in it. The next window joins it unless the two differ by a share of
    `beta` of the larger one.

    Examples:
        >>> merged([100, 90, 110, 300, 280, 120], beta=0.35)
        [3, 5, 6]
    """
    ends = []
    largest = values[0]
    for window, value in enumerate(values[1:], 1):
        if abs(value - largest) < beta * max(value, largest) or value == largest:
            largest = max(largest, value)
        else:
            ends.append(window)
            largest = value
    return [*ends, len(values)]


@dataclass(frozen=True)
class Units:
    """Dense units of one number of dimensions, in order, and the records in each."""

    codes: Array
    counts: Array

    def table(self) -> dict[Unit, int]:
        """Records by unit."""
        rows = (tuple(row) for row in self.codes.tolist())
        return dict(zip(rows, self.counts.tolist(), strict=True))


def dense(codes: Array, counts: Array, thresholds: Array) -> Units:
    """Those candidates that hold more than the threshold of every bin that forms them.

    What a unit would hold by chance, the product of its widths, is no measure: bins of two clusters that
    have no dimension in common would be dense together, as each holds its cluster and a slice of the other.
    """
    found = counts > thresholds[codes].max(axis=1, initial=0)
    return Units(codes[found], counts[found])


def joined(units: Array, windows: int) -> tuple[Array, int]:
    """Candidates: units that have all bins but one in common, put together; and how many pairs do."""
    count, length = units.shape
    # Each unit stands once for every bin that it may not have in common with another.
    rest = np.concatenate([np.delete(units, place, axis=1) for place in range(length)])
    other = units.T.ravel()
    _, group = np.unique(rest, axis=0, return_inverse=True) if length > 1 else (None, np.zeros(count, int))
    order = np.lexsort((other, group.ravel()))
    rest, other, group = rest[order], other[order], group.ravel()[order]
    partners = np.searchsorted(group, group, side="right") - np.arange(len(group)) - 1
    left = np.repeat(np.arange(len(group)), partners)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    apart = other[left] // windows != other[right] // windows
    together = np.column_stack([rest[left], other[left], other[right]])[apart]
    return np.unique(np.sort(together, axis=1), axis=0), len(left)


def clusters(levels: Sequence[Units], windows: int) -> list[dict[Unit, int]]:
    """Dense units in none of more dimensions, put together where they share a face; longest first."""
    found = []
    for place, level in enumerate(levels):
        more = levels[place + 1].codes.tolist() if place + 1 < len(levels) else []
        covered = {(*unit[:each], *unit[each + 1 :]) for unit in more for each in range(len(unit))}
        left = {unit: count for unit, count in level.table().items() if unit not in covered}
        found += _connected(left, windows)
    return sorted(found, key=lambda cluster: (-len(next(iter(cluster))), sorted(cluster)))


def _connected(units: dict[Unit, int], windows: int) -> list[dict[Unit, int]]:
    """Puts units of the same dimensions together that share a face, or are linked by others that do."""
    found = []
    left = dict(units)
    while left:
        first = next(iter(left))
        cluster = {first: left.pop(first)}
        reached = [first]
        while reached:
            for near in _neighbours(reached.pop(), windows):
                if near in left:
                    cluster[near] = left.pop(near)
                    reached.append(near)
        found.append(cluster)
    return found


def _neighbours(unit: Unit, windows: int) -> list[Unit]:
    """Units that would share a face with one: in one dimension, their bins are neighbours."""
    return [
        (*unit[:place], code + step, *unit[place + 1 :])
        for place, code in enumerate(unit)
        for step in (-1, 1)
        if (code + step) // windows == code // windows
    ]


def answered(cluster: dict[Unit, int], bins: Bins) -> dict[str, Any]:
    """A cluster as in an answer."""
    units = sorted(cluster)
    return {
        "dims": [code // bins.windows for code in units[0]],
        "units": [[bins.interval(code) for code in unit] for unit in units],
        "records": sum(cluster.values()),
    }
