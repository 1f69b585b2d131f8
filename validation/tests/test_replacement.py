"""Replacement policies compared with those of libCacheSim, on traces of applications.

Where libCacheSim departs from the paper of a policy, a subclass of the oracle of that policy has the same
departure, and the same hits as libCacheSim: nothing else differs.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
import sledlab as sl

from tests.oracles.policies import POLICIES, Lirs, S3Fifo, Slru, WTinyLfu, belady_hits, count_hits

libcachesim = pytest.importorskip("libcachesim", reason="libCacheSim has no package for this system")
cache_module = pytest.importorskip("libcachesim.cache")

SAMPLES = Path(__file__).parents[2] / "sample" / "traces"
NAMES = sorted(path.name.partition(".")[0] for path in SAMPLES.glob("*.csv.zst"))
QUICK = "oltp-bank-a"
TRACES = [
    QUICK,
    *(pytest.param(name, marks=pytest.mark.slow("more traces")) for name in NAMES if name != QUICK),
]
SEGMENT_KB = 64
ROOMS = (100, 400, 1000, 2500, 5000)
EQUAL_POLICIES = {
    "lru": libcachesim.LRU,
    "fifo": libcachesim.FIFO,
    "clock": libcachesim.Clock,
    "2q": libcachesim.TwoQ,
    "arc": libcachesim.ARC,
    "sieve": libcachesim.Sieve,
    "lfu": libcachesim.LFU,
}
FOUR_SEGMENTS = "slru:segments=4:protected_share=0.75"
OTHER_POLICIES = {
    "lirs": (libcachesim.LIRS, 0.0005, 0.0005),
    "s3-fifo": (libcachesim.S3FIFO, 0.02, 0.02),
    FOUR_SEGMENTS: (libcachesim.SLRU, 0.01, 0.01),
    "w-tinylfu": (libcachesim.WTinyLFU, 0.14, 0.04),
}
"""Policies in which libCacheSim departs from the paper, with the largest difference of hit ratios for
`ROOMS[0]` segments and for more."""


class FillingSlru(Slru):
    """Until the cache is full, a new key enters the first segment with space, not the segment of new keys."""

    def use(self, key: int) -> int | None:
        if key in self.cached or len(self.cached) == self.room:
            return super().use(key)
        rooms = [self.room - sum(self.rooms), *self.rooms]
        next(keys for keys, room in zip(self.segments, rooms, strict=True) if len(keys) < room).append(key)
        return None


class FillingS3Fifo(S3Fifo):
    """Until the cache is full, new keys enter the main queue once the small queue is full."""

    def queue_of(self, key: int) -> list[int]:
        is_filling = len(self.cached) < self.room and len(self.small) >= self.small_room
        return self.main if is_filling else super().queue_of(key)


class DemotingLirs(Lirs):
    """A hit of a key in the queue but not in the stack moves the LIR key at the bottom to the queue.

    The queue must have at least two keys: otherwise libCacheSim evicts the key that was hit, and counts its
    next use as a hit.
    """

    def use(self, key: int) -> int | None:
        if key not in self.queue or key in self.stack or len(self.lir) < self.max_lir:
            return super().use(key)
        self.queue = [*(other for other in self.queue if other != key), key, self.stack[0]][1:]
        self.lir.remove(self.stack.pop(0))
        self.prune()
        self.stack.append(key)
        return None


class FilteredWTinyLfu(WTinyLfu):
    """Uses are counted in a filter, and halved after 32 hits per place of the main cache.

    The main cache is filled and divided as an SLRU of libCacheSim.
    """

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self.room = room
        self.probation_room, self.protected_room = int(0.2 * self.main_room), int(0.8 * self.main_room)
        self.filter, self.hits = [0] * math.ceil(-math.log(0.001) / math.log(2) ** 2 * self.main_room), 0

    def use(self, key: int) -> int | None:
        """A hit in the window is not counted; a new key is counted once it is in the cache."""
        victim = None
        if key in self.window:
            self.window.remove(key)
            self.window.append(key)
        elif key in self.cached:
            victim = self.use_in_main(key)
            self.count(key)
            self.hits += 1
            if self.hits == 32 * self.main_room:
                self.filter, self.hits = [count // 2 for count in self.filter], 0
        else:
            while len(self.cached) == self.room:
                victim = self.leave_window(self.window.pop(0))
            self.window.append(key)
            self.count(key)
        return victim

    def use_in_main(self, key: int) -> int | None:
        """If the segments have fewer places than the main cache, a key that is demoted evicts another one."""
        (self.probation if key in self.probation else self.protected).remove(key)
        self.protected.append(key)
        if len(self.protected) <= self.protected_room:
            return None
        self.probation.append(self.protected.pop(0))
        return self.probation.pop(0) if len(self.probation) > self.probation_room else None

    def leave_window(self, candidate: int) -> int | None:
        """Until the main cache is full, keys enter the first segment with space. All are counted again."""
        if len(self.probation + self.protected) < self.main_room:
            segments = [(self.probation, self.probation_room), (self.protected, self.protected_room)]
            free = [segment for segment, room in segments if len(segment) < room]
            (free or [self.probation])[0].append(candidate)
            victim = None
        else:
            victim = (self.probation or self.protected)[0]
            if self.estimate(candidate) > self.estimate(victim):
                (self.probation or self.protected).pop(0)
                self.probation.append(candidate)
            else:
                victim = candidate
        self.count(candidate)
        return victim

    def count(self, key: int) -> None:
        for place in self.places(key):
            self.filter[place] += 1

    def estimate(self, key: int) -> int:
        return min(self.filter[place] for place in self.places(key))

    def places(self, key: int) -> list[int]:
        first, step = (xxh64(key, seed) % 2**32 for seed in (0x12345678, 0x12344321))
        return [(first + number * step) % 2**32 % len(self.filter) for number in range(10)]


@cache
def xxh64(number: int, seed: int) -> int:
    """XXH64 of a number of 64 bits."""
    primes = (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )

    def rotate(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) % 2**64

    word = rotate(number * primes[1] % 2**64, 31) * primes[0] % 2**64
    value = (rotate((seed + primes[4] + 8) % 2**64 ^ word, 27) * primes[0] + primes[3]) % 2**64
    value = (value ^ value >> 33) * primes[1] % 2**64
    value = (value ^ value >> 29) * primes[2] % 2**64
    return value ^ value >> 32


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


def libcachesim_hits(policy: Callable[..., Any], room: int, uses: Sequence[int]) -> int:
    policy_cache, request = policy(room, hashpower=18), libcachesim.Request()
    request.obj_size = 1
    count = 0
    for key in uses:
        request.obj_id = key
        count += policy_cache.get(request)
    return count


def two_segments(room: int, hashpower: int) -> Any:
    """libCacheSim's SLRU of two segments."""
    parameters = cache_module._create_common_params(room, 86_400 * 300, hashpower, False, None)
    return cache_module.CacheBase(_cache=cache_module.SLRU_init(parameters, "n-seg=2"))


