"""A loop of tape, a device in Python: blocks behind the head take nearly a whole turn to reach it.

Run it from the directory of this file:

    sledlab simulate --device tape:Tape --workload uniform --limit 1000 --replay closed:16 --scheduler sptf
"""

from __future__ import annotations


class Tape:
    """Consecutive blocks on a loop that always moves; the state is the block under the head."""

    active_mw = 900.0
    idle_mw = 150.0

    def __init__(self, capacity_mb: int = 64, turn_ms: float = 200.0) -> None:
        """Set the capacity and the time of a turn: keys of `[device]`."""
        self.capacity_blocks = capacity_mb * 1_000_000 // 512
        self.block_ms = turn_ms / self.capacity_blocks

    def serve(self, state, lbn, blocks, is_write):
        """Return the positioning time to the first block, the transfer time, and the state at the end."""
        way = (lbn - state) % self.capacity_blocks
        return {
            "positioning_ms": way * self.block_ms,
            "transfer_ms": blocks * self.block_ms,
            "state": (lbn + blocks) % self.capacity_blocks,
        }
