"""Writes docs/validation.md from what was measured: `python -m lab.validation [--as-left]`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .. import reference
from ..page import fill, write
from ..results import RESULTS, Left, sources
from . import agreement, arrays, defects, disk_open, disk_queue, drives, mechanics, published, speed
from .section import ValidationSection

PAGE = "validation.md"

REPLAYED: tuple[ValidationSection[Any], ...] = (
    published.NUMBERS,
    published.CHECKS,
    agreement.SECTION,
    defects.SECTION,
)
"""Sections whose results come from replays alone."""

SECTIONS: tuple[ValidationSection[Any], ...] = (
    mechanics.KINEMATICS,
    mechanics.TABLES,
    *REPLAYED,
    mechanics.OPTIMALITY,
    drives.SECTION,
    disk_open.SECTION,
    disk_queue.SECTION,
    arrays.SECTION,
    speed.SECTION,
)


def found(section: ValidationSection[Any], *, as_left: bool) -> Left[Any]:
    """The results of a section: those left with these sources, or measured now; with `as_left`, any left."""
    left = section.left()
    if left and left.stale:
        print(
            f"{section.name}: results of sources {left.sources}, which are {sources()} now", file=sys.stderr
        )
    if left and (as_left or not left.stale):
        return left
    print(f"measuring: {section.name}", flush=True)
    return Left(sources(), section.leave())


def page(*, as_left: bool = False) -> str:
    """The whole page."""
    all_found = {section: found(section, as_left=as_left) for section in SECTIONS}
    hashes = ", ".join(f"`{of}`" for of in dict.fromkeys(left.sources for left in all_found.values()))
    introduction = fill("validation/text/introduction.md", sources=hashes)
    return "\n".join([introduction, *(section.text(left.found) for section, left in all_found.items())])


def main() -> int:
    """Writes the page; exit code 2 where there is no reference data."""
    parser = argparse.ArgumentParser(prog="python -m lab.validation", description=__doc__)
    parser.add_argument(
        "--as-left",
        action="store_true",
        help=f"measure nothing again of what is in {RESULTS.name}/validation",
    )
    given = parser.parse_args()
    if not reference.present():
        print(f"cannot write {PAGE}: {reference.MISSING}", file=sys.stderr)
        return 2
    write(page(as_left=given.as_left), PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
