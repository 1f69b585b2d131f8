"""Counts of a write buffer, from docs/hybrid.md and Wang 2005, section 4.1. Each request finds idle devices.

Writes are appended to logs in turn. A full log is destaged when a request begins the next one. The disk
serves the blocks of a read that no log has, with one access.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from tests.oracles.experiments import Request, generators, hybrid_counters, random_experiments

GAP_US = 1_000_000


class Place(NamedTuple):
    """Where a block lies on the front device."""

    log: int
    offset: int


def count_runs(blocks: Sequence[int]) -> int:
    """Number of accesses to these blocks, each to blocks that follow each other."""
    return sum(index == 0 or block != blocks[index - 1] + 1 for index, block in enumerate(blocks))


class WriteBuffer:
    """The newest version of each block in the logs, and those that the disk does not have."""

    def __init__(self, logs: int, log_blocks: int, cleaning: str) -> None:
        self.logs, self.log_blocks, self.cleaning, self.open, self.used = logs, log_blocks, cleaning, 0, 0
        self.places: dict[int, Place] = {}
        self.dirty: set[int] = set()
        self.full: list[list[int]] = []
        """Dirty blocks of each log to be destaged, in the order of their writes."""
        names = "reads read_hits writes written_blocks superseded_blocks destaged_blocks"
        front = "front_reads front_read_blocks front_writes front_written_blocks"
        back = "back_reads back_read_blocks back_writes back_written_blocks"
        self.counters = dict.fromkeys(f"{names} {front} {back}".split(), 0)

    def count(self, **counts: int) -> None:
        for name, count in counts.items():
            self.counters[name] += count

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
        # Each piece has a header. A write that does not fit into the rest of a log begins the next one.
        if self.used and self.log_blocks - self.used < 1 + len(blocks):
            self.begin_next_log()
            self.destage()
        while blocks:
            if self.used == self.log_blocks:
                self.begin_next_log()
            room = self.log_blocks - self.used - 1
            self.append(blocks[:room])
            blocks = blocks[room:]
        self.destage()

    def append(self, piece: list[int]) -> None:
        first = self.used + 1
        self.places |= {block: Place(self.open, first + each) for each, block in enumerate(piece)}
        self.used = first + len(piece)
        self.count(superseded_blocks=len(self.dirty.intersection(piece)))
        self.dirty.update(piece)
        self.count(front_writes=1, front_written_blocks=1 + len(piece))

    def begin_next_log(self) -> None:
        dirty = sorted(self.dirty, key=self.places.__getitem__)
        self.full.append(dirty)
        # One access fetches a log from its first to its last dirty block.
        span = self.places[dirty[-1]].offset - self.places[dirty[0]].offset + 1
        self.count(front_reads=1, front_read_blocks=span)
        self.dirty.clear()
        self.open, self.used = (self.open + 1) % self.logs, 0
        self.places = {block: place for block, place in self.places.items() if place.log != self.open}

    def destage(self) -> None:
        """Write adjacent blocks together, under `elevator` those of all full logs in order of addresses."""
        batches = [sorted(chain(*self.full))] if self.cleaning == "elevator" else self.full
        for batch in batches:
            self.count(
                destaged_blocks=len(batch), back_writes=count_runs(batch), back_written_blocks=len(batch)
            )
        self.full = []


def random_requests(generator: random.Random, log_blocks: int) -> list[Request]:
    """Requests that begin near each other, some of them longer than a log."""
    requests = []
    for number in range(generator.randint(1, 150)):
        lbn = min(int(generator.paretovariate(0.7) * log_blocks), 40 * log_blocks) + generator.randrange(
            log_blocks
        )
        most = generator.choice([4, log_blocks // 2, log_blocks, 3 * log_blocks])
        requests.append(Request(number * GAP_US, generator.choice("RW"), lbn, generator.randint(1, most)))
    return requests


@random_experiments(quick=100, slow=2000)
def test_logs_and_disk_serve_the_blocks_of_the_definition(seeds):
    for generator in generators(seeds):
        log_kb, logs = generator.choice([4, 8, 32]), generator.randint(8, 24)
        requests = random_requests(generator, 2 * log_kb)
        cleaning = generator.choice(["elevator", "fifo"])
        model = WriteBuffer(logs, 2 * log_kb, cleaning)
        for request in requests:
            model.serve(request)
        options = {"log_kb": log_kb, "front_mb": logs * log_kb / 1024, "cleaning": cleaning}
        actual = hybrid_counters(requests, "write-buffer", **options)
        assert {key: actual[key] for key in model.counters} == model.counters, options
        assert actual["dirty_blocks"] == len(model.dirty), options
