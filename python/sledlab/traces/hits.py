"""Hit ratios of a trace in caches of segments, by replacement policy and cache size."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error, unknown
from sledlab.lazy import polars
from sledlab.model.catalog import replacement as all_policies
from sledlab.model.choices import models, numbers
from sledlab.traces.columns import BLOCK_BYTES
from sledlab.traces.read import as_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sledlab.model.catalog import ModelChoice
    from sledlab.traces.read import Trace

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Default sizes of the cache, as shares of the segments that the workload uses."""

BELADY = "belady"
"""The replacement policy that knows the future, and that no device can have."""

ADMISSIONS = ("all", "writes")
"""Requests whose segments enter the cache."""


@dataclass(frozen=True)
class CacheHits:
    """Hits of one cache.

    Attributes:
        policy: Its replacement policy, with the parameters that were set.
        cache_mb: Its size, in 10^6 bytes.
        room: Number of segments that the cache holds when full.
        uses: Number of uses of segments by requests.
        hit_ratio: Share of uses that were hits, 0 to 1; None without uses.
        read_hit_ratio: Share of uses by reads that were hits; None without reads.
        write_hit_ratio: Share of uses by writes that were hits; None without writes.
    """

    policy: str
    cache_mb: float
    room: int
    uses: int
    hit_ratio: float | None
    read_hit_ratio: float | None
    write_hit_ratio: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class HitRatios:
    """Hit ratios of a trace by replacement policy and size of the cache.

    Attributes:
        segment_kb: Size of a segment, which caches load and evict as a whole, in 1024 bytes.
        segments: Number of different segments that the workload uses.
        rows: Hits of each cache, in order of policies, then of sizes.
        admit: The requests whose segments enter the cache, `all` or `writes`.

    Examples:
        >>> hits = CacheHits("lru", 16.0, 244, 1000, 0.7, 0.8, 0.6)
        >>> HitRatios(64.0, 2000, (hits,)).footprint_mb
        131.072
    """

    segment_kb: float
    segments: int
    rows: tuple[CacheHits, ...]
    admit: str = "all"

    @cached_property
    def frame(self) -> polars.DataFrame:
        """A row per cache, a column for each attribute of `CacheHits`."""
        # A column of nulls has no type of its own.
        types_by_column = dict.fromkeys(("hit_ratio", "read_hit_ratio", "write_hit_ratio"), polars.Float64)
        return polars.DataFrame([asdict(row) for row in self.rows], schema_overrides=types_by_column)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        hits = [row.to_dict() for row in self.rows]
        return {
            "segment_kb": self.segment_kb,
            "segments": self.segments,
            "admit": self.admit,
            "hits": hits,
        }

    @property
    def footprint_mb(self) -> float:
        """Size of all different segments that the workload uses, in 10^6 bytes."""
        return self.segments * self.segment_kb * 1024 / 1e6


def hit_ratios(
    trace: Trace | str | Path | Any,
    *,
    replacement: str | ModelChoice | Sequence[str | ModelChoice] = "all",
    cache_mb: float | Sequence[float] | None = None,
    segment_kb: float = 64.0,
    admit: str = "all",
) -> HitRatios:
    """Replay the addresses of a trace on caches of segments, and count hits.

    A request uses every segment that it touches once, be it a read or a write; a segment that misses is
    inserted, and a full cache evicts another one for it. Trims and flushes use no segment. `belady`, which
    must know the future, is given the rest of the trace.

    With `admit="writes"` only writes use the cache, as a write buffer: reads hit in it, but they neither
    insert a segment nor delay its eviction.

    Args:
        trace: A trace (`read_trace`, `trace`, a path, a table).
        replacement: Replacement policies, `name` or `name:key=value`, or `all` that sledlab has.
        cache_mb: Sizes of the cache, in 10^6 bytes; by default 1 % to 50 % of the segments used.
        segment_kb: Size of a segment, in 1024 bytes; a multiple of half a KB.
        admit: Requests whose segments enter the cache: `all`, or `writes`, for which `belady` is no bound.

    Raises:
        Error: A policy or parameter does not exist, a cache is smaller than a segment, or the trace is wrong
            somewhere.

    Examples:
        >>> import sledlab as sl
        >>> columns = {"time_us": [0, 5, 9], "op": ["R", "W", "R"], "offset_bytes": [0, 65536, 0]}
        >>> ratios = sl.hit_ratios(sl.trace({**columns, "length_bytes": [512] * 3}), cache_mb=[0.07, 0.14])
        >>> ratios.frame.filter(policy="lru")["hit_ratio"].round(2).to_list()
        [0.0, 0.33]
    """
    policies = replacement_policies(replacement, admit)
    uses = SegmentedTrace.read(trace, segment_kb, admit)
    caches = [
        (policy, mb, room)
        for policy in policies
        for mb, room in uses.cache_sizes(cache_mb, [share * uses.segments for share in SHARES])
    ]
    counts_by_cache = uses.hits([(policy, room) for policy, _, room in caches], policies)
    rows = (_cache_hits(*cache, counts) for cache, counts in zip(caches, counts_by_cache, strict=True))
    return HitRatios(uses.segment_kb, uses.segments, tuple(rows), admit)


