"""Claims of papers, and the verdicts on them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    MET,
    NEARLY_MET,
    NO_EVIDENCE,
    NOT_MET,
    NumberComparison,
)

from .paths import PROJECT
from .printed import NEARLY_ALL, PrintedNumber, compare
from .wording import format_text

LEVELS = (MET, NEARLY_MET, DIRECTION_ONLY, NOT_MET)
"""Outcomes with evidence, the best first."""
UNEXPLAINED_OUTCOMES = (MET, BY_DEFINITION)
"""Outcomes that need no explanation."""

SIMULATED_GRADES = "PSHC"
"""Grades of claims that rest on a simulation, unlike arithmetic."""


@dataclass(frozen=True)
class ClaimEntry:
    """A claim: an entry of a file in a folder `claims`."""

    id: str
    paper: str
    where: str
    priority: int
    grade: str
    claim: str
    published: str
    accept: str
    quote: str = ""
    """The excerpt of the paper with the claim or its number, at most 25 words as printed."""
    ours: str = ""
    """The sentence with our result, with places for numbers."""
    why: str = ""
    """The explanation of a difference, with places for numbers too."""
    choice: str = ""
    """Our modeling choice from which the claim follows: its outcome is then `FITTED`."""
    like: str = ""
    """The claim that is judged by the same criterion, and has the words for both."""
    checked_by: tuple[str, ...] = ()
    """Tests that check the definition in the claim, or a part of it: `file::name`."""
    short: str = ""
    """The number that decides, as the cells of a sensitivity sweep show it, with places too."""
    closed: str = ""
    """Why none of our choices could turn the verdict, though the claim is contested."""
    printed: tuple[str, ...] = ()
    """The numbers that the paper prints, in the form of `printed.PrintedNumber`."""
    depends_on: str = ""
    """The choice that the claim depends on, where no sensitivity sweep varies it."""
    cause: str = ""
    """Why our value differs from the published one, in a few words."""

    @property
    def has_simulated_number(self) -> bool:
        """Whether the paper prints a number that a simulation can meet."""
        return bool(self.printed) and not set(self.grade).isdisjoint(SIMULATED_GRADES)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim (of `OUTCOMES`), a sentence with our numbers, and why they differ."""

    outcome: str
    ours: str
    why: str = ""
    short: str = ""
    """The number that decides."""
    comparisons: tuple[NumberComparison, ...] = ()
    """Printed numbers and ours."""


@dataclass(frozen=True)
class Judgment:
    """One of `OUTCOMES`, and the numbers for the places in the claim's words.

    Attributes:
        outcome: The outcome; empty if the printed numbers of the claim decide.
        numbers: Numbers by place.
        values: Our values for each printed number of the claim.
        direction: Whether the direction is as published, where printed numbers decide.
    """

    outcome: str
    numbers: dict[str, Any] = field(default_factory=dict)
    values: tuple[tuple[float, ...], ...] = ()
    direction: bool = False

    def with_numbers(self, **numbers: Any) -> Judgment:
        """The judgment with numbers, named as the places in the claim's words."""
        return replace(self, numbers=numbers)

    def with_values(self, *values: Iterable[float]) -> Judgment:
        """The judgment with our values for each printed number of the claim."""
        return replace(self, values=tuple(tuple(each) for each in values))

    def verdict(self, claim: ClaimEntry) -> Verdict:
        """The verdict: `FITTED` where it follows from our choice; without a difference, no explanation."""
        ours = format_text(claim.ours, **self.numbers)
        short = format_text(claim.short, **self.numbers)
        outcome = self.outcome or self._printed_outcome(claim)
        comparisons = compare(claim.printed, self.values) if self.values else ()
        if claim.choice and outcome in (MET, FITTED):
            return Verdict(FITTED, ours, format_text(claim.choice, **self.numbers), short, comparisons)
        if claim.depends_on and outcome == MET:
            outcome = DEPENDS
        why = "" if outcome in UNEXPLAINED_OUTCOMES else format_text(claim.why, **self.numbers)
        return Verdict(outcome, ours, why, short, comparisons)

    def _printed_outcome(self, claim: ClaimEntry) -> str:
        """The outcome by all printed numbers of a claim."""
        pairs = [(PrintedNumber(text), some) for text, some in zip(claim.printed, self.values, strict=True)]
        if all(number.is_met(some) for number, some in pairs):
            return MET
        if self.direction and all(
            number.is_met(some) or number.is_nearly_met(some) for number, some in pairs
        ):
            return NEARLY_MET
        return DIRECTION_ONLY if self.direction else NOT_MET


def judge_criterion(holds: bool, direction: bool = False) -> Judgment:
    """Judges by whether a criterion is met; if it is not, by whether its direction, or a part of it, is."""
    return Judgment(MET if holds else DIRECTION_ONLY if direction else NOT_MET)


