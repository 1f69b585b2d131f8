"""The write-back cache, from docs/cache.md, with requests so far apart that each finds an idle cache.

Lines may be incomplete: a miss fetches missing blocks only. Read-ahead is one more access, from the end of a
request to the next cached block. Writes are complete in the cache, and their blocks are destaged before the
next request, adjacent ones together; a run of them can be split where the order of blocks begins again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest
import sledlab as sl

from tests.oracles.experiments import Request, generators, random_experiments, simulate
from tests.oracles.policies import POLICIES, Queue

GAP_US = 1_000_000


def runs(blocks: Iterable[int]) -> list[int]:
    """Lengths of runs of successive blocks."""
    lengths, last = [], None
    for block in sorted(blocks):
        if block - 1 == last:
            lengths[-1] += 1
        else:
            lengths.append(1)
        last = block
    return lengths


class Cache:
    """Counters of a cache between whose requests all dirty blocks are destaged."""

    def __init__(self, policy, line_blocks: int, destage_blocks: int, read_ahead: int = 0) -> None:
        self.policy, self.line_blocks, self.valid = policy, line_blocks, set()
        self.destage_blocks, self.read_ahead = destage_blocks, read_ahead
        names = (
            "read_hits read_misses write_hits write_waits fetches fetched_blocks read_ahead_blocks destages"
        )
        self.counters = dict.fromkeys([*names.split(), "destaged_blocks"], 0)

    def serve(self, request: Request) -> None:
        blocks = set(range(request.lbn, request.lbn + request.blocks))
        missing = blocks - self.valid
        lines = sorted({block // self.line_blocks for block in blocks})
        if request.op == "R":
            self.counters["read_misses" if missing else "read_hits"] += 1
            # A read uses its cached lines before it inserts others.
            self.fetch(missing, sorted(lines, key=lambda line: line not in self.policy.cached))
            self.read_beyond(request.lbn + request.blocks, missing)
        else:
            self.counters["write_hits"] += 1
            # A write evicts none of its own lines.
            self.insert(blocks, lines, pinned=lines if len(lines) > 1 else ())
            self.destage(blocks)

    def read_beyond(self, end: int, missing: set[int]) -> None:
        ahead = set()
        while end - 1 in missing and len(ahead) < self.read_ahead and end + len(ahead) not in self.valid:
            ahead.add(end + len(ahead))
        self.counters["read_ahead_blocks"] += len(ahead)
        self.fetch(ahead, sorted({block // self.line_blocks for block in ahead}), is_use=False)

    def destage(self, blocks: set[int]) -> None:
        self.counters["destages"] += -(-len(blocks) // self.destage_blocks)
        self.counters["destaged_blocks"] += len(blocks)

    def fetch(self, missing: set[int], lines: list[int], *, is_use: bool = True) -> None:
        self.counters["fetches"] += len(runs(missing))
        self.counters["fetched_blocks"] += len(missing)
        self.insert(missing, lines, is_use=is_use)

    def insert(
        self, blocks: set[int], lines: list[int], pinned: Sequence[int] = (), *, is_use: bool = True
    ) -> None:
        for line in lines:
            if line in self.policy.cached and not is_use:
                continue
            victim = self.policy.use(line, pinned=pinned) if pinned else self.policy.use(line)
            self.valid -= {block for block in self.valid if block // self.line_blocks == victim}
        self.valid |= {block for block in blocks if block // self.line_blocks in self.policy.cached}


def counters(requests: list[Request], **options) -> dict[str, int]:
    cache = sl.cache("write-back", **options)
    return simulate(requests, cache=cache, requests=False).summary["cache"]


def random_requests(generator: random.Random, line_blocks: int, max_lines: int, lines: int) -> list[Request]:
    """Requests of up to `max_lines` lines, which begin and end anywhere in them."""
    requests = []
    for number in range(generator.randint(1, 120)):
        first = min(int(generator.paretovariate(0.7)), lines) * line_blocks + generator.randrange(line_blocks)
        room = max_lines * line_blocks - first % line_blocks
        op = "R" if generator.random() < 0.6 else "W"
        requests.append(Request(number * GAP_US, op, first, generator.randint(1, room)))
    return requests


def assert_equal_counters(requests, policy, line_blocks, room, name, read_ahead=0):
    destage_blocks = 1 + requests[0].blocks % 7
    model = Cache(policy, line_blocks, destage_blocks, read_ahead)
    for request in requests:
        model.serve(request)
    actual = counters(
        requests,
        capacity_blocks=room * line_blocks,
        line_blocks=line_blocks,
        replacement=name,
        destage_blocks=destage_blocks,
        read_ahead_blocks=read_ahead,
    )
    writes = sum(request.op == "W" for request in requests)
    assert 0 <= actual["destages"] - model.counters["destages"] <= writes
    exact = model.counters.keys() - {"destages"}
    assert {key: actual[key] for key in exact} == {key: model.counters[key] for key in exact}


@random_experiments(quick=100, slow=1000)
@pytest.mark.parametrize("name", POLICIES)
def test_requests_of_one_line_equal_the_policy(name, seeds):
    for generator in generators(seeds):
        line_blocks, room = generator.choice([1, 4, 16, 64]), 2 * generator.randint(1, 8)
        requests = random_requests(generator, line_blocks, 1, 40)
        assert_equal_counters(requests, POLICIES[name](room), line_blocks, room, name)


@random_experiments(quick=100, slow=1000)
@pytest.mark.parametrize("name", ["lru", "fifo"])
def test_requests_of_several_lines_fetch_missing_blocks(name, seeds):
    for generator in generators(seeds):
        line_blocks, room = generator.choice([1, 4, 16]), generator.randint(4, 20)
        requests = random_requests(generator, line_blocks, 4, 60)
        policy = Queue(room, moves_on_hit=name == "lru")
        assert_equal_counters(requests, policy, line_blocks, room, name)


@random_experiments(quick=100, slow=1000)
def test_read_ahead_fetches_missing_blocks_beyond_a_miss(seeds):
    for generator in generators(seeds):
        line_blocks, room = generator.choice([1, 4, 16]), generator.randint(20, 40)
        requests = random_requests(generator, line_blocks, 3, 100)
        policy = Queue(room, moves_on_hit=True)
        assert_equal_counters(
            requests, policy, line_blocks, room, "lru", generator.randint(1, 2 * line_blocks)
        )


@pytest.mark.parametrize(
    ("read_destage", "read_us", "again_us"), [("none", 101, 101), ("first", 202, 0), ("after", 101, 0)]
)
def test_read_of_a_full_cache_waits_for_its_destage_if_first(read_destage, read_us, again_us):
    """A cache of two blocks, both dirty, whose hits take no time, on a device that takes 101 us for a block.

    A read of another block takes a fetch (101 us), or a destage and then the fetch (202 us). Without a
    destage it is not cached, so that the next read takes as long; with a destage after it, it takes the
    place of the clean block.
    """
    requests = [
        Request(0, "W", 0, 1),
        Request(1, "W", 10, 1),
        Request(1000, "R", 50, 1),
        Request(2000, "R", 50, 1),
    ]
    result = simulate(
        requests,
        sl.device("ram", access_us=100.0, bus_mb_s=512.0),
        power="never",
        cache=sl.cache(
            "write-back",
            capacity_blocks=2,
            line_blocks=1,
            access_us=0.0,
            bus_mb_s=1e9,
            destage="demand",
            read_destage=read_destage,
        ),
    )
    response_us = (result.requests.sort("id")["response_ns"] / 1e3).to_list()
    assert response_us == pytest.approx([0, 0, read_us, again_us], abs=1e-3)
