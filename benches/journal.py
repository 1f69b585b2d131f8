"""An NBD client that logs acknowledged blocks, and checks them after its server was killed."""

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


class Journal:
    """The last acknowledged number of each block, and the numbers of writes in flight."""

    def __init__(self, start: int, seed: int) -> None:
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
                    client.send_request(WRITE, self._number, self.offset(slot), content(self._number))
                number = client.read_reply()
                slot = numbers.pop(number)
                self.acknowledged[slot] = number
                del self.in_flight[slot]
                self.writes += 1

    def find_lost_blocks(self, path: Path) -> list[int]:
        """Return the blocks that contain neither the last acknowledged write nor one that was in flight."""
        missing = []
        with Client(path) as client:
            for slot, number in self.acknowledged.items():
                client.send_request(READ, slot, self.offset(slot))
                client.read_reply()
                found = client.receive(BLOCK)
                if found == content(self.in_flight.get(slot, number)):
                    self.acknowledged[slot] = self.in_flight.get(slot, number)
                elif found != content(number):
                    missing.append(slot)
        return missing


def content(number: int) -> bytes:
    """Return a block filled with its number."""
    return struct.pack(">Q", number) * (BLOCK // 8)
