"""Blocks that arrays read and write, intact and with a failed device: docs/system.md, Patterson et al. 1988.

Every member is a `ram` that draws one microjoule for each block and takes no time for an access. So the
energy of a request is the number of blocks that it moved.
"""

from __future__ import annotations

import random

import pytest

from tests.oracles.experiments import Request, generators, random_experiments, simulate

GAP_US = 1_000_000
MEMBER = {
    "device.access_us": 0.0,
    "device.bus_mb_s": 512.0,
    "device.active_mw": 1000.0,
    "device.capacity_mb": 1,
}


def moved_blocks(requests: list[Request], **system) -> list[int]:
    settings = {**MEMBER, **{f"system.{key}": value for key, value in system.items()}}
    rows = simulate(requests, "ram", settings=settings).requests.sort("id")
    return [round(energy) for energy in (rows["seek_uj"] + rows["access_uj"]).to_list()]


class Raid5:
    """Left-symmetric: parity moves one device to the left with every stripe, data begin right of it."""

    def __init__(self, devices: int, unit: int, failed: int | None) -> None:
        self.devices, self.unit, self.failed = devices, unit, failed

    def device(self, stripe: int, unit: int) -> int:
        return (self.parity(stripe) + 1 + unit) % self.devices

    def parity(self, stripe: int) -> int:
        return self.devices - 1 - stripe % self.devices

    def moved(self, request: Request) -> int:
        by_stripe: dict[int, list[set[int]]] = {}
        data_units = self.devices - 1
        for block in range(request.lbn, request.lbn + request.blocks):
            stripe, unit = divmod(block // self.unit, data_units)
            units = by_stripe.setdefault(stripe, [set() for _ in range(data_units)])
            units[unit].add(block % self.unit)
        count = self.read if request.op == "R" else self.write
        return sum(count(stripe, units) for stripe, units in by_stripe.items())

    def read(self, stripe: int, units: list[set[int]]) -> int:
        """Missing blocks need the same positions of all other devices."""
        missing = set().union(
            *(at for unit, at in enumerate(units) if self.device(stripe, unit) == self.failed)
        )
        present = [at | missing for unit, at in enumerate(units) if self.device(stripe, unit) != self.failed]
        return sum(map(len, present)) + len(missing)

    def write(self, stripe: int, units: list[set[int]]) -> int:
        """Blocks written, and those from which parity is computed."""
        present = [at for unit, at in enumerate(units) if self.device(stripe, unit) != self.failed]
        written, positions = sum(map(len, present)), set().union(*units)
        if self.parity(stripe) == self.failed:
            return written
        missing = [at for unit, at in enumerate(units) if self.device(stripe, unit) == self.failed]
        is_small = 2 * sum(bool(at) for at in units) < len(units)
        reads = 0
        for position in positions:
            old = sum(position in at for at in present)
            others = len(present) - old
            # With a missing unit, parity follows from the other data only where that unit is written.
            modifies = position not in missing[0] if missing else is_small
            reads += old + 1 if modifies else others
        return reads + written + len(positions)


def random_requests(generator: random.Random, blocks: int, largest: int) -> list[Request]:
    requests = []
    for number in range(40):
        length = generator.randint(1, largest)
        lbn = generator.randrange(blocks - length)
        requests.append(Request(number * GAP_US, generator.choice("RW"), lbn, length))
    return requests


@pytest.mark.parametrize("is_degraded", [False, True], ids=["intact", "degraded"])
@random_experiments(quick=100, slow=1500)
def test_raid5_moves_the_blocks_of_the_definition(seeds, is_degraded):
    for generator in generators(seeds):
        devices, unit = generator.randint(3, 7), generator.choice([1, 4, 7, 16])
        failed = generator.randrange(devices) if is_degraded else None
        requests = random_requests(generator, 1500, 3 * unit * devices)
        model = Raid5(devices, unit, failed)
        options = {} if failed is None else {"failed": str(failed)}
        moved = moved_blocks(requests, kind="raid5", devices=devices, unit_blocks=unit, **options)
        for request, actual in zip(requests, moved, strict=True):
            assert actual == model.moved(request), (request, devices, unit, failed)


@random_experiments(quick=100, slow=1000)
def test_other_arrays_move_each_block_once_per_copy(seeds):
    for generator in generators(seeds):
        kind, devices = generator.choice(["stripe", "concatenation", "mirror"]), generator.randint(2, 6)
        failed = generator.sample(range(devices), generator.randrange(devices)) if kind == "mirror" else []
        options = {"failed": str(failed)} if failed else {}
        copies = devices - len(failed) if kind == "mirror" else 1
        requests = random_requests(generator, 1500, 200)
        moved = moved_blocks(requests, kind=kind, devices=devices, unit_blocks=16, **options)
        assert moved == [request.blocks * (copies if request.op == "W" else 1) for request in requests]