def replacement_names() -> list[str]:
    """Return the names of all replacement policies, without the one that knows the future."""
    return [name for name in all_policies if name != BELADY]


def replacement_policies(
    replacement: str | ModelChoice | Sequence[str | ModelChoice], admit: str = "all"
) -> tuple[str, ...]:
    """Return replacement policies as words, each once.

    Raises:
        Error: A policy, parameter or admission does not exist, or the policy is none for this admission.
    """
    if admit not in ADMISSIONS:
        raise unknown("admission", admit, ADMISSIONS)
    policies = models("replacement", replacement, None if admit == "all" else replacement_names)
    for policy in policies:
        _native.check_replacement(policy, policies)
    return policies


@dataclass(frozen=True)
class SegmentedTrace:
    """The uses of segments by a trace, or by a sample of its segments.

    Attributes:
        segment_kb: Size of a segment, in 1024 bytes.
        native: The uses.
    """

    segment_kb: float
    native: _native.SegmentUses

    @classmethod
    def read(cls, trace: Trace | str | Path | Any, segment_kb: float, admit: str = "all") -> SegmentedTrace:
        """Read a trace to its end, for caches into which some of `ADMISSIONS` enter.

        Raises:
            Error: The segment is no whole number of blocks, or the trace is wrong somewhere.
        """
        (segment_kb,) = numbers("segment size", segment_kb, above=True)
        segment_bytes = segment_kb * 1024
        if segment_bytes < BLOCK_BYTES or segment_bytes % BLOCK_BYTES:
            raise Error(f"a segment of {segment_kb:g} KB is not a whole number of blocks of 512 bytes")
        source = as_trace(trace).open()
        return cls(segment_kb, _native.SegmentUses(source, int(segment_bytes // BLOCK_BYTES), admit == "all"))

    @property
    def segments(self) -> int:
        """Number of different segments."""
        return self.native.segments

    def hits(
        self, caches: Sequence[tuple[str, int]], plugins: Sequence[str], *, counts_destages: bool = False
    ) -> list[dict[str, Any]]:
        """Return uses and hits of caches, given as policy and capacity in segments."""
        hits: list[dict[str, Any]] = json.loads(self.native.hits(caches, plugins, counts_destages))
        return hits

    def samples(self, count: int, rate: float, seed: int) -> list[SegmentedTrace]:
        """Return samples of the segments with all their uses, each with the share `rate` of all segments."""
        return [SegmentedTrace(self.segment_kb, each) for each in self.native.samples(count, rate, seed)]

    def cache_sizes(
        self, cache_mb: float | Sequence[float] | None, default_rooms: Iterable[float]
    ) -> list[tuple[float, int]]:
        """Return sizes of a cache in 10^6 bytes, ascending, each with the number of segments that it holds.

        Args:
            cache_mb: The sizes; None for those of `default_rooms`.
            default_rooms: Numbers of segments, which are rounded.

        Raises:
            Error: A cache is smaller than a segment.
        """
        segment_bytes = self.segment_kb * 1024
        if cache_mb is None:
            rooms = sorted({max(1, round(room)) for room in default_rooms})
            return [(room * segment_bytes / 1e6, room) for room in rooms]
        sizes = numbers("cache size", cache_mb, above=True)
        rooms = [round(mb * 1e6) // round(segment_bytes) for mb in sizes]
        if not rooms[0]:
            raise Error(
                f"a cache of {sizes[0]:g} MB is smaller than a segment of {self.segment_kb:g} KB",
                remedy="make the cache larger, or the segments smaller",
            )
        return [*zip(sizes, rooms, strict=True)]


def _cache_hits(policy: str, mb: float, room: int, counts: Mapping[str, Any]) -> CacheHits:
    reads, writes = ((counts[kind]["uses"], counts[kind]["hits"]) for kind in ("reads", "writes"))
    uses = reads[0] + writes[0]
    ratios = ((uses, reads[1] + writes[1]), reads, writes)
    return CacheHits(policy, mb, room, uses, *(hits / total if total else None for total, hits in ratios))
