"""Blocks that arrays read and write, intact and with a failed device: docs/system.md, Patterson et al. 1988.

Every member is a `ram` that draws one microjoule for each block and takes no time for an access. So the
energy of a request is the number of blocks that it moved.
"""

from __future__ import annotations

import random

import pytest

from tests.oracles.arrays import Raid5, always
from tests.oracles.experiments import BLOCK_BYTES, Request, generators, random_experiments, simulate

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


def random_requests(generator: random.Random, blocks: int, largest: int) -> list[Request]:
    requests = []
    for number in range(40):
        length = generator.randint(1, largest)
        lbn = generator.randrange(blocks - length)
        requests.append(Request(number * GAP_US, generator.choice("RW"), lbn, length))
    return requests


@pytest.mark.parametrize("is_degraded", [False, True], ids=["intact", "degraded"])
@random_experiments(quick=100, slow=1000)
def test_raid5_moves_the_blocks_of_the_definition(seeds, is_degraded):
    for generator in generators(seeds):
        devices, unit = generator.randint(3, 7), generator.choice([1, 4, 7, 16])
        failed = generator.randrange(devices) if is_degraded else None
        requests = random_requests(generator, 1500, 3 * unit * devices)
        array = Raid5(devices, unit, 1_000_000 // BLOCK_BYTES)
        options = {} if failed is None else {"failed": str(failed)}
        moved = moved_blocks(requests, kind="raid5", devices=devices, unit_blocks=unit, **options)
        for request, actual in zip(requests, moved, strict=True):
            assert actual == len(array.accesses(request, always(failed))), (request, devices, unit, failed)


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
