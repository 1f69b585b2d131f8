"""Shortest seek time first, written in Python: the same choices as the built-in `sstf`.

Run it from the directory of this file:

    sledlab simulate --device mems-g2 --workload uniform --limit 20000 --scheduler sstf:Sstf
"""

from __future__ import annotations

from bisect import bisect_left, insort


class Sstf:
    """Serve the request with the track nearest to the last one; of equally near requests the earliest."""

    def __init__(self) -> None:
        """Create an empty queue."""
        self.fresh = []
        self.queue = []
        self.last_track = 0

    def push(self, request):
        """Add a request to the queue; the next choice queries the device for its track."""
        self.fresh.append(request)

    def pop(self, now_ns, device):
        """Remove and return the request on the nearest track."""
        for request in self.fresh:
            insort(self.queue, (request.lbn // device.blocks_per_track, request.id, request))
        self.fresh.clear()
        above = bisect_left(self.queue, (self.last_track,))
        candidates = []
        if above < len(self.queue):
            candidates.append(above)
        if above > 0:
            # Of the nearest track below, the first request to arrive.
            track = self.queue[above - 1][0]
            candidates.append(bisect_left(self.queue, (track,)))
        best = min(candidates, key=lambda at: (abs(self.queue[at][0] - self.last_track), self.queue[at][1]))
        _, _, request = self.queue.pop(best)
        self.last_track = (request.lbn + request.blocks - 1) // device.blocks_per_track
        return request

    def __len__(self):
        """Return the number of queued requests."""
        return len(self.fresh) + len(self.queue)
