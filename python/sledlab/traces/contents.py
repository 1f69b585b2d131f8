"""What traces, records and other files hold, in short, wherever they lie."""

from __future__ import annotations

from functools import cache
from hashlib import file_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def content(path: Path) -> str:
    """A hash of what a file holds, worked out once in a process; of a pipe and the like, which file it is.

    Raises:
        OSError: There is no such file, or it cannot be read.
    """
    return _hashed(path, identity(path)) if path.is_file() else identity(path)


def identity(path: Path) -> str:
    """Which file it is, and in which state: another text whenever it has changed, or lies elsewhere.

    Raises:
        OSError: There is no such file.
    """
    found = path.stat()
    # Times of change can be set back, those of the change of the status cannot.
    seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return " ".join(map(str, seen))


@cache
def _hashed(path: Path, _identity: str) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
