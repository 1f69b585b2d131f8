"""The search for the highest fill of devices that meets a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS = 100
"""Steps of fill that are distinguished, from 0 to 1."""

PARTS = 4
"""Parts into which the range up to the highest fill is cut, where neither of its ends meets the goal."""


@dataclass(frozen=True)
class TriedPlacement:
    """A placement that was tried.

    Attributes:
        fill: Share of time and capacity up to which devices were filled; at 0 no device is shared.
        devices: Number of devices that the placement needs.
        left: Number of volumes that are on no device.
        value_ms: The measure of the goal, over all requests, in ms; None if no volume is on a device.
        meets: Whether the goal is met.
        overloaded: Number of devices whose queue kept growing.
    """

    fill: float
    devices: int
    left: int
    value_ms: float | None
    meets: bool
    overloaded: int = 0


def search(maximum: float, try_fill: Callable[[float], TriedPlacement]) -> list[TriedPlacement]:
    """Return the placements on the way to the fewest devices under a goal, by fill.

    Tries the highest fill, and fill 0, where no device is shared; where neither meets the goal, fills between
    them. Then halves the gap between the highest fill that meets the goal and the next that does not, until
    fills or numbers of devices are adjacent.

    Args:
        maximum: The highest fill that is allowed.
        try_fill: Tries a placement with a fill.

    Examples:
        >>> def at(fill):
        ...     return TriedPlacement(fill, round(100 - 90 * fill), 0, 10 * fill, fill <= 0.5)
        >>> placements = search(0.8, at)
        >>> max(each.fill for each in placements if each.meets)
        0.5
    """
    highest = max(round(maximum * STEPS), 1)
    placements_by_fill = {0: try_fill(0.0), highest: try_fill(maximum)}
    if not any(each.meets for each in placements_by_fill.values()):
        placements_by_fill |= {
            fill: try_fill(fill / STEPS)
            for fill in {highest * part // PARTS for part in range(1, PARTS)} - {0}
        }
    low = max((fill for fill, each in placements_by_fill.items() if each.meets), default=highest)
    high = min((fill for fill in placements_by_fill if fill > low), default=low)
    while high - low > 1 and placements_by_fill[low].devices - placements_by_fill[high].devices > 1:
        middle = (low + high) // 2
        placements_by_fill[middle] = try_fill(middle / STEPS)
        if placements_by_fill[middle].meets:
            low = middle
        else:
            high = middle
    return [placements_by_fill[each] for each in sorted(placements_by_fill)]


def is_monotone(placements: Sequence[tuple[int, bool]]) -> bool:
    """Return whether every number of devices that meets the goal is above every number that does not.

    Args:
        placements: For each placement the number of devices, and whether it meets the goal.

    Examples:
        >>> is_monotone([(9, True), (5, True), (4, False)]), is_monotone([(9, True), (5, False), (4, True)])
        (True, False)
    """
    most_missing = max((devices for devices, meets in placements if not meets), default=0)
    return all(devices > most_missing for devices, meets in placements if meets)
