"""Writes docs/validation.md: `python -m tests.validation.report`.

Every number in it is computed here, from replays, from the reference data, or from what the tests of the
Rust crates print.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from . import (
    reference,
    report_agreement,
    report_defects,
    report_disk_open,
    report_drives,
    report_mechanics,
    report_optimality,
    report_speed,
)

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"

INTRODUCTION = """\
# Validation

What sledlab has been compared with, and what came out. `python -m tests.validation.report` writes this page
from scratch; no number on it is typed by hand. `make validate` checks the same comparisons and fails if one
leaves its band.

Three kinds of witnesses for sleds: physics (numerical integration of the equations of motion), published
numbers, and recorded runs of the *reference simulator*, DiskSim 4.0 with its model of MEMS devices. G1, G2,
G3 are the three device generations of the literature; V1 is a made-up device whose parameters differ in
everything. Disks have a fourth kind: service times measured on real drives. None of that data is part of
sledlab; the tests look for it in `$SLEDLAB_REFERENCE`.
"""

REPLAYED: tuple[Callable[[], str], ...] = (
    report_agreement.published,
    report_agreement.check_values,
    report_agreement.families,
    report_defects.section,
)
"""Sections made of replays alone."""

ALL: tuple[Callable[[], str], ...] = (
    report_mechanics.kinematics,
    report_mechanics.tables,
    *REPLAYED,
    report_optimality.section,
    report_drives.section,
    report_disk_open.section,
    report_speed.section,
)


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(text for section in ALL if (text := section()))])


def main() -> int:
    """Writes the page; exit code 2 where there is no reference data."""
    if not reference.present():
        print(f"cannot write {PAGE.name}: {reference.MISSING}", file=sys.stderr)
        return 2
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
