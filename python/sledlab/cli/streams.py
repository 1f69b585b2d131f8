"""Standard output and error for any encoding, and for streams that are closed, full or not read."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from sledlab.terminal_text import HANDLER

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = ("<stdout>", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names that errors have for standard output."""

WRITE_ERROR_PREFIX = "cannot write: "
BROKEN_PIPE = "Broken pipe"
"""How the simulator's messages begin when it cannot write, and what they hold when a pipe is closed."""


class WriteError(Exception):
    """Standard output cannot be written; no `OSError`, because libraries would handle that themselves.

    Attributes:
        reason: Why it cannot be written, in words.
        reader_closed: Whether its reader has closed the pipe: that is no error, and gets no message.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reason = error.strerror or str(error)
        self.reader_closed = error.errno == errno.EPIPE


class _Output(io.FileIO):
    """Standard output."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, and raise `WriteError` where that fails."""
        try:
            return super().write(data)
        except OSError as error:
            raise WriteError(error) from error


class _ErrorOutput(io.FileIO):
    """Standard error: a message that cannot be written does not stop the program."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; where that fails, drop the data as if it were written."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare() -> None:
    """Prepare standard streams for any encoding and for failing writes; the process runs one command."""
    if not re.fullmatch("[1-9][0-9]{0,3}", os.environ.get("COLUMNS", "80")):
        del os.environ["COLUMNS"]  # rich fails on digits such as ², and fills lines of any width
    _open_closed_streams()
    sys.stdout = _replacing_stream(sys.stdout, 1, _Output)
    sys.stderr = _replacing_stream(sys.stderr, 2, _ErrorOutput)


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, or the next files opened would get their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _replacing_stream(stream: TextIO | None, number: int, file_class: type[io.FileIO]) -> TextIO:
    """A stream like the old one that replaces characters it cannot encode; a terminal is reconfigured so."""
    if isinstance(stream, io.TextIOWrapper) and stream.isatty():
        stream.reconfigure(errors=HANDLER)
        return stream
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    is_unbuffered = stream is not None and stream.write_through  # as PYTHONUNBUFFERED wants it
    raw = file_class(number, "wb", closefd=False)
    return io.TextIOWrapper(
        cast("BinaryIO", raw) if is_unbuffered else io.BufferedWriter(raw),
        encoding="utf-8" if stream is None else stream.encoding,
        errors=HANDLER,
        line_buffering=number == 2,
        write_through=is_unbuffered,
    )


def discard_output() -> None:
    """Drop buffered output: standard output leads to the null device from now on."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, 1)
    os.close(null_device)
