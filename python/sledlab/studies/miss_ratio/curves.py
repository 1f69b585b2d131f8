"""Miss-ratio curves of replacement policies: exact, or from spatial samples of a long trace."""

from __future__ import annotations

from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.model.ranges import is_number
from sledlab.results import list_in_manifest, prepare_directory, record_digests
from sledlab.studies.miss_ratio.result import KIND, OUTPUT_FILES, CurvePoint, MissRatioCurves
from sledlab.studies.miss_ratio.sampling import LRU, default_share, estimated_ratios, exact_ratios, share_for
from sledlab.traces.hits import SegmentedTrace, replacement_policies
from sledlab.traces.read import as_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.model.catalog import ModelChoice
    from sledlab.runs.compose import Device
    from sledlab.traces.read import Trace

responses = later("sledlab.studies.miss_ratio.responses")

SIZES = 40
"""Number of sizes of a curve."""

SMALLEST_SHARE = 0.001
"""The smallest size, as a share of the segments that the trace uses; the largest holds all of them."""

SEGMENT_KB = 8.0
"""Size of a segment by default, in 1024 bytes: the line of a cache."""


def miss_ratio_curves(
    trace: Trace | str | Path | Any,
    *,
    replacement: str | ModelChoice | Sequence[str | ModelChoice] = "all",
    cache_mb: float | Sequence[float] | None = None,
    segment_kb: float = SEGMENT_KB,
    admit: str = "all",
    sample: float | None = None,
    seed: int = 1,
    device: Device | None = None,
    out: str | Path | None = None,
    replace: bool = False,
) -> MissRatioCurves:
    """Compute the miss ratios of caches of many sizes, and what the hits are worth in front of a device.

    Uses are counted as in `hit_ratios`. Misses of `lru` are exact at all sizes, by stack distances in one
    pass of the trace. Other policies are simulated: on the whole trace if it has at most 400,000 uses,
    otherwise on a spatial sample of its segments (SHARDS), with an error for each size.

    Args:
        trace: A trace (`read_trace`, `trace`, a path, a table).
        replacement: Replacement policies, `name` or `name:key=value`, or `all` that sledlab has.
        cache_mb: Sizes of the cache, in 10^6 bytes; by default 40 sizes on a logarithmic scale, from 0.1 % of
            the segments used to all of them.
        segment_kb: Size of a segment, in 1024 bytes; a multiple of half a KB.
        admit: Requests whose segments enter the cache: `all`, or `writes`, for which `belady` is no bound.
        sample: Share of the segments that is sampled, above 0; 1 for all, without error.
        seed: Seed of the choice of segments and of the policy `random`.
        device: A device behind the cache, on which caches of some of the sizes are simulated: with the
            policies named in `replacement`, or with `lru` and the policy with the fewest misses. A segment is
            a line of the cache then, of at most 32 KB.
        out: Directory for tables and report.
        replace: Whether to delete existing sledlab results in that directory first.

    Raises:
        Error: A policy or parameter does not exist, a cache is smaller than a segment, the trace or the
            device is wrong, or a run failed.

    Examples:
        >>> import sledlab as sl
        >>> columns = {"time_us": [0, 5, 9], "op": ["R", "W", "R"], "offset_bytes": [0, 65536, 0]}
        >>> curves = sl.miss_ratio_curves(sl.trace({**columns, "length_bytes": [512] * 3}), replacement="lru")
        >>> curves.curves["miss_ratio"].round(2).to_list()
        [1.0, 0.67]
    """
    if sample is not None and (not is_number(sample) or not 0 < sample <= 1):
        raise Error(f"`{sample!s:.60}` is not a share of segments", remedy="give a number above 0, at most 1")
    opened_trace = as_trace(trace)
    policies = replacement_policies(replacement, admit)
    if device is not None and admit != "all":
        raise Error(
            "a device behind a cache which only writes enter is not simulated here",
            remedy="omit the device, or simulate a hybrid with a write buffer (`sledlab hybrid`)",
        )
    behind = None if device is None else responses.DeviceBehind.of(opened_trace, device, segment_kb)
    directory = prepare_directory(out, KIND, replace=replace)
    uses = SegmentedTrace.read(opened_trace, segment_kb, admit)
    shares = [SMALLEST_SHARE ** (1 - step / (SIZES - 1)) for step in range(SIZES)] if uses.segments else []
    sizes = uses.cache_sizes(cache_mb, [share * uses.segments for share in shares])
    share = default_share(uses.native.count) if sample is None else float(sample)
    points, sampled_share = _points(uses, policies, sizes, share, seed)
    curves = MissRatioCurves(
        opened_trace.name,
        uses.segment_kb,
        uses.segments,
        uses.native.count,
        sampled_share,
        tuple(points),
        admit=admit,
    )
    if behind is not None:
        named_policies = () if replacement == "all" else policies
        simulated = behind.simulate(sizes, named_policies or responses.default_policies(curves), seed)
        curves = with_changes(curves, device=behind.name, simulated=tuple(simulated))
    if directory is not None:
        list_in_manifest(directory, KIND, OUTPUT_FILES)
        curves.write(directory)
        record_digests(directory)
    return curves


def _points(
    uses: SegmentedTrace, policies: Sequence[str], sizes: Sequence[tuple[float, int]], share: float, seed: int
) -> tuple[list[CurvePoint], float]:
    """Return the misses of all policies at all sizes, and the smallest share of the segments sampled."""
    rooms_by_share: dict[float, list[int]] = {}
    for _, room in sizes:
        rooms_by_share.setdefault(share_for(room, share), []).append(room)
    exact_rooms = dict.fromkeys(rooms_by_share.pop(1.0, []))
    others = [policy for policy in policies if policy != LRU]
    caches = [(LRU, room) for _, room in sizes] + [
        (policy, room) for policy in others for room in exact_rooms
    ]
    ratios = {cache: (each, 0.0) for cache, each in exact_ratios(uses, caches, policies).items()}
    for each_share, rooms in rooms_by_share.items() if others else ():
        lru_by_room = {room: ratios[LRU, room][0] for room in rooms}
        ratios |= estimated_ratios(uses, others, lru_by_room, each_share, seed, policies)
    points = [
        CurvePoint(policy, round(mb * 1e6), room, error=ratios[policy, room][1], **ratios[policy, room][0])
        for policy in policies
        for mb, room in sizes
    ]
    return points, min(rooms_by_share, default=1.0) if others else 1.0
