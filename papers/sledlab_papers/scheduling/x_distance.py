"""SSTF by the distance along x, as a scheduler in Python (Lee 2009, section 2.2)."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sledlab as sl


class SstfByX:
    """The request whose cylinder is nearest to the sled, the earliest of several.

    The built-in `sstf` counts tracks between block numbers. Blocks of other groups of tips and of other sleds
    lie at the same x, but have distant numbers.
    """

    def __init__(self) -> None:
        """Create an empty queue."""
        self._fresh: list[sl.QueuedRequest] = []
        self._waiting: list[tuple[int, int, sl.QueuedRequest]] = []

    def push(self, request: sl.QueuedRequest) -> None:
        """Add a request."""
        self._fresh.append(request)

    def pop(self, now_ns: int, device: sl.DeviceView) -> sl.QueuedRequest:
        """Remove and return the nearest request."""
        for request in self._fresh:
            cylinder, _ = device.location(request.lbn)
            insort(self._waiting, (cylinder, request.id, request))
        self._fresh.clear()
        here = device.state[0] + device.cylinders // 2
        above = bisect_left(self._waiting, (here,))
        sides = [above] if above < len(self._waiting) else []
        if above > 0:
            sides.append(bisect_left(self._waiting, (self._waiting[above - 1][0],)))
        nearest = min(sides, key=lambda at: (abs(self._waiting[at][0] - here), self._waiting[at][1]))
        return self._waiting.pop(nearest)[2]

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._fresh) + len(self._waiting)
