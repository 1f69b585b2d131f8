"""The clock, a replacement policy in Python: a second chance for what was used since the hand came by.

Run it from the directory of this file:

    sledlab trace hits TRACE --policies lru,fifo,clock:Clock
    sledlab simulate EXPERIMENT --set hybrid.kind=caching-disk --set hybrid.replacement=clock:Clock
"""

from __future__ import annotations

from collections import OrderedDict


class Clock:
    """Keys in a circle, each with a mark that a use sets and the hand takes away."""

    def __init__(self, capacity: int, marked: bool = False) -> None:
        """Room for so many keys; whether a key comes in with its mark set."""
        self.marked = marked
        self.circle = OrderedDict()

    def hit(self, key):
        """It is used."""
        self.circle[key] = True

    def insert(self, key):
        """It comes in behind the hand."""
        self.circle[key] = self.marked

    def evict(self, incoming):
        """The first key without a mark; those before it go behind the hand without theirs."""
        while True:
            key, mark = self.circle.popitem(last=False)
            if not mark:
                return key
            self.circle[key] = False
