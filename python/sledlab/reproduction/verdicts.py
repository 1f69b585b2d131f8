"""Claims of the papers with the verdicts on them, as `python -m lab.reproduction` found them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.lazy import json
from sledlab.reproduction.figure import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.reproduction.figure import Figure

FILE = Path(__file__).with_name("verdicts.json")

PAPERS = {
    "000": "MEMS storage devices: scheduling and power",
    "001": "MEMS in front of disks",
    "002": "parallelism-aware scheduling",
    "003": "power of a MEMS device",
    "004": "smart storage",
}
"""What each is about; docs/papers.md has titles and authors."""


@dataclass(frozen=True)
class Cell:
    """How a claim comes out with one value of what was chosen.

    Attributes:
        value: The value, in words.
        outcome: The verdict with it.
        number: The number that decides, if it is short.
    """

    value: str
    outcome: str
    number: str = ""


@dataclass(frozen=True)
class Strip:
    """Where a claim holds and where it flips, over something that sledlab had to choose.

    Attributes:
        over: What is varied.
        beside: Why it counts for nothing, such as `published` where the paper leaves no choice; else empty.
        default: Which cell all other numbers are of.
        cells: One for each value.
    """

    over: str
    beside: str
    default: int
    cells: tuple[Cell, ...]

    @property
    def flips(self) -> bool:
        """Whether the claim is reproduced with some values alone; what is fitted counts for neither."""
        found = {cell.outcome for cell in self.cells if cell.outcome not in NO_EVIDENCE}
        return "reproduced" in found and len(found) > 1


NO_EVIDENCE = ("held", "fitted or by construction")
"""Outcomes that say nothing for or against a claim."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and what came of it.

    Attributes:
        id: As users call it, such as `W-22`.
        topic: The page of the documentation that it stands on.
        paper: The paper, `000` to `004`.
        where: Where the paper makes it.
        priority: 1 for what the paper rests on, to 3.
        grade: What a verdict is worth: E arithmetic, P a specified workload, S a stand-in, H a machine of its
            time, C a result of others.
        claim: What it says.
        published: What is printed.
        accept: What it was reproduced by.
        outcome: The verdict.
        ours: What came out.
        why: What explains a difference.
        experiments: The experiments that it is judged by.
        strips: How it comes out over what sledlab had to choose.
    """

    id: str
    topic: str
    paper: str
    where: str
    priority: int
    grade: str
    claim: str
    published: str
    accept: str
    outcome: str
    ours: str
    why: str = ""
    experiments: tuple[str, ...] = ()
    strips: tuple[Strip, ...] = ()

    @property
    def figures(self) -> list[Figure]:
        """The figures that show it."""
        return [each for each in figures().values() if each.shows(self.id, self.paper, self.where)]


@cache
def claims() -> dict[str, Claim]:
    """All claims by their id, in the order of papers and of their files."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))["claims"]
    found = [
        Claim(**{**row, "experiments": tuple(row["experiments"]), "strips": _strips(row.get("strips", ()))})
        for row in rows
    ]
    return {each.id: each for each in sorted(found, key=lambda each: each.paper)}


def _strips(rows: Sequence[Any]) -> tuple[Strip, ...]:
    """Strips as they travel."""
    return tuple(
        Strip(over, beside, at, tuple(Cell(*cell) for cell in cells)) for over, beside, at, cells in rows
    )


@cache
def sources() -> dict[str, str]:
    """The hash of the sources that verdicts are of, by topic."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))["sources"]
    return found


def claims_of(figure: Figure) -> list[Claim]:
    """What a figure shows."""
    return [each for each in claims().values() if figure in each.figures]
