"""Counts of hybrids, from docs/hybrid.md and Wang 2005. Each request finds idle devices.

A policy chooses the segments that a caching disk holds. A write buffer appends all writes to logs; its reads
of the disk, and writes longer than a log, are not modelled.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import sledlab as sl

from tests.oracles.experiments import Request, generators, random_experiments, simulate
from tests.oracles.policies import POLICIES

GAP_US = 1_000_000


class CachingDisk:
    """Blocks of segments in slots of the front device."""

    def __init__(self, policy: Any, segment_blocks: int, *, partial_write: bool) -> None:
        self.policy, self.segment_blocks, self.partial_write = policy, segment_blocks, partial_write
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
            self.counters["back_reads"] += 1
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


class WriteBuffer:
    """Logs that are written in turn. A full log is destaged when the next one begins."""

    def __init__(self, logs: int, log_blocks: int) -> None:
        self.logs, self.log_blocks, self.open, self.used = logs, log_blocks, 0, 0
        self.log_by_block: dict[int, int] = {}
        self.dirty: set[int] = set()
        names = "reads read_hits writes written_blocks superseded_blocks destaged_blocks"
        self.counters = dict.fromkeys(f"{names} front_writes front_written_blocks".split(), 0)

    def serve(self, request: Request) -> None:
        blocks = list(range(request.lbn, request.lbn + request.blocks))
        if request.op == "R":
            self.read(blocks)
        else:
            self.write(blocks)

    def read(self, blocks: list[int]) -> None:
        self.counters["reads"] += 1
        self.counters["read_hits"] += all(block in self.log_by_block for block in blocks)

    def write(self, blocks: list[int]) -> None:
        self.counters["writes"] += 1
        self.counters["written_blocks"] += len(blocks)
        # A write that does not fit into the rest of a log, with its header, begins the next one.
        if self.log_blocks - self.used < 1 + len(blocks):
            # The disk is idle, so destaging of the full log begins before the write is in the next one.
            self.counters["destaged_blocks"] += len(self.dirty)
            self.dirty.clear()
            self.open, self.used = (self.open + 1) % self.logs, 0
            self.log_by_block = {block: log for block, log in self.log_by_block.items() if log != self.open}
        self.used += 1 + len(blocks)
        self.log_by_block |= dict.fromkeys(blocks, self.open)
        self.counters["superseded_blocks"] += len(self.dirty.intersection(blocks))
        self.dirty.update(blocks)
        self.counters["front_writes"] += 1
        self.counters["front_written_blocks"] += 1 + len(blocks)


def hybrid_counters(requests: list[Request], kind: str, **options: Any) -> dict[str, Any]:
    hybrid = sl.hybrid(kind, **options)
    return simulate(
        requests, "mobile-disk", hybrid=hybrid, front="ram", power="never", requests=False
    ).summary["hybrid"]


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
    requests = random_requests(generator, 2 * segment_kb, 40, most)
    model = CachingDisk(POLICIES[name](room), 2 * segment_kb, partial_write=options["partial_write"])
    for request in requests:
        model.serve(request)
    actual = hybrid_counters(
        requests,
        "caching-disk",
        segment_kb=segment_kb,
        front_mb=room * segment_kb / 1024,
        header_blocks=0,
        replacement=name,
        **options,
    )
    actual |= {f"back_{key}": count for key, count in actual["back"].items()}
    assert {key: actual[key] for key in model.counters} == model.counters, options
    assert actual["dirty_blocks"] == len(model.dirty), options


@random_experiments(quick=60, slow=1000)
@pytest.mark.parametrize("name", POLICIES)
def test_caching_disk_serves_single_segments_like_its_policy(name, seeds):
    for generator in generators(seeds):
        assert_equal_counters(generator, name, 1)


@random_experiments(quick=60, slow=1000)
def test_caching_disk_serves_segments_of_a_request_in_order(seeds):
    for generator in generators(seeds):
        assert_equal_counters(generator, "lru", 3)


@random_experiments(quick=100, slow=1000)
def test_write_buffer_destages_full_logs(seeds):
    for generator in generators(seeds):
        log_kb, logs = generator.choice([4, 8, 32]), generator.randint(8, 24)
        requests = random_requests(generator, 2 * log_kb - 1, 60, 1)
        model = WriteBuffer(logs, 2 * log_kb)
        for request in requests:
            model.serve(request)
        cleaning = generator.choice(["elevator", "fifo"])
        options = {"log_kb": log_kb, "front_mb": logs * log_kb / 1024, "cleaning": cleaning}
        actual = hybrid_counters(requests, "write-buffer", **options)
        actual |= {f"front_{key}": count for key, count in actual["front"].items()}
        assert {key: actual[key] for key in model.counters} == model.counters, options
        assert actual["dirty_blocks"] == len(model.dirty), options