def judge_comparisons(outcomes: Iterable[bool], also: bool = True) -> Judgment:
    """Judges a criterion by comparisons: all of them, nine of ten, or more than half.

    Args:
        outcomes: Whether each comparison is as published.
        also: Whether the rest of the criterion is met; without it, the direction alone can be.
    """
    compared = list(outcomes)
    share = sum(compared) / len(compared) if compared else 0.0
    if also and share == 1:
        return Judgment(MET)
    if also and share >= NEARLY_ALL:
        return Judgment(NEARLY_MET)
    return Judgment(DIRECTION_ONLY if share > 0.5 else NOT_MET)


def judge_printed(*values: Iterable[float], direction: bool, holds: bool = True) -> Judgment:
    """Judges by the printed numbers of the claim.

    Args:
        values: Our values for each printed number.
        direction: Whether the direction of the claim is as published.
        holds: Whether the rest of the criterion is met; without it, the direction alone can be.
    """
    undecided = Judgment("" if holds else DIRECTION_ONLY if direction else NOT_MET, direction=direction)
    return undecided.with_values(*values)


def judge_range(everywhere: bool, somewhere: bool, direction: bool = False) -> Judgment:
    """Judges by whether a criterion is met over all, or a part, of the range that the paper leaves open."""
    return Judgment(DEPENDS) if somewhere and not everywhere else judge_criterion(everywhere, direction)


def judge_definition(holds: bool) -> Judgment:
    """Judges by whether runs agree with the definition in a claim."""
    return Judgment(BY_DEFINITION if holds else NOT_MET)


def combine_outcomes(*outcomes: str) -> str:
    """The outcome over readings that count alike: `DEPENDS` if some meet the claim and others do not.

    A reading in which the claim is fitted is no evidence, so that the others decide. Without a reading that
    meets the claim, the lowest outcome counts.
    """
    decisive = set(outcomes) - {FITTED} or {FITTED}
    if len(decisive) == 1:
        return decisive.pop()
    if (
        DEPENDS in decisive
        or BY_DEFINITION in decisive
        or (MET in decisive and decisive != {MET, NEARLY_MET})
    ):
        return DEPENDS
    return max(decisive, key=LEVELS.index)


def apply_sensitivity(outcome: str, others: Iterable[str]) -> str:
    """The outcome of a claim, given those at other values of what is open: `DEPENDS` if one of them flips.

    An outcome that is below met everywhere stays as it is; a claim that is fitted or met by definition is no
    evidence.
    """
    decisive = {outcome, *others} - set(NO_EVIDENCE)
    if outcome not in LEVELS or MET not in decisive:
        return outcome
    return combine_outcomes(*decisive)


def judge_fitted(holds: bool) -> Judgment:
    """Judges a criterion that the model cannot but meet, or that a constant was fitted to."""
    return Judgment(FITTED if holds else NOT_MET)


Judge = Callable[[Any], Judgment]

JUDGES: dict[str, Judge] = {}
"""The function that judges each claim, from the runs of its topic."""


def register_judges(*modules: ModuleType) -> None:
    """Registers the functions of modules as judges of the claims they are named after: `h_34` judges H-34."""
    for module in modules:
        for name, judge in vars(module).items():
            if re.fullmatch(r"[a-z]_\d\d", name):
                JUDGES[name.upper().replace("_", "-")] = judge


def missing_tests(claim: ClaimEntry) -> list[str]:
    """Tests of a claim that do not exist in the files named."""
    tests = [test.split("::") for test in claim.checked_by]
    return [name for file, name in tests if not re.search(rf"\b(fn|def) {name}\(", _text(file))]


@cache
def _text(file: str) -> str:
    return (PROJECT / file).read_text(encoding="utf-8")


def verdict(claim: ClaimEntry, runs: Any) -> Verdict:
    """Return the verdict on a claim; one that no function judges is a definition, which tests check."""
    name = claim.id if claim.id in JUDGES else claim.like
    measured = JUDGES[name](runs).verdict(claim) if name in JUDGES else Verdict(BY_DEFINITION, claim.ours)
    if not claim.checked_by:
        return measured
    names = " and ".join("`{1}` ({0})".format(*test.split("::")) for test in claim.checked_by)
    return replace(measured, ours=f"{measured.ours} Checked by {names}.")


@cache
def claims(topic: str) -> dict[str, ClaimEntry]:
    """All claims of a topic by id, in the order of its files."""
    files = sorted((Path(__file__).parent / topic / "claims").glob("*.toml"))
    rows = [row for file in files for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]
    entries = {
        row["id"]: ClaimEntry(**row | {name: tuple(row.get(name, ())) for name in ("checked_by", "printed")})
        for row in rows
    }
    return {
        name: _with_shared_texts(claim, entries[claim.like]) if claim.like else claim
        for name, claim in entries.items()
    }


def _with_shared_texts(claim: ClaimEntry, other: ClaimEntry) -> ClaimEntry:
    """A claim with the words of the claim that it is judged like, where it has none of its own."""
    text = ("ours", "why", "choice", "short", "printed", "cause")
    return replace(claim, **{name: getattr(claim, name) or getattr(other, name) for name in text})
