"""A power policy in Python: park at once while rests are long on average, else after the break-even time.

Run it from the directory of this file:

    sledlab simulate --device mems-g2 --workload uniform --limit 20000 --power average_rest:AverageRest
"""

from __future__ import annotations


class AverageRest:
    """Predicts the next rest as the mean of former rests, recent ones weighing more."""

    def __init__(self, memory=0.8):
        """`memory` is the weight of former rests, from 0 (the last rest alone) to 1 (nothing is learnt)."""
        self.memory = memory
        self.mean_ms = 0.0

    def timeout_ms(self, prices):
        """The idle timeout: zero, or the time whose idle energy equals that of a start-up."""
        return 0.0 if self.mean_ms > prices.break_even_ms else prices.break_even_ms

    def learn(self, length_ms, timeout_ms, prices):
        """Called when a rest has ended: updates the mean."""
        self.mean_ms = self.memory * self.mean_ms + (1 - self.memory) * length_ms
