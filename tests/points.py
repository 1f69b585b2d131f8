"""The kept points in a directory of results, whichever processes wrote them."""

from __future__ import annotations

from pathlib import Path

from sledlab.study.kept import files


def kept_bytes(out: Path) -> bytes:
    """All lines as bytes, file after file."""
    return b"".join(path.read_bytes() for path in files(out))


def kept_lines(out: Path) -> list[str]:
    """All lines, without line ends."""
    return kept_bytes(out).decode().splitlines()


def keep(out: Path, text: str | bytes) -> None:
    """Writes lines to the single file of older versions, and removes all other files."""
    for path in files(out):
        path.unlink()
    (out / "points.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
