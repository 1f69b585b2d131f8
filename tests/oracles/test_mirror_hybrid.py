"""Counts of a mirror of a fast device and a disk, from docs/hybrid.md. Bursts of writes find idle devices.

The first write of a burst is destaged at once. The others wait in the buffer until it is on the disk, where
later writes supersede them, and are then destaged in runs of adjacent blocks.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from math import ceil

from tests.oracles.experiments import HybridModel, Request, generators, hybrid_counters, random_experiments

GAP_US = 1_000_000
BURST_GAP_US = 100
"""More than the front device needs for a write, and so little that the disk does not end one in a burst."""
BURST_BLOCKS = 16
SMALLEST_PIECE, LARGEST_DESTAGE = 16, 256
"""Blocks of a line of the buffer, and of 128 KB."""


class Mirror(HybridModel):
    """Runs of reads `(end, length)`, and blocks that wait for the disk."""

    def __init__(self, sequential_blocks: int, buffer_blocks: int) -> None:
        super().__init__(
            "reads read_hits bypassed writes write_hits written_blocks superseded_blocks destaged_blocks"
        )
        self.sequential_blocks, self.buffer_blocks = sequential_blocks, buffer_blocks
        self.runs: list[tuple[int, int]] = []
        self.waiting: set[int] = set()

    def serve(self, burst: Sequence[Request]) -> None:
        for number, request in enumerate(burst):
            if request.op == "R":
                self.read(request)
            else:
                self.write(request, is_first=number == 0)
        self.destage(self.waiting)
        self.waiting = set()

    def read(self, request: Request) -> None:
        """A long read, or one that continues a long run, goes to the disk."""
        run = next((run for run in self.runs if run[0] == request.lbn), (0, 0))
        if run in self.runs:
            self.runs.remove(run)
        self.runs.append((request.lbn + request.blocks, run[1] + request.blocks))
        is_long = max(request.blocks, run[1]) >= self.sequential_blocks
        self.count(reads=1, read_hits=not is_long, bypassed=is_long)
        device = "back" if is_long else "front"
        self.count(**{f"{device}_reads": 1, f"{device}_read_blocks": request.blocks})

    def write(self, request: Request, *, is_first: bool) -> None:
        """A write that is larger than the buffer waits for the destage of the blocks before."""
        blocks = range(request.lbn, request.lbn + request.blocks)
        fits = len(blocks) <= self.buffer_blocks
        self.count(writes=1, write_hits=fits, written_blocks=len(blocks))
        piece = max(self.buffer_blocks // 2, SMALLEST_PIECE)
        self.count(front_writes=ceil(len(blocks) / piece), front_written_blocks=len(blocks))
        if is_first:
            for at in range(0, len(blocks), self.buffer_blocks):
                self.destage(blocks[at : at + self.buffer_blocks])
        else:
            self.count(superseded_blocks=len(self.waiting.intersection(blocks)))
            self.waiting.update(blocks)

    def destage(self, blocks: Collection[int]) -> None:
        writes = sum(block - 1 not in blocks for block in blocks)
        self.count(destaged_blocks=len(blocks), back_writes=writes, back_written_blocks=len(blocks))


def random_bursts(generator: random.Random, buffer_blocks: int) -> list[list[Request]]:
    """Streams of reads, and writes of which up to three follow each other closely."""
    bursts: list[list[Request]] = []
    streams = [generator.randrange(100_000) for _ in range(generator.randint(1, 5))]
    for number in range(100):
        time_us = number * GAP_US
        if generator.random() < 0.5:
            stream = generator.randrange(len(streams))
            if generator.random() < 0.1:
                streams[stream] = generator.randrange(100_000)
            blocks = generator.choice([8, 16, 100])
            bursts.append([Request(time_us, "R", streams[stream], blocks)])
            streams[stream] += blocks
        elif buffer_blocks < 3 * BURST_BLOCKS or generator.random() < 0.5:
            # The buffer has lines of 8 KB; writes that begin with a line fill whole lines.
            lbn = generator.randrange(100) * buffer_blocks
            bursts.append([Request(time_us, "W", lbn, generator.randint(1, LARGEST_DESTAGE))])
        else:
            times_us = [time_us + number * BURST_GAP_US for number in range(generator.randint(1, 3))]
            blocks = generator.randint(1, BURST_BLOCKS)
            bursts.append([Request(at_us, "W", generator.randrange(40), blocks) for at_us in times_us])
    return bursts


@random_experiments(quick=60, slow=1000)
def test_mirror_serves_the_blocks_of_the_definition(seeds):
    for generator in generators(seeds):
        sequential_kb, buffer_kb = generator.choice([4, 16, 64]), generator.choice([8, 16, 64, 2048])
        options = {"sequential_kb": sequential_kb, "buffer_kb": buffer_kb}
        bursts = random_bursts(generator, 2 * buffer_kb)
        model = Mirror(2 * sequential_kb, 2 * buffer_kb)
        for burst in bursts:
            model.serve(burst)
        requests = [request for burst in bursts for request in burst]
        actual = hybrid_counters(requests, "mirror", **options)
        assert {key: actual[key] for key in model.counters} == model.counters, options
