"""Pages that flash reads and programs and blocks that it erases, from docs/device.md.

The model maps every page of the host to a page of a die and collects the block with the fewest valid pages.
The energies of reading, erasing and programming are powers of ten in microjoules, so that the energy of a
request has the three counts as groups of decimal digits. Controller and channels draw next to nothing.
"""

from __future__ import annotations

import random
from math import ceil
from typing import Any, NamedTuple

from tests.oracles.experiments import Request, generators, random_experiments, simulate

GAP_US = 1_000_000
PROGRAM_UJ, ERASE_UJ, READ_UJ = 1, 10_000, 1_000_000
TIMES_AND_POWERS = {
    "program_us": 10.0,
    "program_mw": PROGRAM_UJ * 100.0,
    "erase_us": 100.0,
    "erase_mw": ERASE_UJ * 10.0,
    "read_us": 10_000.0,
    "read_mw": READ_UJ / 10.0,
    "channel_mw": 0.0,
    "active_mw": 0.001,
    "idle_mw": 0.0,
}


class Counts(NamedTuple):
    """Operations of dies for a request."""

    reads: int
    erases: int
    programs: int


class Die:
    """Blocks of pages; None stands for an invalid page."""

    def __init__(self, blocks: int, pages_per_block: int, gc_free_blocks: int) -> None:
        self.pages_per_block, self.gc_free_blocks = pages_per_block, gc_free_blocks
        self.pages: list[list[int | None]] = [[] for _ in range(blocks)]
        self.block_by_page: dict[int, int] = {}
        self.erased, self.open = list(range(1, blocks)), 0
        self.closed: list[int] = []
        """Full blocks, last the one whose number of valid pages changed last; the open block is not one."""
        self.victim, self.writes_left = None, 0

    def valid(self, block: int) -> list[int]:
        return [page for page in self.pages[block] if page is not None]

    def has_room(self) -> bool:
        """Whether the die keeps its erased blocks, an open block and a victim without more data."""
        usable = (len(self.pages) - self.gc_free_blocks - 2) * self.pages_per_block
        return len(self.block_by_page) < usable

    def program(self, page: int) -> None:
        if len(self.pages[self.open]) == self.pages_per_block:
            self.closed.append(self.open)
            self.open = self.erased.pop(0)
        self.pages[self.open].append(page)
        self.block_by_page[page] = self.open

    def invalidate(self, page: int) -> None:
        block = self.block_by_page.pop(page)
        self.pages[block][self.pages[block].index(page)] = None
        if block in self.closed:
            self.closed.remove(block)
            self.closed.append(block)

    def collect(self) -> tuple[int, int]:
        """Move the share of one write, and return the numbers of pages moved and blocks erased."""
        if self.victim is None and len(self.erased) <= self.gc_free_blocks:
            self.victim = min(reversed(self.closed), key=lambda block: len(self.valid(block)))
            self.writes_left = self.pages_per_block - len(self.valid(self.victim))
        if self.victim is None:
            return 0, 0
        valid = self.valid(self.victim)
        moved = valid[: ceil(len(valid) / max(self.writes_left, 1))]
        for page in moved:
            self.invalidate(page)
            self.program(page)
        self.writes_left -= 1
        if len(moved) < len(valid):
            return len(moved), 0
        self.closed.remove(self.victim)
        self.pages[self.victim] = []
        self.erased.append(self.victim)
        self.victim = None
        return len(moved), 1


class Flash:
    """Dies that the pages of the host go to in turn."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.page_blocks = 2 * params["page_kb"]
        dies = params["channels"] * params["dies_per_channel"]
        blocks, pages_per_block = params["blocks_per_die"], params["pages_per_block"]
        self.dies = [Die(blocks, pages_per_block, params["gc_free_blocks"]) for _ in range(dies)]
        pages = int(dies * blocks * pages_per_block / (1 + params["over_provisioning"]))
        self.capacity = pages * self.page_blocks
        self.die_by_page: dict[int, Die] = {}
        self.turn = 0
        for page in range(round(pages * params["filled"])):
            self.next_die(page).program(page)
        self.turn = 0

    def next_die(self, page: int) -> Die:
        die = None
        while die is None or not die.has_room():
            die = self.dies[self.turn % len(self.dies)]
            self.turn += 1
        self.die_by_page[page] = die
        return die

    def serve(self, request: Request) -> Counts:
        end = request.lbn + request.blocks
        pages = range(request.lbn // self.page_blocks, ceil(end / self.page_blocks))
        if request.op == "R":
            return Counts(len(pages), 0, 0)
        reads = erases = programs = 0
        for page in pages:
            first = page * self.page_blocks
            is_partial = request.lbn > first or end < first + self.page_blocks
            reads += is_partial and page in self.die_by_page
            moved, erased = self.write(page)
            reads, erases, programs = reads + moved, erases + erased, programs + moved + 1
        return Counts(reads, erases, programs)

    def write(self, page: int) -> tuple[int, int]:
        """Pages moved and blocks erased before the page is programmed."""
        if page in self.die_by_page:
            self.die_by_page[page].invalidate(page)
        die = self.next_die(page)
        collected = die.collect()
        die.program(page)
        return collected


def random_flash(generator: random.Random) -> dict[str, Any]:
    free, blocks = generator.randint(1, 3), generator.randint(12, 20)
    spare = free + generator.randint(3, 5)
    return {
        "channels": generator.randint(1, 2),
        "dies_per_channel": generator.randint(1, 2),
        "blocks_per_die": blocks,
        "pages_per_block": generator.choice([2, 4, 7, 16]),
        "page_kb": generator.choice([1, 2]),
        "over_provisioning": spare / (blocks - spare),
        "filled": generator.choice([0.0, generator.random(), 1.0]),
        "gc_free_blocks": free,
        "precondition": "sequential",
        "queue_depth": generator.choice([1, 32]),
    }


def random_requests(generator: random.Random, capacity: int, page_blocks: int) -> list[Request]:
    requests = []
    for number in range(150):
        most = 6 * page_blocks
        blocks = generator.choice([page_blocks, page_blocks, generator.randint(1, most)])
        lbn = int((capacity - most + 1) * generator.random() ** 2)
        lbn -= generator.choice([0, lbn % page_blocks])
        op = "W" if generator.random() < 0.8 else "R"
        requests.append(Request(number * GAP_US, op, lbn, blocks))
    return requests


@random_experiments(quick=60, slow=1000)
def test_requests_take_the_operations_of_the_definition(seeds):
    for generator in generators(seeds):
        params = random_flash(generator)
        flash = Flash(params)
        requests = random_requests(generator, flash.capacity, flash.page_blocks)
        settings = {f"device.{key}": value for key, value in (params | TIMES_AND_POWERS).items()}
        rows = simulate(requests, "ssd-tlc", power="never", settings=settings).requests.sort("id")
        for request, energy_uj in zip(requests, (rows["seek_uj"] + rows["access_uj"]).to_list(), strict=True):
            reads, rest = divmod(round(energy_uj), READ_UJ)
            assert Counts(reads, *divmod(rest, ERASE_UJ)) == flash.serve(request), (params, request)
