"""Blocks that each device of an array reads and writes around failures and rebuilds: docs/system.md.

A stripe without a device is served as in a degraded array until its rebuild begins, and as in an intact one
afterwards, with the spare in the place of the failed device. Requests arrive alone; the rebuild goes on
between them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.arrays import BlockAccess, Mirror, Missing, Raid5, always
from tests.oracles.experiments import Access, Request, generators, random_experiments, record_accesses

DEVICE_BLOCKS = 60
GAP_US = 1_000_000
LONGEST_S = 0.01
"""More than all requests together delay a rebuild."""

Array = Raid5 | Mirror


@dataclass
class Failure:
    """A failure of one device, and the time from the rebuild of a stripe to that of the next one."""

    device: int
    at_s: float
    stripe_s: float

    def rebuild_s(self, stripe: int) -> float:
        return self.at_s + stripe * self.stripe_s

    def missing(self, now_s: float) -> Missing:
        return lambda stripe: self.device if self.at_s < now_s < self.rebuild_s(stripe) else None

    def is_rebuilding(self, stripe: int, now_s: float) -> bool:
        return 0 <= now_s - self.rebuild_s(stripe) < LONGEST_S


def served_blocks(accesses: Sequence[Sequence[Access]]) -> Counter:
    return Counter(
        (device, row, access.is_write)
        for device, served in enumerate(accesses)
        for access in served
        for row in range(access.lbn, access.lbn + access.blocks)
    )


def expected_blocks(array: Array, failure: Failure, requests: Sequence[Request]) -> Counter:
    spare, blocks = array.devices, Counter()
    for request in requests:
        now_s = request.time_us / 1e6
        for stripe, device, row, is_write in array.accesses(request, failure.missing(now_s)):
            is_spare = device == failure.device and now_s > failure.rebuild_s(stripe)
            blocks[spare if is_spare else device, row, is_write] += 1
    for _, device, row, is_write in array.rebuild_accesses(failure.device):
        blocks[spare if is_write else device, row, is_write] += 1
    return blocks


def random_array(generator: random.Random) -> Array:
    devices, unit = generator.randint(3, 6), generator.choice([1, 4, 7])
    return generator.choice([Raid5, Mirror])(devices, unit, DEVICE_BLOCKS)


def random_requests(generator: random.Random, array: Array, failure: Failure) -> list[Request]:
    """Requests that touch no stripe during its rebuild."""
    requests = []
    while len(requests) < 40:
        blocks = generator.randint(1, min(3 * array.unit * array.devices, array.capacity))
        lbn = generator.randint(0, array.capacity - blocks)
        request = Request(len(requests) * GAP_US, generator.choice("RW"), lbn, blocks)
        stripes = {access.stripe for access in array.accesses(request, always(None))}
        if not any(failure.is_rebuilding(stripe, request.time_us / 1e6) for stripe in stripes):
            requests.append(request)
    return requests


def run(requests: Sequence[Request], array: Array, **system: Any) -> tuple[dict, list[list[Access]]]:
    """The faults of the results, and the accesses of each device."""
    spares = 1 if "rebuild_mb_s" in system else 0
    system |= {"kind": type(array).__name__.lower(), "devices": array.devices, "unit_blocks": array.unit}
    settings = {f"system.{key}": value for key, value in system.items()}
    settings["device.capacity_blocks"] = DEVICE_BLOCKS
    result, accesses = record_accesses(requests, array.devices + spares, settings=settings)
    return result.summary["faults"], accesses


def count_degraded_reads(array: Array, failure: Failure, requests: Sequence[Request]) -> int:
    """Number of reads with a missing block, of which a mirror has none."""
    if isinstance(array, Mirror):
        return 0
    places = [[array.place(r.lbn + each)[:2] for each in range(r.blocks)] for r in requests if r.op == "R"]
    times_s = [request.time_us / 1e6 for request in requests if request.op == "R"]
    return sum(
        any(device == failure.missing(now_s)(stripe) for stripe, device in blocks)
        for blocks, now_s in zip(places, times_s, strict=True)
    )


@random_experiments(quick=60, slow=1000)
def test_devices_serve_blocks_before_and_after_rebuilds(seeds):
    for generator in generators(seeds):
        array, stripe_s = random_array(generator), generator.uniform(0.05, 1)
        failure = Failure(generator.randrange(array.devices), generator.randrange(25) + 0.5, stripe_s)
        requests = random_requests(generator, array, failure)
        rebuild_mb_s = array.unit * 512 / stripe_s / 1e6
        system = {"failed": failure.device, "failed_at_s": failure.at_s, "rebuild_mb_s": rebuild_mb_s}
        faults, accesses = run(requests, array, **system)
        assert served_blocks(accesses) == expected_blocks(array, failure, requests), (array, failure)
        assert faults["degraded_reads"] == count_degraded_reads(array, failure, requests)
        for access in accesses[array.devices]:
            assert access.start_ns / 1e9 > failure.rebuild_s(access.lbn // array.unit), (array, failure)
        last_s = failure.rebuild_s(array.stripes - 1) - failure.at_s
        assert 0 < faults["failed"][0]["rebuilt_after_s"] - last_s < LONGEST_S
        rebuilt = array.rebuild_accesses(failure.device)
        for name, is_write in [("read", False), ("written", True)]:
            assert faults[f"rebuild_{name}_bytes"] == 512 * sum(key.is_write == is_write for key in rebuilt)


@random_experiments(quick=100, slow=1000)
def test_second_failure_loses_stripes(seeds):
    for generator in generators(seeds):
        array = Raid5(generator.randint(3, 6), generator.choice([1, 4, 7]), DEVICE_BLOCKS)
        failed = generator.sample(range(array.devices), 2)
        at_s, lost_s = generator.randrange(10) + 0.5, generator.randrange(10, 30) + 0.5
        requests = random_requests(generator, array, Failure(failed[0], at_s, 0.0))
        faults, _ = run(requests, array, failed=failed, failed_at_s=[at_s, lost_s])
        is_lost = [array.place(block)[1] in failed for block in range(array.capacity)]
        assert faults["lost_blocks"] == sum(is_lost)
        late = [request for request in requests if request.time_us > lost_s * 1e6]
        with_loss = [any(is_lost[request.lbn : request.lbn + request.blocks]) for request in late]
        assert faults["lost_requests"] == sum(with_loss)


def durations_us(accesses: Collection[BlockAccess], *, is_write: bool) -> Counter:
    """Time of the reads or writes of each device; blocks that are neighbors take as long as others."""
    return Counter(access.device for access in accesses if access.is_write == is_write)


@random_experiments(quick=200, slow=1000)
def test_failure_restarts_requests_before_their_writes(seeds):
    for generator in generators(seeds):
        array = random_array(generator)
        stripe_blocks = array.capacity // array.stripes
        blocks = generator.randint(1, stripe_blocks)
        lbn = generator.randrange(array.stripes) * stripe_blocks + generator.randint(
            0, stripe_blocks - blocks
        )
        request = Request(GAP_US, generator.choice("RW"), lbn, blocks)
        failed, after_us = generator.randrange(array.devices), generator.randrange(2 * array.unit) + 0.5
        accesses = array.accesses(request, always(None))
        reads_us, writes_us = (durations_us(accesses, is_write=is_write) for is_write in (False, True))
        # A write needs the failing device as long as other devices are read.
        until_us = reads_us[failed] if request.op == "R" else max(reads_us.values(), default=0)
        is_restarted = bool(reads_us[failed] + writes_us[failed]) and after_us < until_us
        faults, served = run([request], array, failed=failed, failed_at_s=1 + after_us / 1e6)
        assert faults["restarted_requests"] == is_restarted, request
        expected = Counter(accesses)
        if is_restarted:
            expected = Counter(access for access in accesses if not access.is_write)
            expected.update(array.accesses(request, always(failed)))
        assert served_blocks(served) == Counter({access[1:]: times for access, times in expected.items()}), (
            request
        )
