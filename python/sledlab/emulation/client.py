"""A small client of served devices: a connection that speaks as much of NBD as reads and writes need."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

BLOCK = 4096
"""Bytes of a request."""

GREETING = struct.Struct(">8s8sH")
CLIENT_OPTION = struct.Struct(">I8sII")
EXPORT = struct.Struct(">QH")
REQUEST = struct.Struct(">IHHQQI")
REPLY = struct.Struct(">IIQ")
REQUEST_MAGIC, REPLY_MAGIC = 0x25609513, 0x67446698
READ, WRITE = 0, 1
FORCE_UNIT_ACCESS = 1
CLIENT_FLAGS = 3
"""Flags of the client in the protocol's handshake: fixed newstyle, no zeroes as padding."""


class ConnectionLostError(Exception):
    """The error that the connection to the server is lost."""


class Client:
    """A connection that is ready for requests, or without `greet`, one before the handshake."""

    def __init__(self, path: str | Path, *, greet: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.size_bytes = 0
        self._path, self._greet = path, greet

    def __enter__(self) -> Self:
        """Connect."""
        try:
            self.socket.connect(str(self._path))
            magic, _, _ = GREETING.unpack(self.receive(GREETING.size))
            assert magic == b"NBDMAGIC"
            if self._greet:
                self.send(CLIENT_OPTION.pack(CLIENT_FLAGS, b"IHAVEOPT", 1, 0))
                self.size_bytes, _ = EXPORT.unpack(self.receive(EXPORT.size))
        except (OSError, ConnectionLostError) as error:
            self.socket.close()
            raise ConnectionLostError from error
        return self

    def __exit__(self, *_: object) -> None:
        """Hangs up."""
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send all of `data`."""
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise ConnectionLostError from error

    def receive(self, length: int) -> bytes:
        """Receive `length` bytes."""
        parts = bytearray()
        while len(parts) < length:
            try:
                part = self.socket.recv(length - len(parts))
            except OSError as error:
                raise ConnectionLostError from error
            if not part:
                raise ConnectionLostError
            parts += part
        return bytes(parts)

    def send_request(
        self, kind: int, number: int, offset: int, data: bytes = b"", *, is_durable: bool = False
    ) -> None:
        """Send a request of one block; a `is_durable` write is acknowledged when it is on a medium."""
        self.send(
            REQUEST.pack(REQUEST_MAGIC, FORCE_UNIT_ACCESS * is_durable, kind, number, offset, BLOCK) + data
        )

    def read_reply(self) -> int:
        """Wait for the next reply, which must report no error; return the number of its request."""
        magic, error, number = REPLY.unpack(self.receive(REPLY.size))
        assert (magic, error) == (REPLY_MAGIC, 0)
        return int(number)
