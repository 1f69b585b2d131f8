"""Counters of caches, hybrids and arrays compared with a brute-force count, and policies with hit ratios.

Requests are so far apart that the device is idle and no block is dirty when the next one arrives.
"""

import random
from collections import OrderedDict

import pytest
import sledlab as sl

GAP_US = 100_000
POLICIES = [name for name in sl.replacement if name != "belady"]
RAM = sl.device("ram", access_us=1.0, bus_mb_s=1000.0)


def trace(requests):
    """A trace of requests (op, first block, blocks)."""
    ops, first, blocks = zip(*requests, strict=True)
    return sl.trace(
        {
            "time_us": [number * GAP_US for number in range(len(ops))],
            "op": ops,
            "offset_bytes": [512 * block for block in first],
            "length_bytes": [512 * count for count in blocks],
        }
    )


def cache_counts(requests, **cache):
    settings = {"cache.kind": "write-back", "cache.destage_idle_ms": 1.0}
    settings |= {f"cache.{key}": value for key, value in cache.items()}
    return sl.simulate(trace(requests), RAM, settings=settings).summary["cache"]


def hybrid_counts(requests, slots, **hybrid):
    """Counts of a caching disk with slots of 16 blocks."""
    hybrid = sl.hybrid("caching-disk", front_mb=slots / 128, segment_kb=8, header_blocks=0, **hybrid)
    return sl.simulate(trace(requests), RAM, hybrid=hybrid, front=RAM).summary["hybrid"]


def policy_hits(requests, policy, lines, line_blocks):
    """Hits of reads in a cache of lines without a device."""
    segment_kb = line_blocks / 2
    cache_mb = (lines * line_blocks * 512 + 1) / 1e6
    (row,) = sl.hit_ratios(trace(requests), replacement=policy, cache_mb=cache_mb, segment_kb=segment_kb).rows
    read_count = sum(op == "R" for op, _, _ in requests)
    return round((row.read_hit_ratio or 0) * read_count)


