"""Kept points: columns of every experiment that judges, tables and pictures read, as CSV in `lab/points`.

Pages are written from the points, so that a change of a word needs no simulation. The manifest of
`lab.evidence` has for each experiment the build and the fingerprint that its points are from.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars

from ..results import PROJECT
from .runs import COLUMNS, Planned

POINTS = PROJECT / "lab" / "points"

DIGITS = {"points": 10}
OTHER_DIGITS = 7
"""Significant digits that are kept, by table; pages print up to nine of single runs."""


def kept() -> set[str]:
    """Return the places of the experiments with kept points."""
    return {folder.name for folder in POINTS.iterdir() if folder.is_dir()}


@contextmanager
def overlaid(plan: Sequence[Planned], ran: Mapping[str, Path]) -> Iterator[Path]:
    """A directory with the experiments that ran, and the kept points of all others."""
    with tempfile.TemporaryDirectory(prefix="sledlab-points-") as name:
        directory = Path(name)
        for planned in plan:
            (directory / planned.place).symlink_to(ran.get(planned.place, POINTS / planned.place))
        yield directory


def keep(plan: Sequence[Planned], directory: Path) -> None:
    """Keep, of the tables of some experiments in `directory`, the columns that were read up to now."""
    for planned in plan:
        place = POINTS / planned.place
        shutil.rmtree(place, ignore_errors=True)
        for file, columns in COLUMNS.items():
            if file.parent == directory / planned.place:
                _reduced(file, columns, place / file.name)


def _reduced(file: Path, columns: set[str], to: Path) -> None:
    """Writes some columns of a table, with the digits that are kept."""
    frame = polars.read_csv(file, infer_schema_length=None)
    wanted = [name for name in frame.columns if name in columns]
    digits = DIGITS.get(file.stem, OTHER_DIGITS)
    rounded = frame.select(
        polars.col(name).round_sig_figs(digits) if frame[name].dtype.is_float() else polars.col(name)
        for name in wanted
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    rounded.write_csv(to)
