"""The search for how far devices may be filled under a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS = 100
"""Fills that are told apart, from nothing to all."""

PARTS = 4
"""In how many parts the way to the highest fill is cut, where neither of its ends does it."""


@dataclass(frozen=True)
class TriedPlacement:
    """A placement that was tried.

    Attributes:
        fill: Up to which share of time and capacity devices were filled; at 0 none is shared.
        devices: Devices that it needs.
        left: Volumes that lie on none.
        value_ms: What the goal limits, over all requests.
        meets: Whether it keeps to the goal.
    """

    fill: float
    devices: int
    left: int
    value_ms: float
    meets: bool


def search(most: float, at: Callable[[float], TriedPlacement]) -> list[TriedPlacement]:
    """Placements on the way to the fewest devices under a goal, by fill.

    Looks at the highest fill and at devices that nobody shares; where neither does it, at fills between them.
    Then it halves the gap between the highest fill that keeps to the goal and the next that does not, until
    fills or numbers of devices are next to each other.

    Args:
        most: The highest fill that is allowed.
        at: What comes of a fill.

    Examples:
        >>> def at(fill):
        ...     return TriedPlacement(fill, round(100 - 90 * fill), 0, 10 * fill, fill <= 0.5)
        >>> found = search(0.8, at)
        >>> max(each.fill for each in found if each.meets)
        0.5
    """
    top = max(round(most * STEPS), 1)
    tried = {0: at(0.0), top: at(most)}
    if not any(each.meets for each in tried.values()):
        tried |= {fill: at(fill / STEPS) for fill in {top * part // PARTS for part in range(1, PARTS)} - {0}}
    low = max((fill for fill, each in tried.items() if each.meets), default=top)
    high = min((fill for fill in tried if fill > low), default=low)
    while high - low > 1 and tried[low].devices - tried[high].devices > 1:
        middle = (low + high) // 2
        tried[middle] = at(middle / STEPS)
        if tried[middle].meets:
            low = middle
        else:
            high = middle
    return [tried[each] for each in sorted(tried)]


def is_monotone(tried: Sequence[tuple[int, bool]]) -> bool:
    """Whether more devices were always better.

    Args:
        tried: Numbers of devices, and whether they keep to the goal.

    Examples:
        >>> is_monotone([(9, True), (5, True), (4, False)]), is_monotone([(9, True), (5, False), (4, True)])
        (True, False)
    """
    most = max((devices for devices, meets in tried if not meets), default=0)
    return all(devices > most for devices, meets in tried if meets)
