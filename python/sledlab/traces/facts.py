"""The characteristics of a trace in a few numbers: rate, reads, sizes, footprint, sequentiality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.errors import Error

if TYPE_CHECKING:
    from sledlab.traces.read import Trace


@dataclass(frozen=True)
class TraceFacts:
    """The characteristics of the reads and writes of a trace.

    Attributes:
        requests: Number of reads and writes.
        rate_per_s: Requests per second, before any speed-up.
        read_share: Share of requests that are reads, 0 to 1.
        mean_kb: Mean size of a request, in 1024 bytes.
        footprint_mb: Size of all different blocks that requests touch, in 2^20 bytes.
        sequential_share: Share of requests that begin where the request before ended, 0 to 1.
        end_block: The first block after all that requests touch.
    """

    requests: int
    rate_per_s: float
    read_share: float
    mean_kb: float
    footprint_mb: float
    sequential_share: float
    end_block: int

    @classmethod
    def from_trace(cls, trace: Trace) -> TraceFacts:
        """The characteristics of a trace, which is read once.

        Raises:
            Error: The trace is wrong somewhere, or holds no reads and writes.
        """
        info = trace.info()
        count = info["reads"] + info["writes"]
        if count == 0:
            raise Error(f"`{trace.name}` holds no reads and no writes", remedy="choose another trace")
        return cls(
            requests=count,
            rate_per_s=float(info["rate_per_s"] or 0.0),
            read_share=float(info["read_share"]),
            mean_kb=float(info["sizes"]["all"]["mean_kb"]),
            footprint_mb=info["working_set"]["all_512_bytes"] / 2**20,
            sequential_share=float(info["sequentiality"]["one_stream_share"]),
            end_block=int(info["end_block"]),
        )