class CacheModel:
    """A cache with LRU order: the valid blocks by line, the line that was used longest ago first."""

    def __init__(self, lines, line_blocks, read_ahead):
        self.lines = OrderedDict()
        self.capacity, self.size, self.read_ahead = lines, line_blocks, read_ahead
        self.counts = dict.fromkeys(
            (
                "read_hits",
                "read_misses",
                "write_hits",
                "write_waits",
                "fetches",
                "fetched_blocks",
                "read_ahead_blocks",
                "destaged_blocks",
            ),
            0,
        )

    def holds(self, block):
        return block in self.lines.get(block // self.size, ())

    def insert(self, line, spared):
        if len(self.lines) == self.capacity:
            del self.lines[next(line for line in self.lines if line not in spared)]
        self.lines[line] = set()

    def lines_of(self, blocks):
        return dict.fromkeys(block // self.size for block in blocks)

    def fill(self, blocks):
        for block in blocks:
            if block // self.size in self.lines:
                self.lines[block // self.size].add(block)

    def read(self, blocks):
        missing_blocks = [block for block in blocks if not self.holds(block)]
        absent_lines = [line for line in self.lines_of(blocks) if line not in self.lines]
        for line in self.lines_of(blocks):
            if line in self.lines:
                self.lines.move_to_end(line)
        for line in absent_lines:
            self.insert(line, ())
        self.counts["read_misses" if missing_blocks else "read_hits"] += 1
        self.counts["fetches"] += sum(block - 1 not in missing_blocks for block in missing_blocks)
        read_ahead_blocks = []
        if missing_blocks and missing_blocks[-1] == blocks[-1]:
            for block in range(blocks.stop, blocks.stop + self.read_ahead):
                if self.holds(block):
                    break
                read_ahead_blocks.append(block)
        for line in self.lines_of(read_ahead_blocks):
            if line not in self.lines:
                self.insert(line, ())
        self.counts["fetches"] += bool(read_ahead_blocks)
        self.counts["fetched_blocks"] += len(missing_blocks) + len(read_ahead_blocks)
        self.counts["read_ahead_blocks"] += len(read_ahead_blocks)
        self.fill([*missing_blocks, *read_ahead_blocks])

    def write(self, blocks):
        for line in self.lines_of(blocks):
            if line not in self.lines:
                self.insert(line, self.lines_of(blocks))
            self.lines.move_to_end(line)
        self.counts["write_hits"] += 1
        self.counts["destaged_blocks"] += len(blocks)
        self.fill(blocks)


@pytest.mark.parametrize("seed", range(40))
def test_cache_counters_equal_brute_force_count(seed):
    rng = random.Random(seed)
    lines, line_blocks = rng.choice([1, 2, 3, 5, 8]), rng.choice([1, 3, 16, 64])
    read_ahead = rng.choice([0, 0, 1, line_blocks // 2, 3 * line_blocks])
    requests = []
    for _ in range(200):
        op = rng.choice("RRRW")
        max_blocks = max(1, (lines - 1) * line_blocks // 2) if op == "W" else 2 * lines * line_blocks
        blocks = rng.randint(1, rng.choice([1, line_blocks, max_blocks]))
        requests.append((op, rng.randrange(4 * lines * line_blocks), min(blocks, max_blocks)))
    model = CacheModel(lines, line_blocks, read_ahead)
    for op, first, blocks in requests:
        (model.read if op == "R" else model.write)(range(first, first + blocks))
    counts = cache_counts(
        requests, capacity_blocks=lines * line_blocks, line_blocks=line_blocks, read_ahead_blocks=read_ahead
    )
    assert {key: counts[key] for key in model.counts} == model.counts
    assert 0 < counts["destages"] <= counts["destaged_blocks"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("line_blocks", [1, 16])
@pytest.mark.parametrize("ops", ["R", "RRW"])
def test_policy_in_cache_has_hits_of_policy_alone(policy, line_blocks, ops):
    for seed in range(4):
        rng = random.Random(seed)
        lines = rng.choice([1, 2, 5, 12])
        keys = [
            int(rng.paretovariate(0.7)) % 40 if rng.random() < 0.7 else rng.randrange(40) for _ in range(500)
        ]
        requests = [(rng.choice(ops), key * line_blocks, line_blocks) for key in keys]
        counts = cache_counts(
            requests, replacement=policy, capacity_blocks=lines * line_blocks, line_blocks=line_blocks
        )
        assert counts["read_hits"] == policy_hits(requests, policy, lines, line_blocks)


@pytest.mark.parametrize(("policy", "hits"), [("lru", 1), ("slru:protected_share=0.5", 2), ("arc", 2)])
@pytest.mark.parametrize("read_ahead", [0, 8])
def test_read_ahead_does_not_count_as_use(policy, hits, read_ahead):
    reads = [("R", first, 8) for first in (0, 0, 1600, 3200, 4800, 6400, 8000, 0)]
    counts = cache_counts(
        reads, replacement=policy, capacity_blocks=64, line_blocks=16, read_ahead_blocks=read_ahead
    )
    assert counts["read_hits"] == hits


@pytest.mark.parametrize("policy", ["lfuda", "lfuda-literal"])
@pytest.mark.parametrize("two_requests", [(("W", 0, 16), ("W", 0, 16)), (("R", 0, 8), ("R", 0, 16))])
def test_request_is_one_use_of_a_line(policy, two_requests):
    requests = [("R", 1600, 16)] * 3 + [*two_requests, ("R", 3200, 16), ("R", 1600, 16)]
    assert cache_counts(requests, replacement=policy, capacity_blocks=32, line_blocks=16)["read_hits"] == 3


@pytest.mark.parametrize("fetch_kb", [0, 16])
def test_group_fetch_does_not_count_as_use(fetch_kb):
    reads = [("R", 16 * segment, 16) for segment in (101, 101, *range(12), 101)]
    counts = hybrid_counts(reads, 4, replacement="slru:protected_share=0.5", fetch_kb=fetch_kb)
    # Every other segment hits if segments are fetched in pairs.
    assert counts["read_hits"] == 2 + (6 if fetch_kb else 0)


def test_lfuda_literal_equals_exact_integers():
    for seed in range(1, 7):
        rng = random.Random(seed)
        key_count, capacity = rng.choice([30, 80, 200]), rng.choice([4, 8, 16, 40])
        keys = [
            int(rng.paretovariate(0.8)) % key_count if rng.random() < 0.7 else rng.randrange(key_count)
            for _ in range(6000)
        ]
        hits, age, resident = 0, 0, {}
        for number, key in enumerate(keys):
            priority, _ = resident.get(key, (0, 0))
            hits += key in resident
            if key not in resident and len(resident) == capacity:
                victim = min(resident, key=resident.get)
                age, _ = resident.pop(victim)
            resident[key] = (priority + age + 1, number)
        assert policy_hits([("R", key, 1) for key in keys], "lfuda-literal", capacity, 1) == hits


class CachingDiskModel:
    """A caching disk under LRU: the resident segments of 16 blocks, the least recently used one first."""

    def __init__(self, slots, group, bypass_blocks):
        self.slots, self.group, self.bypass_blocks = slots, group, bypass_blocks
        self.resident, self.leaving = OrderedDict(), set()
        self.streams = []
        self.counts = dict.fromkeys(
            ("reads", "read_hits", "writes", "write_hits", "written_blocks", "bypassed"), 0
        )
        self.fetches = 0

    def insert(self, segment):
        if len(self.resident) == self.slots:
            self.leaving.add(self.resident.popitem(last=False)[0])
        self.resident[segment] = None

    def is_stream(self, first, blocks):
        """Whether enough blocks were read sequentially up to this read to bypass the front."""
        stream = next((known for known in self.streams if known[0] == first), (first, 0))
        if stream in self.streams:
            self.streams.remove(stream)
        self.streams = [(first + blocks, stream[1] + blocks), *self.streams[:31]]
        return 0 < self.bypass_blocks <= stream[1]

    def request(self, op, first, blocks):
        segments = range(first // 16, (first + blocks) // 16)
        counters = ("reads", "read_hits") if op == "R" else ("writes", "write_hits")
        self.counts[counters[0]] += len(segments)
        if (
            op == "R"
            and self.is_stream(first, blocks)
            and not any(segment in self.resident for segment in segments)
        ):
            self.counts["bypassed"] += 1
            self.fetches += 1
            return
        self.counts["written_blocks"] += blocks if op == "W" else 0
        missing_segments = []
        for segment in segments:
            if segment in self.resident:
                self.counts[counters[1]] += 1
                self.resident.move_to_end(segment)
            else:
                self.insert(segment)
                missing_segments.append(segment)
        self.leaving.clear()
        while op == "R" and missing_segments:
            self.fetch_group(missing_segments)

    def fetch_group(self, missing_segments):
        """Fetch the first missing segment, and its neighbors in the group up to the next resident ones."""
        self.fetches += 1
        segment = missing_segments.pop(0)
        begin = segment - segment % self.group
        for neighbors in range(segment + 1, begin + self.group), range(segment - 1, begin - 1, -1):
            for neighbor in neighbors:
                if neighbor in missing_segments:
                    missing_segments.remove(neighbor)
                elif neighbor in self.resident or neighbor in self.leaving:
                    break
                else:
                    self.insert(neighbor)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("group", "bypass_kb"), [(1, 0), (4, 0), (1, 16), (4, 32)])
def test_hybrid_counters_equal_brute_force_count(seed, group, bypass_kb):
    """Where segments are fetched in groups, requests are reads of one segment, whose victim is clean."""
    rng = random.Random(seed)
    slots, segment = rng.choice([9, 14] if group > 1 else [2, 5, 14]), 0
    ops, segments = ("R", 1) if group > 1 else ("RRRRW", 2)
    requests = []
    for _ in range(200):
        segment = segment + segments if rng.random() < 0.6 else rng.randrange(60)
        requests.append((rng.choice(ops), 16 * segment, 16 * segments))
    model = CachingDiskModel(slots, group, 2 * bypass_kb)
    for request in requests:
        model.request(*request)
    counts = hybrid_counts(requests, slots, fetch_kb=8 * group if group > 1 else 0, bypass_kb=bypass_kb)
    assert {key: counts[key] for key in model.counts} == model.counts
    assert counts["back"]["reads"] == model.fetches
    accounted_blocks = counts["superseded_blocks"] + counts["destaged_blocks"] + counts["dirty_blocks"]
    assert accounted_blocks == counts["written_blocks"]
    assert model.counts["bypassed"] > 0 or not bypass_kb


def test_traffic_counts_accesses_and_bytes_once():
    requests = trace([("R", 10_000 * number, 8) for number in range(20)])
    study = sl.hybrid_study(
        requests,
        configuration=["disk", "mcd-all"],
        settings={"cache.read_ahead_blocks": 64},
        mems_mb=[],
        segment_kb=[8],
        price_ratio=[],
        at_mb=64,
        seed=[1],
        parallel=1,
    )
    rows = {(row.configuration, row.device): row for row in study.traffic}
    for configuration in ("disk", "mcd-all"):
        row = rows[configuration, "disk"]
        assert (row.read_bytes, row.writes) == (20 * (8 + 64) * 512, 0)
    disk = rows["disk", "disk"]
    assert (disk.reads, disk.mean_read_kb) == (40, 18)


@pytest.mark.parametrize(
    "failures",
    [
        {},
        {"failed": 1},
        {"failed": 1, "failed_at_s": 10.0},
        {"failed": 1, "failed_at_s": 1e6, "rebuild_mb_s": 1.0},
    ],
)
def test_live_share_is_of_devices_in_use(failures):
    settings = {"kind": "mirror", "devices": 2} | failures
    hybrid = sl.hybrid("caching-disk", front_mb=1 / 32, segment_kb=8, header_blocks=0)
    result = sl.simulate(
        trace([("W", 16 * number, 16) for number in range(400)]),
        RAM,
        hybrid=hybrid,
        front=RAM,
        settings={f"system.{key}": value for key, value in settings.items()},
    )
    assert result.summary["hybrid"]["live_share"] == 1
