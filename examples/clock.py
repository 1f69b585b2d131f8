"""CLOCK, a replacement policy in Python: a second chance for keys used since the hand last passed them.

Run it from the directory of this file:

    sledlab trace hits TRACE --replacement lru,fifo,clock:Clock
    sledlab simulate EXPERIMENT --set hybrid.kind=caching-disk --set hybrid.replacement=clock:Clock
"""

from __future__ import annotations

from collections import OrderedDict


class Clock:
    """Keys in a circle, each with a mark that a hit sets and the passing hand clears."""

    def __init__(self, capacity: int, marked: bool = False) -> None:
        """Room for `capacity` keys; `marked` says whether a key is inserted with its mark set."""
        self.marked = marked
        self.circle = OrderedDict()

    def hit(self, key):
        """The cache holds `key`, which is used: sets its mark."""
        self.circle[key] = True

    def insert(self, key):
        """Inserts `key` behind the hand."""
        self.circle[key] = self.marked

    def evict(self, incoming):
        """The victim: the first key without a mark; marked keys before it go behind the hand, unmarked."""
        while True:
            key, mark = self.circle.popitem(last=False)
            if not mark:
                return key
            self.circle[key] = False
