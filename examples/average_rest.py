"""A power policy in Python: park at once while rests are long on average, else after the break-even time.

Run it from the directory of this file:

    sledlab simulate --device mems-g2 --workload uniform --limit 20000 --power average_rest:AverageRest
"""

from __future__ import annotations


class AverageRest:
    """Judges the next rest by the mean of those before, recent ones counting more."""

    def __init__(self, memory=0.8):
        """`memory` is the weight of the past, from 0 (the last rest alone) to 1 (nothing is ever learnt)."""
        self.memory = memory
        self.mean_ms = 0.0

    def timeout_ms(self, prices):
        """Zero, or as long as being idle costs less than a start-up."""
        return 0.0 if self.mean_ms > prices.break_even_ms else prices.break_even_ms

    def learn(self, length_ms, timeout_ms, prices):
        """A rest is over."""
        self.mean_ms = self.memory * self.mean_ms + (1 - self.memory) * length_ms
