"""Assumptions of the reproduction: one set per paper, of what the paper prints, implies or leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.lazy import tomllib
from sledlab.reproduction.papers import PAPERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path(__file__).with_name("assumptions")

DEFAULT, OLD = "default", "old"
"""The sets of the papers, and the values that experiments had before there were sets."""

MARKS = {
    "printed": "the paper states it",
    "implied": "it follows from what the paper prints",
    "measured": "from data of the same kind of system",
    "plausible": "a choice, for a reason",
    "fitted": "set so that a printed number comes out: that number is no evidence",
}
"""What an assumption rests on, in order of strength, and what each word means."""

STUDY = "study."
"""Prefix of keys of the table `[study]`, which options of a study set."""


@dataclass(frozen=True)
class Assumption:
    """An assumption behind the experiments of a paper.

    Attributes:
        name: Name, unique in the set.
        says: The assumption, in a sentence.
        mark: What it rests on, one of `MARKS`.
        because: The quotation, the data or the argument; for a fit, what was fitted to which number.
        experiments: Patterns of the directories of experiments that it applies to; all of the paper if empty.
        settings: Values of these experiments by key, such as `{"device.direction": "free"}`.
        former: Values before there was a set, where they differ.
        claims: Ids of the claims that it decides.
        fitted_to: Ids of the claims whose printed number was spent on the fit.
    """

    name: str
    says: str
    mark: str
    because: str
    experiments: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    former: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    fitted_to: tuple[str, ...] = ()

    @property
    def is_fitted(self) -> bool:
        """Whether values were set so that a printed number comes out."""
        return self.mark == "fitted"

    def applies_to(self, place: str) -> bool:
        """Whether the assumption applies to the experiment in a directory."""
        return any(fnmatchcase(place, pattern) for pattern in self.experiments)


@cache
def assumptions(paper: str) -> tuple[Assumption, ...]:
    """Return the set of a paper, in the order of its file.

    Args:
        paper: A key of `sledlab.reproduction.papers.PAPERS`, such as `lin`.

    Raises:
        Error: There is no such paper.

    Examples:
        >>> {each.mark for each in assumptions("lin")} <= set(MARKS)
        True
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, list(PAPERS))
    return _parse(file_text(paper), paper)


def file_text(paper: str) -> str:
    """The file with the set of a paper."""
    return (FOLDER / f"{paper}.toml").read_text(encoding="utf-8")


def read_set(file: Path, paper: str) -> tuple[Assumption, ...]:
    """Return the set in a file of the user.

    Raises:
        Error: The file cannot be read, or is no set of assumptions.
    """
    try:
        return _parse(file.read_text(encoding="utf-8"), paper)
    except (OSError, ValueError) as error:
        raise Error(
            f"cannot read the assumptions in `{file}`: {error}",
            remedy=f"start from `sledlab reproduce assumptions {paper} --toml`",
        ) from None


def _parse(text: str, paper: str) -> tuple[Assumption, ...]:
    """The assumptions in a file; raises `ValueError` if it is not TOML, or an entry has other keys."""
    document = tomllib.loads(text)
    if set(document) != {"assumption"} or not isinstance(document["assumption"], list):
        raise ValueError("expected tables `[[assumption]]` only")
    return tuple(_parse_entry(row, paper) for row in document["assumption"])


def _parse_entry(row: Mapping[str, Any], paper: str) -> Assumption:
    names = [each.name for each in fields(Assumption)]
    if unknown_keys := set(row) - set(names):
        raise ValueError(f"an assumption has no {', '.join(sorted(unknown_keys))}")
    if missing_keys := {"name", "says", "mark", "because"} - set(row):
        raise ValueError(f"an assumption lacks {', '.join(sorted(missing_keys))}")
    if row["mark"] not in MARKS:
        raise ValueError(f"`{row['mark']}` is none of {', '.join(MARKS)}")
    complete_row = {"experiments": [f"{paper}-*"], **row}
    arguments: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in complete_row.items()
    }
    return Assumption(**arguments)


def changed_values(paper: str, place: str, choice: str | Path) -> dict[str, Any]:
    """Return the values, by key, in which other assumptions differ from the set of a paper.

    Args:
        paper: A key of `PAPERS`.
        place: The directory of the experiment.
        choice: `default` for the set, `old` for the values before there was one, or a file with a set.

    Raises:
        Error: The file cannot be read.
    """
    if choice == DEFAULT:
        return {}
    if choice == OLD:
        return _values([each.former for each in assumptions(paper) if each.applies_to(place)])
    own_values = _values([each.settings for each in read_set(Path(choice), paper) if each.applies_to(place)])
    set_values = _values([each.settings for each in assumptions(paper) if each.applies_to(place)])
    return {key: value for key, value in own_values.items() if set_values.get(key) != value}


def _values(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values of several tables; later ones win."""
    return {key: value for table in tables for key, value in table.items()}
