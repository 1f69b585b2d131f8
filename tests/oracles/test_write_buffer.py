"""Counts of a write buffer, from docs/hybrid.md and Wang 2005, section 4.1. Each request finds idle devices.

Writes are appended to logs in turn. Full logs are destaged at once where the disk counts as idle, otherwise
where logs run short. The disk serves the blocks of a read that no log has, with one access.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import pytest

from tests.oracles.experiments import HybridModel, Request, generators, hybrid_counters, random_experiments

GAP_US = 1_000_000


class Place(NamedTuple):
    """Where a block lies on the front device."""

    log: int
    offset: int


def count_runs(blocks: Sequence[int]) -> int:
    """Number of accesses to these blocks, each to blocks that follow each other."""
    return sum(index == 0 or block != blocks[index - 1] + 1 for index, block in enumerate(blocks))


class WriteBuffer(HybridModel):
    """The newest version of each block in the logs, and those that the disk does not have."""

    def __init__(self, options: dict[str, Any], logs: int) -> None:
        super().__init__("reads read_hits writes written_blocks superseded_blocks destaged_blocks")
        self.logs, self.log_blocks = logs, 2 * options["log_kb"]
        self.is_idle, self.is_elevator = options["idle_ms"] < GAP_US / 1000, options["cleaning"] == "elevator"
        self.batch_logs = options["buffer_kb"] // options["log_kb"] if self.is_elevator else 1
        self.clean_from, self.clean_to = options["clean_from"], options["clean_to"]
        self.places: dict[int, Place] = {}
        self.dirty: set[int] = set()
        self.open, self.used, self.is_destaging = 0, 0, False
        self.full: list[int] = []
        """Logs to be destaged, the oldest first."""

    def serve(self, request: Request) -> None:
        blocks = list(range(request.lbn, request.lbn + request.blocks))
        if request.op == "R":
            self.read(blocks)
        else:
            self.write(blocks)

    def read(self, blocks: list[int]) -> None:
        missing = [block for block in blocks if block not in self.places]
        self.count(reads=1, read_hits=not missing)
        if missing:
            self.count(back_reads=1, back_read_blocks=missing[-1] - missing[0] + 1)
        in_logs = [block for block in blocks if block in self.places]
        self.count(front_reads=self.count_pieces(in_logs), front_read_blocks=len(in_logs))

    def count_pieces(self, blocks: list[int]) -> int:
        """Number of accesses to these blocks, which follow each other on the disk and in a log."""
        ends = {Place(self.places[block].log, self.places[block].offset + 1): block + 1 for block in blocks}
        return sum(ends.get(self.places[block]) != block for block in blocks)

    def write(self, blocks: list[int]) -> None:
        self.count(writes=1, written_blocks=len(blocks))
        self.is_destaging = False
        # Each piece has a header. A write that does not fit into the rest of a log begins the next one.
        if self.used and self.log_blocks - self.used < 1 + len(blocks):
            self.begin_next_log()
        while blocks:
            if self.used == self.log_blocks:
                self.begin_next_log()
            room = self.log_blocks - self.used - 1
            self.append(blocks[:room])
            blocks = blocks[room:]
            # The logs for the rest of the request are in use already.
            logs_in_use = len(self.full) + 1 + ceil(len(blocks) / (self.log_blocks - 1))
            self.begin_destaging(needed=logs_in_use / self.logs >= self.clean_from)
        # The disk destages further batches before the next request arrives.
        end = 0.0 if self.is_idle else self.clean_to
        while self.is_destaging and self.full and (len(self.full) + 1) / self.logs > end:
            self.destage_batch()

    def begin_destaging(self, *, needed: bool) -> None:
        """Destage a batch while the rest of the request is written, which takes less time."""
        if needed and not self.is_destaging:
            self.is_destaging = True
            self.destage_batch()

    def append(self, piece: list[int]) -> None:
        first = self.used + 1
        self.places |= {block: Place(self.open, first + each) for each, block in enumerate(piece)}
        self.used = first + len(piece)
        self.count(superseded_blocks=len(self.dirty.intersection(piece)))
        self.dirty.update(piece)
        self.count(front_writes=1, front_written_blocks=1 + len(piece))

    def begin_next_log(self) -> None:
        self.full.append(self.open)
        self.open, self.used = (self.open + 1) % self.logs, 0
        self.places = {block: place for block, place in self.places.items() if place.log != self.open}
        self.begin_destaging(needed=self.is_idle)

    def dirty_in(self, log: int) -> list[tuple[Place, int]]:
        """Places and numbers of the dirty blocks of a log, in the order of their writes."""
        places = ((self.places[block], block) for block in self.dirty)
        return sorted((place, block) for place, block in places if place.log == log)

    def destage_batch(self) -> None:
        """Read the oldest logs and write adjacent blocks together, under `elevator` by address."""
        blocks: list[int] = []
        # Logs without dirty blocks take no time.
        while self.full and not blocks:
            batch, self.full = self.full[: self.batch_logs], self.full[self.batch_logs :]
            for dirty in filter(None, map(self.dirty_in, batch)):
                # One access fetches a log from its first to its last dirty block.
                span = dirty[-1][0].offset - dirty[0][0].offset + 1
                self.count(front_reads=1, front_read_blocks=span)
                blocks += [block for _, block in dirty]
        if self.is_elevator:
            blocks.sort()
        self.count(
            destaged_blocks=len(blocks), back_writes=count_runs(blocks), back_written_blocks=len(blocks)
        )
        self.dirty -= set(blocks)


def random_requests(generator: random.Random, log_blocks: int) -> list[Request]:
    """Requests that begin near each other, some of them longer than a log."""
    requests = [Request(0, "R", 0, 1)]
    for number in range(1, generator.randint(2, 150)):
        log = min(int(generator.paretovariate(0.7)), 40)
        lbn = log * log_blocks + generator.randrange(log_blocks)
        most = generator.choice([4, log_blocks // 2, log_blocks, 3 * log_blocks])
        requests.append(Request(number * GAP_US, generator.choice("RW"), lbn, generator.randint(1, most)))
    return requests


@random_experiments(quick=50, slow=1000)
@pytest.mark.parametrize("idle_ms", [20, 1e12], ids=["idle", "busy"])
def test_logs_and_disk_serve_the_blocks_of_the_definition(idle_ms, seeds):
    for generator in generators(seeds):
        logs, log_kb = generator.randint(20, 40), generator.choice([4, 8, 32])
        cleaning, buffer_kb = generator.choice(["elevator", "fifo"]), generator.randint(1, 8) * log_kb
        options = {"log_kb": log_kb, "cleaning": cleaning, "buffer_kb": buffer_kb, "idle_ms": idle_ms}
        # Enough logs stay clean that no write waits for one.
        options |= {"clean_from": generator.uniform(0.5, 0.75), "clean_to": generator.uniform(0.3, 0.5)}
        requests = random_requests(generator, 2 * log_kb)
        model = WriteBuffer(options, logs)
        for request in requests:
            model.serve(request)
        # A run lasts until all full logs are clean.
        while model.full:
            model.destage_batch()
        actual = hybrid_counters(requests, "write-buffer", front_mb=logs * log_kb / 1024, **options)
        assert {key: actual[key] for key in model.counters} == model.counters, options
        assert actual["dirty_blocks"] == len(model.dirty), options
