"""How often a cache would hold what a workload uses, by replacement policy and size (MT-10)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.catalogue import replacement
from sledlab.errors import Error
from sledlab.swept import models, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars

    from sledlab.catalogue import Chosen
    from sledlab.traces import Trace

BLOCK_BYTES = 512
POLICIES = ("lru", "slru", "arc", "lfuda", "acme", "fifo", "random", "belady")
"""Compared unless others are named."""
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Sizes unless they are said, as shares of what the workload touches."""


@dataclass(frozen=True)
class HitRatios:
    """Hits of caches.

    Attributes:
        segment_kb: Size of what the caches hold together and drop together, in 1024 bytes.
        segments: Different segments that the workload uses.
        frame: One row per cache: `policy`, `cache_mb` (10^6 bytes), `room` (segments), `uses`, `hit_ratio`,
            and `read_hit_ratio` and `write_hit_ratio`, NaN where there are no reads or writes.
    """

    segment_kb: float
    segments: int
    frame: polars.DataFrame

    @property
    def footprint_mb(self) -> float:
        """What the workload touches, in 10^6 bytes."""
        return self.segments * self.segment_kb * 1024 / 1e6


def hit_ratios(
    trace: Trace,
    *,
    policies: str | Chosen | Sequence[str | Chosen] = POLICIES,
    cache_mb: float | Sequence[float] | None = None,
    segment_kb: float = 64.0,
) -> HitRatios:
    """Replays the addresses of a trace on caches of segments.

    A request uses every segment that it touches once, reads and writes alike; what is not there is taken in.
    Trims and flushes use nothing. The future that `belady` must know is the rest of the trace.

    Args:
        trace: The trace.
        policies: Replacement policies, `name` or `name:key=value`, or `all`.
        cache_mb: Sizes, in 10^6 bytes; by default from 1 % to half of what the workload touches.
        segment_kb: Size of a segment, in 1024 bytes; a multiple of half a KB.

    Raises:
        Error: A policy or parameter that does not exist, a cache smaller than a segment, or a trace that is
            wrong somewhere.

    Example:
        >>> import sledlab as sl
        >>> columns = {"time_us": [0, 5, 9], "op": ["R", "W", "R"], "offset_bytes": [0, 65536, 0]}
        >>> found = sl.hit_ratios(sl.trace({**columns, "length_bytes": [512] * 3}), cache_mb=[0.07, 0.14])
        >>> found.frame.filter(policy="lru")["hit_ratio"].round(2).to_list()
        [0.0, 0.33]
    """
    import polars

    segment_bytes = segment_kb * 1024
    if segment_bytes < BLOCK_BYTES or segment_bytes % BLOCK_BYTES:
        raise Error(f"a segment of {segment_kb:g} KB is not a whole number of blocks of 512 bytes")
    words = models("replacement", "policies", policies, replacement)
    for word in words:
        _native.check_replacement(word)
    uses = _native.SegmentUses(trace.open(), int(segment_bytes // BLOCK_BYTES))
    sizes = _rooms(cache_mb, segment_bytes, uses.segments)
    caches = [(word, room) for word in words for _, room in sizes]
    columns: dict[str, list[object]] = {name: [] for name in _COLUMNS}
    for (word, room), (mb, _), hits in zip(
        caches, sizes * len(words), json.loads(uses.hits(caches)), strict=True
    ):
        reads, writes = (hits["reads"], hits["read_hits"]), (hits["writes"], hits["write_hits"])
        both = (reads[0] + writes[0], reads[1] + writes[1])
        row = (word, mb, room, both[0], *(_ratio(*counts) for counts in (both, reads, writes)))
        for name, value in zip(_COLUMNS, row, strict=True):
            columns[name].append(value)
    return HitRatios(segment_kb, uses.segments, polars.DataFrame(columns))


_COLUMNS = ("policy", "cache_mb", "room", "uses", "hit_ratio", "read_hit_ratio", "write_hit_ratio")


def _ratio(uses: int, hits: int) -> float:
    return hits / uses if uses else float("nan")


def _rooms(
    cache_mb: float | Sequence[float] | None, segment_bytes: float, segments: int
) -> list[tuple[float, int]]:
    """Sizes in MB, and how many segments each holds."""
    if cache_mb is None:
        rooms = sorted({max(1, round(share * segments)) for share in SHARES})
        return [(room * segment_bytes / 1e6, room) for room in rooms]
    sizes = numbers("cache size", cache_mb, above=True)
    if sizes[0] * 1e6 < segment_bytes:
        raise Error(
            f"a cache of {sizes[0]:g} MB is smaller than a segment of {segment_bytes / 1024:g} KB",
            remedy="make the cache larger, or the segments smaller",
        )
    return [(mb, int(mb * 1e6 // segment_bytes)) for mb in sizes]
