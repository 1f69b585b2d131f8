"""Bins of adaptive widths, units of bins, and clusters of units: MAFIA's computations between its passes.

A bin has a code, `dimension * windows + number in its dimension`; a unit is a row of codes, ascending: one
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
    """The bins of each dimension.

    Attributes:
        ends: Ends of bins, in windows, dimension by dimension; ascending, the last the number of windows.
        low: Smallest value of every dimension.
        high: Largest value of every dimension.
    """

    ends: Sequence[Sequence[int]]
    low: float
    high: float

    @classmethod
    def from_histogram(
        cls, histogram: Array, *, beta: float, equal_bins: int, low: float, high: float
    ) -> Bins:
        """The bins for a histogram: records in each window, a row for each dimension."""
        windows = histogram.shape[1]
        equal_ends = [windows * (bin_ + 1) // equal_bins for bin_ in range(equal_bins)]
        ends_by_dimension = [merge_windows(row, beta) for row in histogram.tolist()]
        return cls([ends if len(ends) > 1 else equal_ends for ends in ends_by_dimension], low, high)

    @property
    def windows(self) -> int:
        """Number of windows of a dimension."""
        return self.ends[0][-1]

    @cached_property
    def window_bins(self) -> Array:
        """The number of each window's bin, a row for each dimension."""
        rows = [np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)) for ends in self.ends]
        return np.stack(rows).astype(np.uint16)

    @cached_property
    def widths(self) -> Array:
        """Width of each bin, by its code, as a share of the range of values."""
        shares = np.zeros((len(self.ends), self.windows))
        for row, ends in zip(shares, self.ends, strict=True):
            row[: len(ends)] = np.diff(ends, prepend=0) / self.windows
        return shares.ravel()

    def counts(self, histogram: Array) -> Array:
        """Number of records in each bin, by its code."""
        totals = np.zeros(histogram.shape, np.uint64)
        for dimension, ends in enumerate(self.ends):
            totals[dimension, : len(ends)] = np.add.reduceat(histogram[dimension], [0, *ends[:-1]])
        return totals.ravel()

    def pairs(self, codes: Array) -> Array:
        """Dimension of each bin, and its number in that dimension."""
        return np.stack(np.divmod(codes, self.windows), axis=-1)

    def edges(self, dimension: int) -> list[float]:
        """The edges of the bins of a dimension: beginning of the first, and end of each."""
        span = self.high - self.low
        return [self.low + span * end / self.windows for end in (0, *self.ends[dimension])]

    def interval(self, code: int) -> list[float]:
        """Beginning and end of a bin."""
        dimension, bin_ = divmod(code, self.windows)
        return self.edges(dimension)[bin_ : bin_ + 2]


def merge_windows(values: Sequence[int], beta: float) -> list[int]:
    """The ends of bins when windows are merged from left to right.

    The value of a bin is that of its largest window. The next window is merged into it where the two differ
    by less than a share of `beta` of the larger one.

    Examples:
        >>> merge_windows([100, 90, 110, 300, 280, 120], beta=0.35)
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
    """Dense units with the same number of dimensions, in order, and the records in each."""

    codes: Array
    counts: Array

    def table(self) -> dict[Unit, int]:
        """Number of records by unit."""
        rows = (tuple(row) for row in self.codes.tolist())
        return dict(zip(rows, self.counts.tolist(), strict=True))


def select_dense(codes: Array, counts: Array, thresholds: Array) -> Units:
    """The candidates that hold more records than the threshold of every bin that forms them.

    The records expected in a unit by chance, by the product of its widths, are no threshold: bins of two
    clusters without a common dimension would be dense together, as each holds its cluster and a slice of the
    other.
    """
    is_dense = counts > thresholds[codes].max(axis=1, initial=0)
    return Units(codes[is_dense], counts[is_dense])


def join_units(units: Array, windows: int) -> tuple[Array, int]:
    """Candidates: pairs of units with all bins but one in common, joined; and the number of such pairs."""
    count, length = units.shape
    # Each unit is repeated, each time without another one of its bins, to find the units that share the rest.
    shared_codes = np.concatenate([np.delete(units, column, axis=1) for column in range(length)])
    other_codes = units.T.ravel()
    _, group_numbers = (
        np.unique(shared_codes, axis=0, return_inverse=True) if length > 1 else (None, np.zeros(count, int))
    )
    order = np.lexsort((other_codes, group_numbers.ravel()))
    shared_codes, other_codes, group_numbers = (
        shared_codes[order],
        other_codes[order],
        group_numbers.ravel()[order],
    )
    partners = np.searchsorted(group_numbers, group_numbers, side="right") - np.arange(len(group_numbers)) - 1
    left_index = np.repeat(np.arange(len(group_numbers)), partners)
    right_index = (
        left_index + 1 + np.arange(len(left_index)) - np.repeat(np.cumsum(partners) - partners, partners)
    )
    in_other_dimension = other_codes[left_index] // windows != other_codes[right_index] // windows
    joined = np.column_stack([shared_codes[left_index], other_codes[left_index], other_codes[right_index]])[
        in_other_dimension
    ]
    return np.unique(np.sort(joined, axis=1), axis=0), len(left_index)


def clusters(levels: Sequence[Units], windows: int) -> list[dict[Unit, int]]:
    """Dense units that are part of no larger unit, joined where they share faces; most dimensions first."""
    groups = []
    for index, level in enumerate(levels):
        larger_units = levels[index + 1].codes.tolist() if index + 1 < len(levels) else []
        covered_units = {
            (*unit[:column], *unit[column + 1 :]) for unit in larger_units for column in range(len(unit))
        }
        counts_by_uncovered_unit = {
            unit: count for unit, count in level.table().items() if unit not in covered_units
        }
        groups += _connected_units(counts_by_uncovered_unit, windows)
    return sorted(groups, key=lambda cluster: (-len(next(iter(cluster))), sorted(cluster)))


def _connected_units(units: dict[Unit, int], windows: int) -> list[dict[Unit, int]]:
    """Groups of units of the same dimensions that share a face, directly or through others of the group."""
    groups = []
    counts_by_unvisited_unit = dict(units)
    while counts_by_unvisited_unit:
        start = next(iter(counts_by_unvisited_unit))
        counts_by_unit = {start: counts_by_unvisited_unit.pop(start)}
        frontier = [start]
        while frontier:
            for neighbor in _neighbors(frontier.pop(), windows):
                if neighbor in counts_by_unvisited_unit:
                    counts_by_unit[neighbor] = counts_by_unvisited_unit.pop(neighbor)
                    frontier.append(neighbor)
        groups.append(counts_by_unit)
    return groups


def _neighbors(unit: Unit, windows: int) -> list[Unit]:
    """Units that would share a face with a unit: their bins are neighbors in one dimension."""
    return [
        (*unit[:column], code + step, *unit[column + 1 :])
        for column, code in enumerate(unit)
        for step in (-1, 1)
        if (code + step) // windows == code // windows
    ]


def cluster_answer(cluster: dict[Unit, int], bins: Bins) -> dict[str, Any]:
    """A cluster as the answer holds it."""
    units = sorted(cluster)
    return {
        "dims": [code // bins.windows for code in units[0]],
        "units": [[bins.interval(code) for code in unit] for unit in units],
        "records": sum(cluster.values()),
    }
