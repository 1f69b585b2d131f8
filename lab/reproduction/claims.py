"""The claims, and what a verdict on one says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ..results import PROJECT
from ..words import say

REPRODUCED = "reproduced"
IN_PART = "reproduced in part"
NOT = "not reproduced"
DEPENDS = "depends"
"""It holds for a part of the range of what the paper leaves open."""
FITTED = "fitted or by construction"
"""The model is made so, or a constant was fitted to it: no evidence."""
OUTCOMES = (REPRODUCED, IN_PART, NOT, DEPENDS, FITTED)


@dataclass(frozen=True)
class Claim:
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
    like: str = ""
    """The claim that is judged by the same, and has the words."""
    held: tuple[str, ...] = ()
    """Tests that hold what the claim defines: `file::name`."""


@dataclass(frozen=True)
class Verdict:
    """What came out: one of `OUTCOMES`, our numbers in a sentence, and what explains the difference."""

    outcome: str
    ours: str
    why: str = ""


@dataclass(frozen=True)
class Judgement:
    """One of `OUTCOMES`, and the numbers that fill the words of the claim."""

    outcome: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def saying(self, **numbers: Any) -> Judgement:
        """The same with its numbers, by the places in the words."""
        return replace(self, numbers=numbers)

    def verdict(self, claim: Claim) -> Verdict:
        """The explanation belongs to what is less than reproduced."""
        ours = say(claim.ours, **self.numbers)
        if self.outcome == REPRODUCED:
            return Verdict(REPRODUCED, ours)
        return Verdict(self.outcome, ours, say(claim.why, **self.numbers))


def judged(holds: bool, partly: bool = False) -> Judgement:
    """Reproduced if a criterion is met, in part if a part of it is."""
    return Judgement(REPRODUCED if holds else IN_PART if partly else NOT)


def depending(everywhere: bool, somewhere: bool) -> Judgement:
    """By whether a criterion is met over the range of what the paper leaves open."""
    return Judgement(REPRODUCED if everywhere else DEPENDS if somewhere else NOT)


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


def missing(claim: Claim) -> list[str]:
    """Tests that are not where they should be."""
    tests = [test.split("::") for test in claim.held]
    return [name for file, name in tests if not re.search(rf"\b(fn|def) {name}\(", _text(file))]


@cache
def _text(file: str) -> str:
    return (PROJECT / file).read_text(encoding="utf-8")


def verdict(claim: Claim, runs: Any) -> Verdict:
    """The verdict on a claim; one that defines something is reproduced where the tests exist that hold it."""
    if not claim.held:
        return JUDGES[claim.id if claim.id in JUDGES else claim.like](runs).verdict(claim)
    names = " and ".join("`{1}` ({0})".format(*test.split("::")) for test in claim.held)
    return Verdict(NOT if missing(claim) else REPRODUCED, f"{claim.ours} Held by {names}.")


@cache
def claims(topic: str) -> dict[str, Claim]:
    """All claims on a topic by their id, in the order of its files."""
    files = sorted((Path(__file__).parent / topic / "claims").glob("*.toml"))
    rows = [row for file in files for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]
    found = {row["id"]: Claim(**row | {"held": tuple(row.get("held", ()))}) for row in rows}
    return {
        name: replace(claim, ours=found[claim.like].ours, why=found[claim.like].why) if claim.like else claim
        for name, claim in found.items()
    }
