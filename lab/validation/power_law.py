"""Powers of the size fitted to measured costs: a straight line between logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Point = tuple[float, float]
"""A size and its cost, both positive."""


@dataclass(frozen=True)
class PowerLaw:
    """The cost `factor * size ** exponent`."""

    exponent: float
    factor: float

    def cost(self, size: float) -> float:
        """Return the cost of a size."""
        return float(self.factor * size**self.exponent)

    def deviation(self, point: Point) -> float:
        """Return the measured cost of a point relative to that of the law, minus 1."""
        size, cost = point
        return cost / self.cost(size) - 1

    def distance(self, point: Point) -> float:
        """Return the logarithm of the ratio of the measured cost to that of the law, without sign."""
        return float(abs(np.log1p(self.deviation(point))))

    def farthest(self, points: Sequence[Point]) -> Point:
        """Return the point with the largest distance."""
        return max(points, key=self.distance)


def fit(points: Sequence[Point]) -> PowerLaw | None:
    """Return the power law with the least squares of logarithms; `None` for fewer than two sizes."""
    if len({size for size, _ in points}) < 2:
        return None
    sizes, costs = np.log(np.array(points)).T
    exponent, logarithm = np.polyfit(sizes, costs, 1)
    return PowerLaw(float(exponent), float(np.exp(logarithm)))


def exponent_text(law: PowerLaw) -> str:
    """Return the exponent with two decimals.

    Examples:
        >>> exponent_text(PowerLaw(-0.001, 1.0))
        '0.00'
    """
    return f"{round(law.exponent, 2) + 0:.2f}"
