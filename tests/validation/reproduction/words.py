"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..markdown import percent, span

Shares = Iterable[float] | Mapping[float, float]
"""Relative differences, maybe by the load or level they hold at."""


def _values(shares: Shares) -> list[float]:
    return list(shares.values() if isinstance(shares, Mapping) else shares)


def spread(shares: Shares) -> str:
    """From the least to the greatest relative difference, or the only one; what there is none of is said."""
    values = _values(shares)
    if not values:
        return "no load in this range"
    if max(values) - min(values) < 5e-4:
        return f"{percent(values[0], 1)} %"
    return span(values)


def overlaps(shares: Shares, low: float, high: float) -> bool:
    """Whether the range of some relative differences overlaps a band."""
    values = _values(shares)
    return len(values) > 0 and min(values) <= high and max(values) >= low


def all_above(shares: Shares, least: float = 0.0) -> bool:
    """Whether there are some and all are above a number."""
    values = _values(shares)
    return bool(values) and all(value > least for value in values)


def most_above(shares: Shares, least: float = 0.0) -> bool:
    """Whether more than half are above a number."""
    values = _values(shares)
    return 2 * sum(value > least for value in values) > len(values)


def levels(shares: Mapping[float, float]) -> str:
    """Differences in throughput with the mean responses they hold at."""
    if not shares:
        return "no level that both reach"
    return ", ".join(f"{percent(share, 1)} % at {level:g} ms" for level, share in shares.items())


def figure(value: float, digits: int = 3) -> str:
    """A number in three significant digits.

    Example:
        >>> [figure(value) for value in (0.12345, 12.345, 12345.6)]
        ['0.123', '12.3', '12,346']
    """
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
