"""What the requests of a trace are like, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.errors import Error

if TYPE_CHECKING:
    from sledlab.traces.read import Trace


@dataclass(frozen=True)
class TraceFacts:
    """What requests are like.

    Attributes:
        requests: Reads and writes.
        rate_per_s: Of them, before any speed-up.
        read_share: Of them.
        mean_kb: Mean size, in 1024 bytes.
        footprint_mb: What they touch, in 2^20 bytes.
        sequential_share: Those that begin where the one before ended.
        end_block: The first block that none of them reaches.
    """

    requests: int
    rate_per_s: float
    read_share: float
    mean_kb: float
    footprint_mb: float
    sequential_share: float
    end_block: int

    @classmethod
    def of(cls, trace: Trace) -> TraceFacts:
        """Reads a trace.

        Raises:
            Error: It is wrong somewhere, or holds no reads and writes.
        """
        found = trace.info()
        count = found["reads"] + found["writes"]
        if count == 0:
            raise Error(f"`{trace.name}` holds no reads and no writes", remedy="choose another trace")
        return cls(
            requests=count,
            rate_per_s=float(found["rate_per_s"] or 0.0),
            read_share=float(found["read_share"]),
            mean_kb=float(found["sizes"]["all"]["mean_kb"]),
            footprint_mb=found["working_set"]["all_512_bytes"] / 2**20,
            sequential_share=float(found["sequentiality"]["one_stream_share"]),
            end_block=int(found["end_block"]),
        )
