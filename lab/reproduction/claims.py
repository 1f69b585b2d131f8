"""The claims, and what a verdict on one says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ..results import PROJECT
from ..words import say
from .held import passed

REPRODUCED = "reproduced"
HELD = "held"
"""It defines something; sledlab is made so, and tests that hold it passed: no evidence, but no mistake."""
IN_PART = "reproduced in part"
NOT = "not reproduced"
DEPENDS = "depends"
"""It holds for a part of the range of what the paper leaves open, or in one of its readings alone."""
FITTED = "fitted or by construction"
"""The model is made so, or a constant was fitted to it: no evidence."""
EVIDENT = (REPRODUCED, HELD)
"""What needs no explanation."""

OUTCOMES = (REPRODUCED, HELD, IN_PART, NOT, DEPENDS, FITTED)


@dataclass(frozen=True)
class ClaimEntry:
    """An entry of a file in a folder `claims`."""

    id: str
    paper: str
    where: str
    priority: int
    grade: str
    claim: str
    published: str
    accept: str
    ours: str = ""
    """What came out, with places for our numbers."""
    why: str = ""
    """What explains a difference, with places as well."""
    choice: str = ""
    """The choice of ours from which it follows: what has one is fitted or by construction."""
    like: str = ""
    """The claim that is judged by the same, and has the words."""
    held: tuple[str, ...] = ()
    """Tests that hold what the claim defines, or a part of it: `file::name`."""
    short: str = ""
    """The number that decides, as it stands in the cells of a strip, with places as well."""
    closed: str = ""
    """Why no choice of ours could turn it, though it is contested."""
    changed: str = ""
    """Why the verdict is another one than it once was."""


@dataclass(frozen=True)
class Verdict:
    """What came out: one of `OUTCOMES`, our numbers in a sentence, and what explains the difference."""

    outcome: str
    ours: str
    why: str = ""
    short: str = ""
    """The number that decides."""


@dataclass(frozen=True)
class Judgement:
    """One of `OUTCOMES`, and the numbers that fill the words of the claim."""

    outcome: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def saying(self, **numbers: Any) -> Judgement:
        """The same with its numbers, by the places in the words."""
        return replace(self, numbers=numbers)

    def verdict(self, claim: ClaimEntry) -> Verdict:
        """What follows from a choice is not reproduced; the explanation belongs to what is less than that."""
        ours = say(claim.ours, **self.numbers)
        short = say(claim.short, **self.numbers)
        if claim.choice and self.outcome in (REPRODUCED, FITTED):
            return Verdict(FITTED, ours, say(claim.choice, **self.numbers), short)
        why = "" if self.outcome in EVIDENT else say(claim.why, **self.numbers)
        return Verdict(self.outcome, ours, why, short)


def judged(holds: bool, partly: bool = False) -> Judgement:
    """Reproduced if a criterion is met, in part if a part of it is."""
    return Judgement(REPRODUCED if holds else IN_PART if partly else NOT)


def depending(everywhere: bool, somewhere: bool) -> Judgement:
    """By whether a criterion is met over the range of what the paper leaves open."""
    return Judgement(REPRODUCED if everywhere else DEPENDS if somewhere else NOT)


def holding(holds: bool) -> Judgement:
    """Whether what a claim defines holds of runs."""
    return Judgement(HELD if holds else NOT)


def together(*outcomes: str) -> str:
    """The outcome of readings that count alike: it depends if some reproduce what others do not.

    What is fitted in one of them is no evidence, so that the others decide.
    """
    decisive = set(outcomes) - {FITTED} or {FITTED}
    if len(decisive) == 1:
        return decisive.pop()
    return NOT if decisive == {IN_PART, NOT} else DEPENDS


def turned(outcome: str, others: Iterable[str]) -> str:
    """The outcome of a claim with those at other values of what is open: it depends if one of them flips.

    What is less than reproduced everywhere stays what it is; what is fitted or held is no evidence anyhow.
    """
    decisive = set(others) - {FITTED, HELD}
    flips = decisive - {REPRODUCED} if outcome == REPRODUCED else decisive & {REPRODUCED}
    return DEPENDS if flips and outcome in (REPRODUCED, IN_PART, NOT) else outcome


def by_construction(holds: bool) -> Judgement:
    """Where the model cannot but meet the criterion, or a constant was fitted to it."""
    return Judgement(FITTED if holds else NOT)


Judge = Callable[[Any], Judgement]

JUDGES: dict[str, Judge] = {}
"""Who judges a claim, from the runs of its topic."""


def judging(*modules: ModuleType) -> None:
    """Lets the functions of some modules judge the claims that they are named after: `h_34` judges H-34."""
    for module in modules:
        for name, judge in vars(module).items():
            if re.fullmatch(r"[a-z]_\d\d", name):
                JUDGES[name.upper().replace("_", "-")] = judge


def missing(claim: ClaimEntry) -> list[str]:
    """Tests that are not where they should be."""
    tests = [test.split("::") for test in claim.held]
    return [name for file, name in tests if not re.search(rf"\b(fn|def) {name}\(", _text(file))]


@cache
def _text(file: str) -> str:
    return (PROJECT / file).read_text(encoding="utf-8")


def verdict(claim: ClaimEntry, runs: Any) -> Verdict:
    """The verdict on a claim: its tests must pass, and are all that there is where nobody judges it."""
    name = claim.id if claim.id in JUDGES else claim.like
    if not claim.held:
        return JUDGES[name](runs).verdict(claim)
    found = JUDGES[name](runs).verdict(claim) if name in JUDGES else Verdict(HELD, claim.ours)
    failed = [name for test in claim.held if not passed(test) for name in test.split("::")[1:]]
    if failed:
        return Verdict(NOT, found.ours, f"What should hold it fails: {', '.join(failed)}.")
    names = " and ".join("`{1}` ({0})".format(*test.split("::")) for test in claim.held)
    return replace(found, ours=f"{found.ours} Held by {names}, which passed.")


@cache
def claims(topic: str) -> dict[str, ClaimEntry]:
    """All claims on a topic by their id, in the order of its files."""
    files = sorted((Path(__file__).parent / topic / "claims").glob("*.toml"))
    rows = [row for file in files for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]
    found = {row["id"]: ClaimEntry(**row | {"held": tuple(row.get("held", ()))}) for row in rows}
    return {name: _alike(claim, found[claim.like]) if claim.like else claim for name, claim in found.items()}


def _alike(claim: ClaimEntry, other: ClaimEntry) -> ClaimEntry:
    """A claim with the words of the one that it is judged like, but for those that it has."""
    words = ("ours", "why", "choice", "short")
    return replace(claim, **{name: getattr(claim, name) or getattr(other, name) for name in words})
