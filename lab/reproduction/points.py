"""Kept points: columns of every experiment that judges, tables and pictures read, as CSV in `lab/points`.

Pages are written from them, so that nobody has to run for an hour to change a word. `lab/points/index.csv`
has for each experiment the sources that its points were computed with, and the latest sources with which its
short run still gave the same result. An experiment runs again where its file or its options have changed, or
where its short run gives another result.
"""

from __future__ import annotations

import csv
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import polars

from ..results import PROJECT, sources
from ..simulator import EXPERIMENTS
from .fingerprint import fingerprints
from .runs import COLUMNS, Planned

POINTS = PROJECT / "lab" / "points"
INDEX = "index.csv"

DIGITS = {"points": 10}
OTHER_DIGITS = 7
"""Significant digits that are kept, by table; pages print up to nine of single runs."""


@dataclass(frozen=True)
class KeptPoints:
    """The kept points of an experiment.

    Attributes:
        place: Their folder.
        asked: The hash of the experiment's file and options.
        sources: The hash of the sources that they were computed with.
        stands: The hash of the latest sources with which a short run gave the same result as with `sources`.
        fingerprint: The hash of that short run's result; empty where it was not run.
    """

    place: str
    asked: str
    sources: str
    stands: str
    fingerprint: str

    def is_of(self, planned: Planned) -> bool:
        """Whether the experiment's file and options are still the same, whatever the sources."""
        return self.asked == asked(planned)


def asked(planned: Planned) -> str:
    """The hash of an experiment's file and options."""
    digest = hashlib.sha256((EXPERIMENTS / f"{planned.experiment}.toml").read_bytes())
    # Only names of files: traces are in other directories on other machines.
    digest.update("\0".join(Path(word).name for word in planned.options).encode())
    return digest.hexdigest()[:12]


def index() -> dict[str, KeptPoints]:
    """The kept points, by the place of the experiment."""
    file = POINTS / INDEX
    if not file.is_file():
        return {}
    with file.open(newline="", encoding="utf-8") as rows:
        return {row["place"]: KeptPoints(**row) for row in csv.DictReader(rows)}


def _write(kept: Mapping[str, KeptPoints]) -> None:
    with (POINTS / INDEX).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(KeptPoints))
        writer.writerows(astuple(each) for _, each in sorted(kept.items()))


def stale(plan: Sequence[Planned]) -> list[Planned]:
    """Experiments without kept points, or whose points are not known to be valid for these sources."""
    kept = index()
    return [
        each
        for each in plan
        if each.place not in kept or not kept[each.place].is_of(each) or kept[each.place].stands != sources()
    ]


def confirm(plan: Sequence[Planned]) -> None:
    """Notes which points are valid for these sources: those whose short run gives the result as before."""
    kept = index()
    others = [each for each in stale(plan) if each.place in kept and kept[each.place].is_of(each)]
    found = fingerprints([each for each in others if kept[each.place].fingerprint])
    same = [place for place, fingerprint in found.items() if fingerprint == kept[place].fingerprint]
    if same:
        _write(kept | {place: replace(kept[place], stands=sources()) for place in same})


@contextmanager
def overlaid(plan: Sequence[Planned], ran: Mapping[str, Path]) -> Iterator[Path]:
    """A directory with the experiments that ran, and the kept points of all others."""
    with tempfile.TemporaryDirectory(prefix="sledlab-points-") as name:
        directory = Path(name)
        for planned in plan:
            (directory / planned.place).symlink_to(ran.get(planned.place, POINTS / planned.place))
        yield directory


def keep(plan: Sequence[Planned], directory: Path, sources_of: str | None = None) -> None:
    """Keeps, of the tables of some experiments in `directory`, the columns that were read up to now."""
    kept = index()
    for planned in plan:
        place = POINTS / planned.place
        shutil.rmtree(place, ignore_errors=True)
        for file, columns in COLUMNS.items():
            if file.parent == directory / planned.place:
                _reduced(file, columns, place / file.name)
    of = sources_of or sources()
    found = fingerprints(plan) if of == sources() else {}
    for each in plan:
        kept[each.place] = KeptPoints(each.place, asked(each), of, of, found.get(each.place, ""))
    _write(kept)


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
