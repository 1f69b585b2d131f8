"""A power policy in Python: park immediately if idle periods are long, else after the break-even time.

Run it from the directory of this file:

    sledlab simulate --device mems-g2 --workload uniform --limit 20000 --power mean_idle_period:MeanIdlePeriod
"""

from __future__ import annotations


class MeanIdlePeriod:
    """Predict the length of the next idle period as the mean of previous ones, weighted by recency."""

    def __init__(self, memory=0.8):
        """Create the policy; `memory` weights old periods, from 0 (only the last) to 1 (no learning)."""
        self.memory = memory
        self.mean_ms = 0.0

    def timeout_ms(self, prices):
        """Return the idle timeout: zero, or the break-even time."""
        return 0.0 if self.mean_ms > prices.break_even_ms else prices.break_even_ms

    def learn(self, length_ms, timeout_ms, prices):
        """Update the mean when an idle period has ended."""
        self.mean_ms = self.memory * self.mean_ms + (1 - self.memory) * length_ms
