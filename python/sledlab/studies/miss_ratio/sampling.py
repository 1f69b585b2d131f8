"""Miss ratios of caches, exact or estimated from a spatial sample.

A spatial sample has all uses of the segments whose hash is below a limit (SHARDS: Waldspurger et al. 2015,
FAST), and a cache is simulated on it with the same share of its segments (Waldspurger et al. 2017, USENIX
ATC). The share is that of the different segments in the sample, so that a sample with more segments than
expected has larger caches.

Of LRU the exact miss ratio is known, so the error of the sample is known for LRU, and corrects other policies
as far as their errors depend on that of LRU: LRU is a control variate. Dependence and error come from
disjoint parts of the sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.traces.hits import SegmentedTrace

    Ratios = Mapping[str, float | None]

LRU = "lru"

MISS_RATIO = "miss_ratio"
"""The ratio that has an error: misses of all uses."""

PARTS = 8
"""Number of disjoint parts of a sample."""

T_995 = 3.707
"""Value of Student's t below which 99.5 % lie, for 6 degrees of freedom: parts less mean and dependence."""

RESOLUTION = 0.001
"""Error of a miss ratio that the parts cannot show, such as that of rounded capacities."""

MIN_ROOM = 64
"""Smallest capacity of a cache in a sample, in segments: smaller caches behave differently."""

SAMPLED_USES = 200_000
"""Number of uses in a sample by default."""


def exact_ratios(
    uses: SegmentedTrace, caches: Sequence[tuple[str, int]], plugins: Sequence[str]
) -> dict[tuple[str, int], dict[str, float | None]]:
    """Return the ratios of each cache, given as policy and capacity in segments."""
    counts_by_cache = uses.hits(caches, plugins, counts_destages=True)
    return {
        cache: _ratios(counts, counts, 1.0) for cache, counts in zip(caches, counts_by_cache, strict=True)
    }


def _ratios(
    counts: Mapping[str, Any], whole_counts: Mapping[str, Any], share: float
) -> dict[str, float | None]:
    """Return misses over the uses that are expected in a share of the trace, by the names of columns.

    Few segments have many uses, nearly all of them hits. So how often the segments of a sample are used says
    little about misses, and is not used (SHARDS-adj counts the difference as hits).
    """
    kinds = {"": ("reads", "writes"), "read_": ("reads",), "write_": ("writes",)}
    units = {
        "": ("uses", "hits"),
        "byte_": ("blocks", "block_hits"),
        "request_": ("requests", "request_hits"),
    }

    def miss_ratio(names: Sequence[str], total: str, hits: str) -> float | None:
        misses = sum(counts[name][total] - counts[name][hits] for name in names)
        expected = share * sum(whole_counts[name][total] for name in names)
        return misses / expected if expected else None

    ratios = {
        f"{kind}{unit}{MISS_RATIO}": miss_ratio(names, *totals)
        for unit, totals in units.items()
        for kind, names in kinds.items()
    }
    written = share * whole_counts["writes"]["uses"]
    return {**ratios, "destage_ratio": counts["destages"] / written if written else None}


def default_share(uses: int) -> float:
    """Return the share of the segments that is sampled by default; 1 for few uses.

    Examples:
        >>> default_share(400_000), default_share(20_000_000)
        (1.0, 0.01)
    """
    return SAMPLED_USES / uses if uses > 2 * SAMPLED_USES else 1.0


def share_for(room: int, share: float) -> float:
    """Return the share to sample for a cache of `room` segments: doubled while it is small; 1 above a half.

    Examples:
        >>> share_for(100_000, 0.001), share_for(20_000, 0.001), share_for(100, 0.001)
        (0.001, 0.004, 1.0)
    """
    while room * share < MIN_ROOM and share < 0.5:
        share *= 2
    return share if share < 0.5 else 1.0


def estimated_ratios(
    uses: SegmentedTrace,
    policies: Sequence[str],
    lru_by_room: Mapping[int, Ratios],
    share: float,
    seed: int,
    plugins: Sequence[str],
) -> dict[tuple[str, int], tuple[dict[str, float | None], float]]:
    """Return estimated ratios of caches, by policy and capacity in segments, and errors of the miss ratios.

    Args:
        uses: All uses.
        policies: The policies.
        lru_by_room: The exact ratios of LRU by capacity in segments, for all capacities.
        share: Share of the segments in the sample, below 1.
        seed: Seed of the choice of segments.
        plugins: Policies that may run.
    """
    whole_counts = uses.hits([(LRU, 1)], plugins)[0]
    ratios_by_sample = []
    for sample in (*uses.samples(1, share, seed), *uses.samples(PARTS, share / PARTS, seed)):
        sampled_share = sample.segments / uses.segments
        rooms = {room: max(1, round(room * sampled_share)) for room in lru_by_room}
        caches = [(policy, room) for policy in (LRU, *policies) for room in dict.fromkeys(rooms.values())]
        counts_by_cache = dict(zip(caches, sample.hits(caches, plugins, counts_destages=True), strict=True))
        ratios_by_sample.append(
            {
                (policy, room): _ratios(counts_by_cache[policy, rooms[room]], whole_counts, sampled_share)
                for policy in (LRU, *policies)
                for room in rooms
            }
        )
    estimates = {}
    for room, lru in lru_by_room.items():
        for policy in policies:
            pairs = [(ratios[policy, room], ratios[LRU, room]) for ratios in ratios_by_sample]
            by_name = {name: _estimate(name, pairs, lru) for name in lru}
            values = {name: value for name, (value, _) in by_name.items()}
            estimates[policy, room] = (values, by_name[MISS_RATIO][1])
    return estimates


def _estimate(name: str, pairs: Sequence[tuple[Ratios, Ratios]], lru: Ratios) -> tuple[float | None, float]:
    """Return the estimate of a ratio of a policy, and its error.

    Args:
        name: Name of the ratio.
        pairs: The ratios of the policy and of LRU in the sample, then in each of its parts.
        lru: The exact ratios of LRU.
    """
    exact = lru[name]
    # A sample has only some segments of a request.
    if exact is None or "request" in name:
        return None, 0.0
    whole, *parts = ((policy[name] or 0.0, (of_lru[name] or 0.0) - exact) for policy, of_lru in pairs)
    count = len(parts)
    center = math.fsum(value for value, _ in parts) / count
    lru_center = math.fsum(error for _, error in parts) / count
    variance = math.fsum((error - lru_center) ** 2 for _, error in parts)
    covariance = math.fsum((value - center) * (error - lru_center) for value, error in parts)
    dependence = min(max(covariance / variance, 0.0), 1.0) if variance else 0.0
    corrected = [value - dependence * error for value, error in parts]
    center = math.fsum(corrected) / count
    deviation = math.sqrt(math.fsum((value - center) ** 2 for value in corrected) / (count - 2))
    # The farther LRU is off, the more an error of the dependence counts.
    leverage = 1 / count + (whole[1] ** 2 / variance if variance else 0.0)
    estimate = whole[0] - dependence * whole[1]
    # Caches in parts are smaller than in the sample: how far they differ shows the bias of small caches.
    error = T_995 * deviation * math.sqrt(leverage) + 2 * abs(center - estimate) + RESOLUTION
    return min(max(estimate, 0.0), 1.0), min(error, 1.0)
