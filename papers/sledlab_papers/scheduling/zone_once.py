"""ZSPTF that computes each positioning time once, as a scheduler in Python (Hong 2006, section 4.1)."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sledlab as sl

COLUMNS, ROWS = 20, 2
"""Cells along x and along y of the default grid of `zsptf`."""


class ZsptfOnce:
    """ZSPTF that serves a zone in the order of positioning times from where the sled entered it.

    A request that arrives during the visit joins with its positioning time at the next choice. No time is
    computed again. Zones and their order are those of the built-in `zsptf`.
    """

    def __init__(self) -> None:
        """Create an empty queue."""
        self._new_requests: list[sl.QueuedRequest] = []
        self._waiting: dict[int, list[sl.QueuedRequest]] = {}
        self._visit: list[tuple[int, int, sl.QueuedRequest]] = []
        self._zone = -1
        self._length = 0

    def push(self, request: sl.QueuedRequest) -> None:
        """Add a request."""
        self._new_requests.append(request)
        self._length += 1

    def pop(self, now_ns: int, device: sl.DeviceView) -> sl.QueuedRequest:
        """Remove and return the next request of the zone in service."""
        joining = []
        for request in self._new_requests:
            zone = _zone(request, device)
            if zone == self._zone:
                joining.append(request)
            else:
                self._waiting.setdefault(zone, []).append(request)
        self._new_requests.clear()
        if not self._visit and not joining:
            self._zone = min(
                (zone for zone in self._waiting if zone > self._zone), default=min(self._waiting, default=-1)
            )
            joining = self._waiting.pop(self._zone)
        if joining:
            for time_ns, request in zip(device.positioning_ns(joining).tolist(), joining, strict=True):
                insort(self._visit, (time_ns, request.id, request))
        self._length -= 1
        return self._visit.pop(0)[2]

    def __len__(self) -> int:
        """Return the number of requests."""
        return self._length


def _zone(request: sl.QueuedRequest, device: sl.DeviceView) -> int:
    """Return the zone of a request: columns in turn, in each even cylinders upwards, odd ones downwards."""
    cylinder, row = device.location(request.lbn)
    x, y = cylinder * COLUMNS // device.cylinders, row * ROWS // device.rows
    step = 2 * ROWS - 1 - y if cylinder % 2 else y
    return int(x * 2 * ROWS + step)
