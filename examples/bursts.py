"""Bursts of reads near each other: a workload written in Python.

Run it from the directory of this file:

    sledlab simulate --device mems-g2 --workload bursts:Bursts --limit 20000 --set workload.mean_gap_ms=20
"""

from __future__ import annotations

import numpy as np


class Bursts:
    """Each burst reads blocks near a random address; times between bursts are exponential."""

    def __init__(self, mean_gap_ms: float = 30.0, requests: int = 16, reach_blocks: int = 20_000) -> None:
        """Set mean time between bursts, requests per burst, and address span: keys of `[workload]`."""
        self.mean_gap_us = 1000 * mean_gap_ms
        self.many = requests
        self.reach = reach_blocks

    def requests(self, capacity_blocks, random):
        """Yield a batch per burst: arrivals in microseconds, first blocks, one size, one operation."""
        now_us = 0.0
        while True:
            now_us += random.exponential(self.mean_gap_us)
            place = random.integers(capacity_blocks - self.reach)
            yield np.full(self.many, now_us), place + random.integers(self.reach - 8, size=self.many), 8, "R"
