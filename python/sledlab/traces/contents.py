"""Hashes of the contents of traces, records and other files, and identities of files."""

from __future__ import annotations

from functools import cache
from hashlib import file_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def content(path: Path) -> str:
    """A hash of a file's content, computed once in a process; for a pipe and the like, its `identity`.

    Raises:
        OSError: There is no such file, or it cannot be read.
    """
    return _hash_file(path, identity(path)) if path.is_file() else identity(path)


def identity(path: Path) -> str:
    """A text for a file and its state: another one for a changed file, or one that was moved or replaced.

    Raises:
        OSError: There is no such file.
    """
    status = path.stat()
    # The time of modification (mtime) can be set back, that of the last change of status (ctime) cannot.
    state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, state))


@cache
def _hash_file(path: Path, _identity: str) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
