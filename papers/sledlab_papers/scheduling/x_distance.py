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
        self._new_requests: list[sl.QueuedRequest] = []
        self._waiting: list[tuple[int, int, sl.QueuedRequest]] = []

    def push(self, request: sl.QueuedRequest) -> None:
        """Add a request."""
        self._new_requests.append(request)

    def pop(self, now_ns: int, device: sl.DeviceView) -> sl.QueuedRequest:
        """Remove and return the nearest request."""
        for request in self._new_requests:
            cylinder, _ = device.location(request.lbn)
            insort(self._waiting, (cylinder, request.id, request))
        self._new_requests.clear()
        sled_cylinder = device.state[0] + device.cylinders // 2
        upper = bisect_left(self._waiting, (sled_cylinder,))
        candidates = [upper] if upper < len(self._waiting) else []
        if upper > 0:
            candidates.append(bisect_left(self._waiting, (self._waiting[upper - 1][0],)))
        nearest = min(
            candidates, key=lambda i: (abs(self._waiting[i][0] - sled_cylinder), self._waiting[i][1])
        )
        return self._waiting.pop(nearest)[2]

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._new_requests) + len(self._waiting)
