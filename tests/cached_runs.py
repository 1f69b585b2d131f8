"""The cached runs in a directory of results, from all processes."""

from __future__ import annotations

from pathlib import Path

from sledlab.study.result_cache import RUNS, _host, files

ENDED_PROCESS = 2**22 + 1
"""Number of a process that does not run: larger than the largest of Linux."""


def ended_file(out: Path) -> Path:
    """The result file of a process that has ended; it is the first by name."""
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    return out / RUNS / f"{_host()}-{ENDED_PROCESS:016}-1.jsonl"


def cached_bytes(out: Path) -> bytes:
    """All lines as bytes, file after file."""
    return b"".join(path.read_bytes() for path in files(out))


def cached_lines(out: Path) -> list[str]:
    """All lines, without line ends."""
    return cached_bytes(out).decode().splitlines()


def write_cached_lines(out: Path, text: str | bytes) -> None:
    """Write lines to the file of a process that has ended, and remove all other files."""
    for path in files(out):
        path.unlink()
    ended_file(out).write_bytes(text.encode() if isinstance(text, str) else text)
