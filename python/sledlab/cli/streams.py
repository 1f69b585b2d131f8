"""Standard output and error as they are found: of any encoding, closed, full, or left by their readers."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from sledlab.legible import HANDLER

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = ("<stdout>", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Standard output, as errors name it."""

LOST = "cannot write: "
GONE = "Broken pipe"
"""How the simulator says that it cannot write, and that the reader of a pipe has left."""


class WriteError(Exception):
    """Standard output cannot be written; no `OSError`, which libraries would answer in their own ways.

    Attributes:
        reason: Why, in words.
        left: Whether it has a reader who has left: nothing is wrong then, and nothing more to say.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reason = error.strerror or str(error)
        self.left = error.errno == errno.EPIPE


class _Output(io.FileIO):
    """Standard output."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes, and says so where it cannot."""
        try:
            return super().write(data)
        except OSError as error:
            raise WriteError(error) from error


class _News(io.FileIO):
    """Standard error: news that nobody can read is no reason to stop."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes as far as it can."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare() -> None:
    """Makes the standard streams fit for whatever they lead to; for a process that runs one command."""
    _open_what_is_closed()
    sys.stdout = _made(sys.stdout, 1, _Output)
    sys.stderr = _made(sys.stderr, 2, _News)


def _open_what_is_closed() -> None:
    """Has closed standard streams lead nowhere, or the next files to be opened would take their places."""
    while (place := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(place)


def _made(old: TextIO | None, number: int, kind: type[io.FileIO]) -> TextIO:
    """A stream like the old one that replaces what it cannot encode; a terminal is only told to."""
    if isinstance(old, io.TextIOWrapper) and old.isatty():
        old.reconfigure(errors=HANDLER)
        return old
    if old is not None and not isinstance(old, io.TextIOWrapper):
        return old
    at_once = old is not None and old.write_through  # as PYTHONUNBUFFERED wants it
    raw = kind(number, "wb", closefd=False)
    return io.TextIOWrapper(
        cast("BinaryIO", raw) if at_once else io.BufferedWriter(raw),
        encoding="utf-8" if old is None else old.encoding,
        errors=HANDLER,
        line_buffering=number == 2,
        write_through=at_once,
    )


def leave() -> None:
    """Drops what has not been written: standard output leads nowhere from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
