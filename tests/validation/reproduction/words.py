"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..markdown import percent, span


def spread(shares: Iterable[float] | Mapping[float, float]) -> str:
    """From the least to the greatest relative difference, or the only one; what there is none of is said."""
    values = list(shares.values() if isinstance(shares, Mapping) else shares)
    if not values:
        return "no load in this range"
    if max(values) - min(values) < 5e-4:
        return f"{percent(values[0], 1)} %"
    return span(values)


def overlaps(shares: Iterable[float] | Mapping[float, float], low: float, high: float) -> bool:
    """Whether the range of some relative differences overlaps a band."""
    values = list(shares.values() if isinstance(shares, Mapping) else shares)
    return bool(values) and min(values) <= high and max(values) >= low


def all_above(shares: Iterable[float] | Mapping[float, float], least: float = 0.0) -> bool:
    """Whether there are some and all are above a number."""
    values = list(shares.values() if isinstance(shares, Mapping) else shares)
    return bool(values) and min(values) > least


def most_above(shares: Iterable[float] | Mapping[float, float], least: float = 0.0) -> bool:
    """Whether more than half are above a number."""
    values = list(shares.values() if isinstance(shares, Mapping) else shares)
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
