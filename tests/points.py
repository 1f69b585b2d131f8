"""The points that are kept in a directory of results, whichever processes wrote them."""

from __future__ import annotations

from pathlib import Path

from sledlab.study.kept import files


def kept_bytes(out: Path) -> bytes:
    """All lines; a file is followed by that of the next process."""
    return b"".join(path.read_bytes() for path in files(out))


def kept_lines(out: Path) -> list[str]:
    """All lines, without their ends."""
    return kept_bytes(out).decode().splitlines()


def keep(out: Path, text: str | bytes) -> None:
    """Leaves lines as an older version did, in one file; those of all others are gone."""
    for path in files(out):
        path.unlink()
    (out / "points.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