@pytest.mark.parametrize("name", TRACES)
def test_hits_equal_those_of_libcachesim(name):
    uses = segment_uses(name).tolist()
    for (policy, room), count in hits_by_policy(name, *EQUAL_POLICIES).items():
        assert count == libcachesim_hits(EQUAL_POLICIES[policy], room, uses), (policy, room)


@pytest.mark.parametrize("name", TRACES)
def test_other_policies_differ_as_documented(name):
    uses = segment_uses(name).tolist()
    for (policy, room), count in hits_by_policy(name, *OTHER_POLICIES).items():
        reference, *max_differences = OTHER_POLICIES[policy]
        difference = (count - libcachesim_hits(reference, room, uses)) / len(uses)
        assert abs(difference) <= max_differences[room > ROOMS[0]], (policy, room)


@pytest.mark.parametrize("room", [200, 500])
@pytest.mark.parametrize(
    ("oracle", "reference"),
    [
        (lambda room: FillingSlru(room, [room // 2]), two_segments),
        (lambda room: FillingSlru(room, [room // 4] * 3), libcachesim.SLRU),
        (FillingS3Fifo, libcachesim.S3FIFO),
        (DemotingLirs, libcachesim.LIRS),
        (FilteredWTinyLfu, libcachesim.WTinyLFU),
    ],
    ids=["slru", "slru-4", "s3-fifo", "lirs", "w-tinylfu"],
)
def test_each_departure_explains_its_whole_difference(oracle, reference, room):
    uses = segment_uses(QUICK)[:10_000].tolist()
    assert count_hits(oracle(room), uses) == libcachesim_hits(reference, room, uses)


def test_w_tinylfu_of_libcachesim_halves_counts_after_hits():
    uses, room = segment_uses("kv-a")[:12_000].tolist(), 100
    oracle = FilteredWTinyLfu(room)
    hits = count_hits(oracle, uses)
    assert hits == libcachesim_hits(libcachesim.WTinyLFU, room, uses)
    assert 32 * oracle.main_room + oracle.hits <= hits, "hits began again from 0"


def test_libcachesim_reads_written_trace_and_its_future(tmp_path):
    requests = trace(QUICK).frame().filter(pl.col("op").is_in(["R", "W"])).head(5000)
    file = tmp_path / "requests.oracleGeneral"
    sl.trace(requests).write(file)
    objects, room = (requests["offset_bytes"] // 512).to_list(), 100
    expected_hits = {
        libcachesim.LRU: count_hits(POLICIES["lru"](room), objects),
        libcachesim.Belady: belady_hits(room, objects),
    }
    for policy, expected in expected_hits.items():
        parameters = libcachesim.ReaderInitParam(ignore_obj_size=True)
        kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
        reader = libcachesim.TraceReader(str(file), kind, parameters)
        miss_ratio, _ = policy(room, hashpower=18).process_trace(reader)
        assert round((1 - miss_ratio) * len(objects)) == expected


@pytest.mark.parametrize("name", TRACES)
def test_no_policy_has_more_hits_than_belady(name):
    counts = hits_by_policy(name, *sl.replacement, rooms=(1000,))
    assert len(counts) == len(list(sl.replacement))
    assert max(counts, key=counts.__getitem__) == ("belady", 1000)
    # Shifting popularity tells them apart.
    assert len(set(counts.values())) >= 8
