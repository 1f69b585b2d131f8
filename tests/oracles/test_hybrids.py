"""Counts of a caching disk, from docs/hybrid.md and Wang 2005. Each request finds idle devices.

A policy chooses the segments that the front device holds.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracles.experiments import Request, generators, hybrid_counters, random_experiments
from tests.oracles.policies import POLICIES

GAP_US = 1_000_000


class CachingDisk:
    """Blocks of segments in slots of the front device."""

    def __init__(self, policy: Any, segment_blocks: int, copy_blocks: int, *, partial_write: bool) -> None:
        self.policy, self.segment_blocks, self.partial_write = policy, segment_blocks, partial_write
        self.piece_blocks = copy_blocks or segment_blocks
        self.valid: set[int] = set()
        self.dirty: set[int] = set()
        names = "reads read_hits writes write_hits written_blocks destaged_blocks"
        back = "back_reads back_read_blocks back_writes back_written_blocks"
        self.counters = dict.fromkeys(f"{names} {back}".split(), 0)

    def segment(self, number: int) -> set[int]:
        return set(range(number * self.segment_blocks, (number + 1) * self.segment_blocks))

    def serve(self, request: Request) -> None:
        blocks = set(range(request.lbn, request.lbn + request.blocks))
        for number in sorted({block // self.segment_blocks for block in blocks}):
            self.serve_segment(request.op, number, blocks & self.segment(number))
        self.counters["written_blocks"] += len(blocks) if request.op == "W" else 0

    def serve_segment(self, op: str, number: int, blocks: set[int]) -> None:
        is_resident = number in self.policy.cached
        victim = self.policy.use(number)
        if victim is not None:
            self.destage(self.segment(victim))
            self.valid -= self.segment(victim)
        is_write = op == "W"
        is_hit = is_resident and (is_write or blocks <= self.valid)
        self.counters["writes" if is_write else "reads"] += 1
        self.counters["write_hits" if is_write else "read_hits"] += is_hit
        whole = self.segment(number)
        # With Partial Write no write needs the other blocks, without it one that covers the segment.
        needs_fetch = not is_hit and not (is_write and (self.partial_write or blocks == whole))
        if needs_fetch:
            self.counters["back_reads"] += -(-len(whole) // self.piece_blocks)
            self.counters["back_read_blocks"] += len(whole)
            self.valid |= whole
        if is_write:
            self.valid |= blocks
            self.dirty |= blocks

    def destage(self, whole: set[int]) -> None:
        """Write the segment, or with Partial Write the runs of valid blocks from a dirty to a dirty one."""
        self.counters["destaged_blocks"] += len(self.dirty & whole)
        runs: list[list[int]] = []
        for block in sorted(self.valid & whole):
            if runs and runs[-1][-1] == block - 1:
                runs[-1].append(block)
            else:
                runs.append([block])
        for run in runs:
            dirty = sorted(self.dirty.intersection(run))
            if dirty:
                self.counters["back_writes"] += 1
                written = dirty[-1] - dirty[0] + 1 if self.partial_write else len(whole)
                self.counters["back_written_blocks"] += written
        self.dirty -= whole


def random_requests(generator: random.Random, segment_blocks: int, segments: int, most: int) -> list[Request]:
    """Requests of up to `most` segments, which begin and end anywhere in them."""
    requests = []
    for number in range(generator.randint(1, 120)):
        segment = min(int(generator.paretovariate(0.7)), segments)
        first = segment * segment_blocks + generator.choice([0, generator.randrange(segment_blocks)])
        room = most * segment_blocks - first % segment_blocks
        op = "R" if generator.random() < 0.5 else "W"
        blocks = generator.choice([room, generator.randint(1, room)])
        requests.append(Request(number * GAP_US, op, first, blocks))
    return requests


def assert_equal_counters(generator: random.Random, name: str, most: int) -> None:
    segment_kb, room = generator.choice([4, 8, 32]), 2 * generator.randint(most, 8)
    techniques = ("shortcut", "immediate_report", "partial_write")
    options = {technique: generator.random() < 0.5 for technique in techniques}
    # Few pieces, so that a request ends before the next arrives: on this disk each costs a revolution.
    copy_kb = generator.choice([0, segment_kb // 4 + 1, segment_kb // 2, segment_kb])
    requests = random_requests(generator, 2 * segment_kb, 40, most)
    partial_write = options["partial_write"]
    model = CachingDisk(POLICIES[name](room), 2 * segment_kb, 2 * copy_kb, partial_write=partial_write)
    for request in requests:
        model.serve(request)
    actual = hybrid_counters(
        requests,
        "caching-disk",
        segment_kb=segment_kb,
        copy_kb=copy_kb,
        front_mb=room * segment_kb / 1024,
        header_blocks=0,
        replacement=name,
        **options,
    )
    assert {key: actual[key] for key in model.counters} == model.counters, options
    assert actual["dirty_blocks"] == len(model.dirty), options


@random_experiments(quick=60, slow=1000)
@pytest.mark.parametrize("name", POLICIES)
def test_caching_disk_serves_single_segments_like_its_policy(name, seeds):
    for generator in generators(seeds):
        assert_equal_counters(generator, name, 1)


@random_experiments(quick=60, slow=1000)
def test_caching_disk_serves_request_segments_in_order(seeds):
    for generator in generators(seeds):
        assert_equal_counters(generator, "lru", 3)
