"""An NBD client that logs acknowledged blocks, and checks them after a failure of its server or device."""

from __future__ import annotations

import random
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

from sledlab.emulation.client import BLOCK, READ, WRITE, Client, ConnectionLostError

if TYPE_CHECKING:
    from pathlib import Path

DEPTH = 8
SLOTS = 1024
"""Number of blocks that are overwritten repeatedly."""

SECTOR = 512
"""Bytes that a power failure leaves complete: the old ones or the new ones."""


class Journal:
    """The last acknowledged number of each block, and the numbers of writes in flight.

    Where `durable`, each write has FUA (force unit access), so it is durable behind a volatile cache, too.
    """

    def __init__(self, start: int, seed: int, *, durable: bool = False) -> None:
        self._durable = durable
        self.acknowledged: dict[int, int] = {}
        self.in_flight: dict[int, int] = {}
        self.writes = 0
        self._start = start
        self._number = 0
        self._rng = random.Random(seed)

    def offset(self, slot: int) -> int:
        """Return the address of a block on the device, in bytes."""
        return self._start + slot * BLOCK

    def write(self, path: Path) -> None:
        """Write blocks, several in flight at a time, until the connection to the server is lost."""
        self.in_flight.clear()
        numbers: dict[int, int] = {}
        with suppress(ConnectionLostError), Client(path) as client:
            while True:
                while len(self.in_flight) < DEPTH:
                    slot = self._rng.randrange(SLOTS)
                    if slot in self.in_flight:
                        continue
                    self._number += 1
                    self.in_flight[slot] = self._number
                    numbers[self._number] = slot
                    data = content(self._number)
                    client.send_request(
                        WRITE, self._number, self.offset(slot), data, is_durable=self._durable
                    )
                number = client.read_reply()
                slot = numbers.pop(number)
                self.acknowledged[slot] = number
                del self.in_flight[slot]
                self.writes += 1

    def find_lost_blocks(self, path: Path, *, by_sector: bool = False) -> list[int]:
        """Return the blocks that contain neither the last acknowledged write nor one that was in flight.

        Where `by_sector`, as after a power failure, a block may contain sectors of both.
        """
        lost_slots = []
        with Client(path) as client:
            for slot, number in list(self.acknowledged.items()):
                client.send_request(READ, slot, self.offset(slot))
                client.read_reply()
                block = client.receive(BLOCK)
                latest = self.in_flight.get(slot, number)
                if block == content(latest):
                    self.acknowledged[slot] = latest
                elif by_sector and _is_mixed(block, number, latest):
                    del self.acknowledged[slot]  # no write is complete until the next one
                elif block != content(number):
                    lost_slots.append(slot)
        return lost_slots


def _is_mixed(block: bytes, *numbers: int) -> bool:
    """Return whether some sectors of a block are of one of two writes, and the others of the other."""
    sectors = {block[start : start + SECTOR] for start in range(0, BLOCK, SECTOR)}
    return sectors == {content(number)[:SECTOR] for number in numbers}


def content(number: int) -> bytes:
    """Return a block filled with its number."""
    return struct.pack(">Q", number) * (BLOCK // 8)
