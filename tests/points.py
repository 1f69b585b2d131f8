"""The kept points in a directory of results, whichever processes wrote them."""

from __future__ import annotations

from pathlib import Path

from sledlab.study.result_cache import POINTS, _host, files

ENDED = 2**22 + 1
"""Number of a process that does not run: larger than the largest of Linux."""


def ended_file(out: Path) -> Path:
    """The file of points of a process that has ended; it is the first by name."""
    (out / POINTS).mkdir(parents=True, exist_ok=True)
    return out / POINTS / f"{_host()}-{ENDED:016}-1.jsonl"


def kept_bytes(out: Path) -> bytes:
    """All lines as bytes, file after file."""
    return b"".join(path.read_bytes() for path in files(out))


def kept_lines(out: Path) -> list[str]:
    """All lines, without line ends."""
    return kept_bytes(out).decode().splitlines()


def keep(out: Path, text: str | bytes) -> None:
    """Write lines to the file of a process that has ended, and remove all other files."""
    for path in files(out):
        path.unlink()
    ended_file(out).write_bytes(text.encode() if isinstance(text, str) else text)
