"""A client of NBD that notes acknowledged blocks, and looks for them after its server died."""

from __future__ import annotations

import random
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 4096
DEPTH = 8
SLOTS = 1024
"""Number of blocks that are overwritten again and again."""

GREETED = struct.Struct(">8s8sH")
NAMED = struct.Struct(">I8sII")
EXPORT = struct.Struct(">QH")
REQUEST = struct.Struct(">IHHQQI")
REPLY = struct.Struct(">IIQ")
ASKS, ANSWERS = 0x25609513, 0x67446698
READ, WRITE = 0, 1
NO_ZEROES = 3
"""Flags of the client in the protocol's handshake: fixed newstyle, no zeroes as padding."""


class LostError(Exception):
    """The error that the connection to the server is lost."""


class Client:
    """A connection that is ready for requests, or without `greet`, one before the handshake."""

    def __init__(self, path: Path, *, greet: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.bytes = 0
        self._path, self._greet = path, greet

    def __enter__(self) -> Client:
        """Connects."""
        try:
            self.socket.connect(str(self._path))
            magic, _, _ = GREETED.unpack(self.receive(GREETED.size))
            assert magic == b"NBDMAGIC"
            if self._greet:
                self.send(NAMED.pack(NO_ZEROES, b"IHAVEOPT", 1, 0))
                self.bytes, _ = EXPORT.unpack(self.receive(EXPORT.size))
        except (OSError, LostError) as error:
            self.socket.close()
            raise LostError from error
        return self

    def __exit__(self, *_: object) -> None:
        """Hangs up."""
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Sends all of `data`."""
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise LostError from error

    def receive(self, length: int) -> bytes:
        """Receives `length` bytes."""
        parts = bytearray()
        while len(parts) < length:
            try:
                part = self.socket.recv(length - len(parts))
            except OSError as error:
                raise LostError from error
            if not part:
                raise LostError
            parts += part
        return bytes(parts)

    def ask(self, kind: int, number: int, offset: int, data: bytes = b"") -> None:
        """Sends a request of one block."""
        self.send(REQUEST.pack(ASKS, 0, kind, number, offset, BLOCK) + data)

    def answered(self) -> int:
        """Waits for the next reply, which must report no error; returns the number of its request."""
        magic, error, number = REPLY.unpack(self.receive(REPLY.size))
        assert (magic, error) == (ANSWERS, 0)
        return int(number)


class Journal:
    """For each block the last acknowledged number, and the numbers of writes in flight."""

    def __init__(self, start: int, seed: int) -> None:
        self.acknowledged: dict[int, int] = {}
        self.under_way: dict[int, int] = {}
        self.writes = 0
        self._start = start
        self._number = 0
        self._rng = random.Random(seed)

    def offset(self, slot: int) -> int:
        """Address of a block on the device, in bytes."""
        return self._start + slot * BLOCK

    def write(self, path: Path) -> None:
        """Writes one block after another, several in flight at a time, until the server is lost."""
        self.under_way.clear()
        numbers: dict[int, int] = {}
        with suppress(LostError), Client(path) as client:
            while True:
                while len(self.under_way) < DEPTH:
                    slot = self._rng.randrange(SLOTS)
                    if slot in self.under_way:
                        continue
                    self._number += 1
                    self.under_way[slot] = self._number
                    numbers[self._number] = slot
                    client.ask(WRITE, self._number, self.offset(slot), content(self._number))
                number = client.answered()
                slot = numbers.pop(number)
                self.acknowledged[slot] = number
                del self.under_way[slot]
                self.writes += 1

    def lost(self, path: Path) -> list[int]:
        """Blocks that hold neither the last acknowledged content nor one that was in flight."""
        missing = []
        with Client(path) as client:
            for slot, number in self.acknowledged.items():
                client.ask(READ, slot, self.offset(slot))
                client.answered()
                found = client.receive(BLOCK)
                if found == content(self.under_way.get(slot, number)):
                    self.acknowledged[slot] = self.under_way.get(slot, number)
                elif found != content(number):
                    missing.append(slot)
        return missing


def content(number: int) -> bytes:
    """A block filled with its number."""
    return struct.pack(">Q", number) * (BLOCK // 8)
