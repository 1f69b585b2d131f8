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

from .paths import PROJECT
from .wording import format_text

REPRODUCED = "reproduced"
BY_DEFINITION = "by definition"
"""The claim is a definition that sledlab follows, and tests check it: no evidence, no mistake."""
PARTLY_REPRODUCED = "reproduced in part"
NOT_REPRODUCED = "not reproduced"
DEPENDS = "depends"
"""The claim holds for a part of the range that the paper leaves open, or in one reading alone."""
FITTED = "fitted or by construction"
"""The model is built that way, or a constant was fitted to the claim: no evidence."""
UNEXPLAINED_OUTCOMES = (REPRODUCED, BY_DEFINITION)
"""Outcomes that need no explanation."""

OUTCOMES = (REPRODUCED, BY_DEFINITION, PARTLY_REPRODUCED, NOT_REPRODUCED, DEPENDS, FITTED)


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


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim (of `OUTCOMES`), a sentence with our numbers, and why they differ."""

    outcome: str
    ours: str
    why: str = ""
    short: str = ""
    """The number that decides."""


@dataclass(frozen=True)
class Judgment:
    """One of `OUTCOMES`, and the numbers for the places in the claim's words."""

    outcome: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def with_numbers(self, **numbers: Any) -> Judgment:
        """The judgement with numbers, named as the places in the claim's words."""
        return replace(self, numbers=numbers)

    def verdict(self, claim: ClaimEntry) -> Verdict:
        """The verdict: `FITTED` where it follows from our choice; without a difference, no explanation."""
        ours = format_text(claim.ours, **self.numbers)
        short = format_text(claim.short, **self.numbers)
        if claim.choice and self.outcome in (REPRODUCED, FITTED):
            return Verdict(FITTED, ours, format_text(claim.choice, **self.numbers), short)
        why = "" if self.outcome in UNEXPLAINED_OUTCOMES else format_text(claim.why, **self.numbers)
        return Verdict(self.outcome, ours, why, short)


def judge_criterion(holds: bool, partly: bool = False) -> Judgment:
    """Reproduced if a criterion is met, in part if a part of it is."""
    return Judgment(REPRODUCED if holds else PARTLY_REPRODUCED if partly else NOT_REPRODUCED)


def judge_range(everywhere: bool, somewhere: bool) -> Judgment:
    """Judges by whether a criterion is met over all, or a part, of the range that the paper leaves open."""
    return Judgment(REPRODUCED if everywhere else DEPENDS if somewhere else NOT_REPRODUCED)


def judge_definition(holds: bool) -> Judgment:
    """Judges by whether runs agree with the definition in a claim."""
    return Judgment(BY_DEFINITION if holds else NOT_REPRODUCED)


def combine_outcomes(*outcomes: str) -> str:
    """The outcome over readings that count alike: `DEPENDS` if some reproduce the claim and others do not.

    A reading in which the claim is fitted is no evidence, so that the others decide.
    """
    decisive = set(outcomes) - {FITTED} or {FITTED}
    if len(decisive) == 1:
        return decisive.pop()
    return NOT_REPRODUCED if decisive == {PARTLY_REPRODUCED, NOT_REPRODUCED} else DEPENDS


def apply_sensitivity(outcome: str, others: Iterable[str]) -> str:
    """The outcome of a claim, given those at other values of what is open: `DEPENDS` if one of them flips.

    An outcome that is below reproduced everywhere stays as it is; a claim that is fitted or met by
    definition is no evidence.
    """
    decisive = set(others) - {FITTED, BY_DEFINITION}
    flips = decisive - {REPRODUCED} if outcome == REPRODUCED else decisive & {REPRODUCED}
    return DEPENDS if flips and outcome in (REPRODUCED, PARTLY_REPRODUCED, NOT_REPRODUCED) else outcome


def judge_fitted(holds: bool) -> Judgment:
    """Judges a criterion that the model cannot but meet, or that a constant was fitted to."""
    return Judgment(FITTED if holds else NOT_REPRODUCED)


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
        row["id"]: ClaimEntry(**row | {"checked_by": tuple(row.get("checked_by", ()))}) for row in rows
    }
    return {
        name: _with_shared_texts(claim, entries[claim.like]) if claim.like else claim
        for name, claim in entries.items()
    }


def _with_shared_texts(claim: ClaimEntry, other: ClaimEntry) -> ClaimEntry:
    """A claim with the words of the claim that it is judged like, where it has none of its own."""
    text = ("ours", "why", "choice", "short")
    return replace(claim, **{name: getattr(claim, name) or getattr(other, name) for name in text})
