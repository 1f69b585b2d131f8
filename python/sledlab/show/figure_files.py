"""Files of single figures: their names, and writing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import later

if TYPE_CHECKING:
    from matplotlib.figure import Figure

style = later("sledlab.show.plots:style")

FORMATS = ("pdf", "svg", "png")
"""Formats of figures, which are also the endings of their names."""


def check_name(file: str | Path) -> None:
    """Refuse the name of a file to which no figure can be written.

    Raises:
        Error: The ending is unknown.
    """
    if Path(file).suffix.lower().removeprefix(".") not in FORMATS:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        raise Error(f"unknown output format of `{file}`", remedy=f"use a name that ends in {endings}")


def write(figure: Figure, file: str | Path) -> None:
    """Write a figure in the format of the file's ending."""
    with style(), atomic_write(Path(file)) as draft:
        figure.savefig(draft, dpi=200)
