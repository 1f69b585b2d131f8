"""Requests of 129 scenarios for the buffer of a disk, in which read-ahead, write-back and new commands meet.

`python -m validation.sections.disk_scenarios DRIVE` prints the requests for a drive as CSV.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias


class BlockRequest(NamedTuple):
    """A request: `R` or `W`, first block and number of blocks of 512 bytes."""

    op: str
    block: int
    blocks: int


@dataclass(frozen=True)
class FirstZone:
    """The first zone of a drive, whose first tracks have no defects.

    Attributes:
        track_blocks: Blocks of a track.
        cylinder_tracks: Tracks of a cylinder.
        blocks: Blocks of the zone.
    """

    track_blocks: int
    cylinder_tracks: int
    blocks: int


DRIVES = {
    "atlas-10k": FirstZone(334, 6, 867_643),
    "cheetah-9lp": FirstZone(254, 12, 2_580_386),
    "barracuda": FirstZone(186, 5, 1_032_496),
    "atlas-iii": FirstZone(256, 10, 1_448_956),
    "ibm-18es": FirstZone(390, 5, 499_197),
}
"""Presets, and their first zones in the public DiskSim 4.0 parameters."""

GAPS_US = (0, 20, 200, 1_000, 5_000, 20_000)
"""Times from a completion to the next request."""

PAGE = 8
"""Blocks of most requests: 4 KB."""

REQUESTS = 40
"""Requests of most scenarios."""

BlockRequests: TypeAlias = Iterator[BlockRequest]
RequestGenerator: TypeAlias = Callable[[FirstZone], BlockRequests]


def _place(i: int) -> int:
    """Return the first block of the i-th of several places of the first zone, many tracks apart."""
    return 100_000 + 5_003 * i


def _groups(*group: BlockRequest) -> RequestGenerator:
    """Repeat requests at different places; their blocks count from the place."""
    return lambda _: (
        BlockRequest(op, _place(i) + block, blocks)
        for i in range(REQUESTS // len(group))
        for op, block, blocks in group
    )


def _stream(op: str, stride: int) -> RequestGenerator:
    """Return pages at a constant distance."""
    return lambda _: (BlockRequest(op, _place(10) + stride * i, PAGE) for i in range(REQUESTS))


def _sequential_reads(_: FirstZone) -> BlockRequests:
    """Read 64 KB at a time from the first block on, so that some reads end with a track."""
    yield from (BlockRequest("R", 128 * i, 128) for i in range(REQUESTS))


def _streams(*ops: str) -> RequestGenerator:
    """Return pages of sequential streams in turn."""
    return lambda _: (
        BlockRequest(op, _place(stream) + PAGE * i, PAGE)
        for i in range(REQUESTS // len(ops))
        for stream, op in enumerate(ops)
    )


def _partial_hits(_: FirstZone) -> BlockRequests:
    """Read at increasing distances from the start of the previous read."""
    for i in range(REQUESTS // 2):
        yield BlockRequest("R", _place(i), 2 * PAGE)
        yield BlockRequest("R", _place(i) + i * PAGE // 2, 2 * PAGE)


def _writes_then_reads(_: FirstZone) -> BlockRequests:
    """Write ten pages, read them, and do so at other places."""
    for places in range(10), range(10, 20):
        yield from (BlockRequest(op, _place(i), PAGE) for op in "WR" for i in places)


def _track_ends(zone: FirstZone) -> BlockRequests:
    """Read the end of a track, then a page within the two tracks behind it.

    Spares shift the tracks of the Barracuda from the 30th on.
    """
    for i in range(REQUESTS // 2):
        track_end = (13 + 7 * i) * zone.track_blocks
        yield BlockRequest("R", track_end - PAGE, PAGE)
        yield BlockRequest("R", track_end + i * zone.track_blocks // 10, PAGE)


def _borders(op: str, blocks: int) -> RequestGenerator:
    """Return requests over the borders of tracks, cylinders and zones."""

    def requests(zone: FirstZone) -> BlockRequests:
        cylinder_blocks = zone.cylinder_tracks * zone.track_blocks
        for border in (11 * zone.track_blocks, 3 * cylinder_blocks, zone.blocks):
            for eighths in range(1, 8):
                yield BlockRequest(op, border - blocks * eighths // 8, blocks)

    return requests


def _random_pages_of_track(write_share: float) -> RequestGenerator:
    """Return random pages of a range as long as a track."""

    def requests(zone: FirstZone) -> BlockRequests:
        random = Random(1)
        for _ in range(REQUESTS):
            op = "W" if random.random() < write_share else "R"
            offset = int(random.random() * (zone.track_blocks - PAGE))
            yield BlockRequest(op, 300 * zone.track_blocks + offset, PAGE)

    return requests


def _random_mix(range_blocks: int, max_blocks: int) -> RequestGenerator:
    """Return random requests of all sizes, a third of them writes."""

    def requests(_zone: FirstZone) -> BlockRequests:
        random = Random(1)
        for _ in range(2 * REQUESTS):
            op = "W" if random.random() < 1 / 3 else "R"
            block = _place(0) + int(random.random() * range_blocks)
            yield BlockRequest(op, block, 1 + int(random.random() * max_blocks))

    return requests


def _read(block: int, blocks: int = PAGE) -> BlockRequest:
    return BlockRequest("R", block, blocks)


def _write(block: int) -> BlockRequest:
    return BlockRequest("W", block, PAGE)


_BUFFERED_READS = _groups(_read(0, 16), _read(4), _read(8, 16), _read(24), _read(2))

FAMILIES: dict[str, tuple[RequestGenerator, tuple[int, ...]]] = {
    "sequential reads of 64 KB": (_sequential_reads, GAPS_US),
    "reads of buffered blocks": (_BUFFERED_READS, GAPS_US),
    "reads of partly buffered blocks": (_partial_hits, GAPS_US),
    "backward reads": (_stream("R", -PAGE), GAPS_US),
    "backward writes": (_stream("W", -PAGE), GAPS_US),
    "writes of one page": (_stream("W", 0), GAPS_US),
    "reads every 16 blocks": (_stream("R", 16), GAPS_US),
    "reads every 500 blocks": (_stream("R", 500), GAPS_US),
    "two read streams": (_streams("R", "R"), GAPS_US),
    "five read streams": (_streams("R", "R", "R", "R", "R"), GAPS_US),
    "two write streams": (_streams("W", "W"), GAPS_US),
    "a read and a write stream": (_streams("R", "W"), GAPS_US),
    "write, read the same page": (_groups(_write(0), _read(0)), GAPS_US),
    "write, read the same page and more": (_groups(_write(0), _read(0, 24)), GAPS_US),
    "write, read next to it": (_groups(_write(0), _read(8), _write(1_000), _read(996)), GAPS_US),
    "read, write ahead of it, read there": (_groups(_read(0), _write(16), _read(16), _read(32)), GAPS_US),
    "ten writes, then their reads": (_writes_then_reads, GAPS_US),
    "random reads of a track": (_random_pages_of_track(0), GAPS_US),
    "random reads and writes of a track": (_random_pages_of_track(0.5), GAPS_US),
    "reads of the end of a track and behind it": (_track_ends, GAPS_US),
    "reads of 16 blocks over borders": (_borders("R", 16), (20_000,)),
    "reads of 200 blocks over borders": (_borders("R", 200), (20_000,)),
    "reads of 700 blocks over borders": (_borders("R", 700), (20_000,)),
    "writes of 16 blocks over borders": (_borders("W", 16), (20_000,)),
    "writes of 200 blocks over borders": (_borders("W", 200), (20_000,)),
    "writes of 700 blocks over borders": (_borders("W", 700), (20_000,)),
    "random mix, whole disk": (_random_mix(4_000_000, 128), (0, 20_000)),
    "random mix, 2,000 blocks": (_random_mix(2_000, 32), (2_000,)),
}
"""Requests of each family, and the gaps between them in us. Borders are those of tracks, cylinders, zones."""


@dataclass(frozen=True)
class Scenario:
    """Requests of a family, each issued a gap after the completion of the previous one."""

    family: str
    gap_us: int

    def requests(self, drive: str) -> list[BlockRequest]:
        """Return the requests for a drive."""
        generate, _ = FAMILIES[self.family]
        return list(generate(DRIVES[drive]))


SCENARIOS = tuple(Scenario(family, gap_us) for family, (_, gaps_us) in FAMILIES.items() for gap_us in gaps_us)


def main() -> None:
    """Print the requests for the drives named."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["drive", "family", "gap_us", *BlockRequest._fields])
    for drive in sys.argv[1:]:
        for scenario in SCENARIOS:
            for request in scenario.requests(drive):
                writer.writerow([drive, scenario.family, scenario.gap_us, *request])


if __name__ == "__main__":
    main()
