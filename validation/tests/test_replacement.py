"""Replacement policies compared with those of libCacheSim, on traces of applications."""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import sledlab as sl

libcachesim = pytest.importorskip("libcachesim", reason="libCacheSim has no package for this system")
cache_module = pytest.importorskip("libcachesim.cache")

SAMPLES = Path(__file__).parents[2] / "sample" / "traces"
TRACES = [
    *(pytest.param(name, marks=pytest.mark.slow("a second trace")) for name in ("kv-a", "mail-a")),
    "oltp-bank-a",
]
SEGMENT_KB = 64
ROOMS = (100, 1000, 5000)
LIBCACHESIM_POLICIES = {
    "lru": libcachesim.LRU,
    "fifo": libcachesim.FIFO,
    "arc": libcachesim.ARC,
    "sieve": libcachesim.Sieve,
}


@cache
def trace(name: str) -> sl.Trace:
    return sl.read_trace(SAMPLES / f"{name}.csv.zst")


@cache
def segment_uses(name: str) -> npt.NDArray[np.int64]:
    """Segments in the order in which they are used."""
    frame = trace(name).frame()
    frame = frame.filter(frame["op"].is_in(["R", "W"]) & (frame["length_bytes"] > 0))
    offsets, lengths = (
        frame[column].to_numpy().astype(np.int64) for column in ("offset_bytes", "length_bytes")
    )
    segment_bytes = SEGMENT_KB * 1024
    pairs = zip(offsets // segment_bytes, (offsets + lengths - 1) // segment_bytes, strict=True)
    return np.concatenate([np.arange(begin, end + 1) for begin, end in pairs])


def hits_by_policy(name: str, *policies: str, rooms: tuple[int, ...] = ROOMS) -> dict[tuple[str, int], int]:
    sizes_mb = [room * SEGMENT_KB * 1024 / 1e6 + 1e-6 for room in rooms]
    result = sl.hit_ratios(trace(name), replacement=policies, cache_mb=sizes_mb, segment_kb=SEGMENT_KB)
    rows = result.frame.to_dicts()
    assert {row["uses"] for row in rows} == {len(segment_uses(name))}
    return {(row["policy"], row["room"]): round(row["hit_ratio"] * row["uses"]) for row in rows}


def libcachesim_hits(cache, name: str) -> int:
    request = libcachesim.Request()
    request.obj_size = 1
    count = 0
    for key in segment_uses(name).tolist():
        request.obj_id = key
        count += cache.get(request)
    return count


@pytest.mark.parametrize("name", TRACES)
def test_hits_equal_those_of_libcachesim(name):
    counts = hits_by_policy(name, *LIBCACHESIM_POLICIES)
    for (policy, room), count in counts.items():
        assert count == libcachesim_hits(LIBCACHESIM_POLICIES[policy](room, hashpower=20), name), (
            policy,
            room,
        )


@pytest.mark.parametrize("name", TRACES)
def test_slru_differs_only_while_the_cache_fills(name):
    for (_, room), count in hits_by_policy(name, "slru").items():
        # Until it is full, what is used once goes there among what was used again.
        parameters = cache_module._create_common_params(room, 86_400 * 300, 20, False, None)
        reference_hits = libcachesim_hits(
            cache_module.CacheBase(_cache=cache_module.SLRU_init(parameters, "n-seg=2")), name
        )
        assert count == pytest.approx(reference_hits, rel=1e-3)


@pytest.mark.parametrize("name", TRACES)
def test_no_policy_has_more_hits_than_belady(name):
    counts = hits_by_policy(name, *sl.replacement, rooms=(1000,))
    assert len(counts) == len(list(sl.replacement))
    assert max(counts, key=counts.__getitem__) == ("belady", 1000)
    # Shifting popularity tells them apart.
    assert len(set(counts.values())) >= 8
