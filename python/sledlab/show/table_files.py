"""Files of the tables that a terminal shows: Markdown, or LaTeX, by the ending of their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable

if TYPE_CHECKING:
    from sledlab.display import DisplayedResult

ENDINGS = (".md", ".tex")
"""Endings of names of files with tables."""


def check_name(file: str | Path) -> None:
    """Refuse the name of a file to which no tables can be written.

    Raises:
        Error: The ending is unknown, or the file cannot be written.
    """
    if Path(file).suffix.lower() not in ENDINGS:
        raise Error(
            f"unknown output format of `{file}`", remedy=f"use a name that ends in {' or '.join(ENDINGS)}"
        )
    check_writable(Path(file))


def write(result: DisplayedResult, file: str | Path) -> None:
    """Write the tables of a result."""
    text = result.markdown() if Path(file).suffix.lower() == ".md" else result.latex()
    with atomic_write(Path(file)) as draft:
        draft.write_text(text, encoding="utf-8")
