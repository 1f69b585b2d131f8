"""CLOCK, a replacement policy in Python: keys used since the hand last passed them are not evicted.

Run it from the directory of this file:

    sledlab trace hits TRACE --replacement lru,fifo,clock:Clock
    sledlab simulate EXPERIMENT --set hybrid.kind=caching-disk --set hybrid.replacement=clock:Clock
"""

from __future__ import annotations

from collections import OrderedDict


class Clock:
    """Keys in a circle; a hit marks a key, and the hand clears the mark when it passes."""

    def __init__(self, capacity: int, marked: bool = False) -> None:
        """Create a cache of `capacity` keys; with `marked`, keys are inserted with their mark set."""
        self.marked = marked
        self.circle = OrderedDict()

    def hit(self, key):
        """Mark `key`, which is in the cache."""
        self.circle[key] = True

    def insert(self, key):
        """Insert `key` behind the hand."""
        self.circle[key] = self.marked

    def evict(self, incoming):
        """Remove and return the first unmarked key; the hand passes marked keys and clears their marks."""
        while True:
            key, mark = self.circle.popitem(last=False)
            if not mark:
                return key
            self.circle[key] = False
