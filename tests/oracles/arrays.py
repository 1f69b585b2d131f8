"""Blocks that arrays read and write for a request: docs/system.md, Patterson et al. 1988.

The row of a block is its number on its device. `missing` returns the missing device of a stripe, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from tests.oracles.experiments import Request

Missing = Callable[[int], int | None]


def always(device: int | None) -> Missing:
    """The same device is missing in all stripes."""
    return lambda _stripe: device


class BlockAccess(NamedTuple):
    """An access to one block of a device."""

    stripe: int
    device: int
    row: int
    is_write: bool


@dataclass
class Raid5:
    """Left-symmetric: parity moves one device to the left with every stripe, data begin right of it."""

    devices: int
    unit: int
    device_blocks: int

    @property
    def stripes(self) -> int:
        return self.device_blocks // self.unit

    @property
    def capacity(self) -> int:
        return self.stripes * self.unit * (self.devices - 1)

    def parity(self, stripe: int) -> int:
        return self.devices - 1 - stripe % self.devices

    def place(self, block: int) -> tuple[int, int, int]:
        """Stripe, device and row of a block of data."""
        unit, position = divmod(block, self.unit)
        stripe, number = divmod(unit, self.devices - 1)
        return stripe, (self.parity(stripe) + 1 + number) % self.devices, stripe * self.unit + position

    def accesses(self, request: Request, missing: Missing) -> set[BlockAccess]:
        devices_by_row, devices_by_stripe = {}, {}
        for block in range(request.lbn, request.lbn + request.blocks):
            stripe, device, row = self.place(block)
            devices_by_row.setdefault((stripe, row), set()).add(device)
            devices_by_stripe.setdefault(stripe, set()).add(device)
        accesses = set()
        for (stripe, row), devices in devices_by_row.items():
            if request.op == "R":
                reads, writes = self.read(devices, missing(stripe)), set()
            else:
                is_small = 2 * len(devices_by_stripe[stripe]) < self.devices - 1
                reads, writes = self.write(devices, self.parity(stripe), missing(stripe), is_small=is_small)
            accesses |= {BlockAccess(stripe, device, row, False) for device in reads}
            accesses |= {BlockAccess(stripe, device, row, True) for device in writes}
        return accesses

    def read(self, devices: set[int], lost: int | None) -> set[int]:
        """A missing block needs the same row of all other devices."""
        return (set(range(self.devices)) if lost in devices else devices) - {lost}

    def write(
        self, devices: set[int], parity: int, lost: int | None, *, is_small: bool
    ) -> tuple[set[int], set[int]]:
        """Devices whose old blocks of a row are read, and devices that are written."""
        written = (devices | {parity}) - {lost}
        if lost == parity:
            return set(), written
        # Parity follows from the other data where a missing block is written, else from the old blocks.
        modifies = is_small if lost is None else lost not in devices
        return (written if modifies else set(range(self.devices)) - devices - {parity}), written

    def rebuild_accesses(self, failed: int) -> set[BlockAccess]:
        rows = range(self.stripes * self.unit)
        devices = range(self.devices)
        return {
            BlockAccess(row // self.unit, device, row, device == failed) for row in rows for device in devices
        }


@dataclass
class Mirror:
    """A read goes to the first device that has all its blocks, a rebuild reads the first intact device."""

    devices: int
    unit: int
    capacity: int

    @property
    def stripes(self) -> int:
        return -(-self.capacity // self.unit)

    def accesses(self, request: Request, missing: Missing) -> set[BlockAccess]:
        rows = range(request.lbn, request.lbn + request.blocks)
        devices = set(range(self.devices))
        if request.op == "R":
            devices = {min(devices - {missing(row // self.unit) for row in rows})}
        return {
            BlockAccess(stripe, device, row, request.op == "W")
            for stripe, row in ((row // self.unit, row) for row in rows)
            for device in devices - {missing(stripe)}
        }

    def rebuild_accesses(self, failed: int) -> set[BlockAccess]:
        devices = (1 if failed == 0 else 0, failed)
        rows = range(self.capacity)
        return {
            BlockAccess(row // self.unit, device, row, device == failed) for row in rows for device in devices
        }
