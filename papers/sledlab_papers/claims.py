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
    CONTRADICTED,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    MET,
    NEARLY_MET,
    NO_EVIDENCE,
    NOT_MET,
    NumberComparison,
    NumberTable,
)

from .paths import PROJECT
from .printed import PrintedNumber, compare
from .wording import format_text

LEVELS = (MET, NEARLY_MET, DIRECTION_ONLY, NOT_MET, CONTRADICTED)
"""Outcomes with evidence, the best first."""

NEARLY_ALL = 0.9
"""Share of comparisons from which on nearly all are as published."""

UNEXPLAINED_OUTCOMES = (MET, BY_DEFINITION)
"""Outcomes that need no explanation."""


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
    unvaried: str = ""
    """Why nothing else that a contested claim could depend on is varied."""
    printed: tuple[str, ...] = ()
    """The numbers that the paper prints, in the form of `printed.PrintedNumber`."""
    predicted: tuple[str, ...] = ()
    """What was expected of each, in the same form, before the experiments ran; empty where nothing was."""
    contradicted_by: str = ""
    """Another statement of the paper that no reading can meet together with the claim: `PAPER#anchor`, a
    section of `contradictions/PAPER.md`."""
    depends_on: str = ""
    """The choice that the claim depends on, where no sensitivity sweep varies it."""
    cause: str = ""
    """Why our value differs from the published one, in a few words."""


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
    tables: tuple[NumberTable, ...] = ()
    """Further numbers behind the outcome."""
    level: str = ""
    """What the numbers alone make of a claim that is fitted by our choice: one of `LEVELS`."""


@dataclass(frozen=True)
class Judgment:
    """One of `OUTCOMES`, and the numbers for the places in the claim's words.

    Attributes:
        outcome: The outcome; empty if the printed numbers of the claim decide.
        numbers: Numbers by place. `compared` is the number of comparisons, or of our values where the paper
            prints a single number; `agreeing` of them are as published, or `inside` of the number.
        values_by_number: Our values for each printed number of the claim.
        direction_holds: Whether the direction is as published, where printed numbers decide.
        tables: Numbers that are too many for a sentence.
    """

    outcome: str
    numbers: dict[str, Any] = field(default_factory=dict)
    values_by_number: tuple[tuple[float, ...], ...] = ()
    direction_holds: bool = False
    tables: tuple[NumberTable, ...] = ()

    def with_numbers(self, **numbers: Any) -> Judgment:
        """The judgment with further numbers, named as the places in the claim's words."""
        return replace(self, numbers={**self.numbers, **numbers})

    def with_values(self, *values: Iterable[float]) -> Judgment:
        """The judgment with our values for each printed number of the claim."""
        return replace(self, values_by_number=tuple(map(tuple, values)))

    def with_tables(self, *tables: NumberTable) -> Judgment:
        """The judgment with tables of numbers."""
        return replace(self, tables=tables)

    def verdict(self, claim: ClaimEntry) -> Verdict:
        """The verdict: `FITTED` where it follows from our choice; without a difference, no explanation."""
        numbers = {**self._counts(claim), **self.numbers}
        ours, short_text = (format_text(text, **numbers) for text in (claim.ours, claim.short))
        outcome = self.outcome or self._printed_outcome(claim)
        comparisons = (
            compare(claim.printed, self.values_by_number, claim.predicted) if self.values_by_number else ()
        )
        if claim.choice and outcome in (MET, NEARLY_MET, DIRECTION_ONLY, FITTED):
            level = outcome if outcome in LEVELS else self._printed_outcome(claim) if comparisons else ""
            shortfall = f" By its numbers alone it would be {level}." if level not in ("", MET) else ""
            choice = format_text(claim.choice, **numbers) + shortfall
            return Verdict(FITTED, ours, choice, short_text, comparisons, self.tables, level)
        if claim.depends_on and outcome == MET:
            outcome = DEPENDS
        if claim.contradicted_by and outcome in LEVELS and outcome != MET:
            outcome = CONTRADICTED
        why = "" if outcome in UNEXPLAINED_OUTCOMES else format_text(claim.why, **numbers)
        return Verdict(outcome, ours, why, short_text, comparisons, self.tables)

    def _counts(self, claim: ClaimEntry) -> dict[str, int]:
        """How many of our values there are of a single printed number, and how many are inside of it."""
        if len(claim.printed) != 1 or len(self.values_by_number) != 1:
            return {}
        number, (our_values,) = PrintedNumber(claim.printed[0]), self.values_by_number
        return {
            "inside": sum(number.is_met([value]) for value in our_values),
            "compared": len(our_values),
        }

    def _printed_outcome(self, claim: ClaimEntry) -> str:
        """The outcome by all printed numbers of a claim."""
        pairs = [
            (PrintedNumber(text), our_values)
            for text, our_values in zip(claim.printed, self.values_by_number, strict=True)
        ]
        if all(number.is_met(our_values) for number, our_values in pairs):
            return MET
        if self.direction_holds and all(
            number.is_met(our_values) or number.is_nearly_met(our_values) for number, our_values in pairs
        ):
            return NEARLY_MET
        return DIRECTION_ONLY if self.direction_holds else NOT_MET


def judge_criterion(holds: bool, direction_holds: bool = False) -> Judgment:
    """Judge by whether a criterion is met; if it is not, by whether its direction, or a part of it, is."""
    return Judgment(MET if holds else DIRECTION_ONLY if direction_holds else NOT_MET)


def judge_comparisons(agreements: Iterable[bool], rest_holds: bool = True) -> Judgment:
    """Judge a criterion by comparisons: all of them, nine of ten, or more than half.

    Args:
        agreements: Whether each comparison is as published.
        rest_holds: Whether the rest of the criterion is met; without it, the direction alone can be.
    """
    matches = list(agreements)
    share = sum(matches) / len(matches) if matches else 0.0
    if rest_holds and share >= NEARLY_ALL:
        outcome = MET if share == 1 else NEARLY_MET
    else:
        outcome = DIRECTION_ONLY if share > 0.5 else NOT_MET
    return Judgment(outcome, {"agreeing": sum(matches), "compared": len(matches)})


def judge_printed(*values: Iterable[float], direction_holds: bool, rest_holds: bool = True) -> Judgment:
    """Judge by the printed numbers of the claim.

    Args:
        values: Our values for each printed number.
        direction_holds: Whether the direction of the claim is as published.
        rest_holds: Whether the rest of the criterion is met; without it, the direction alone can be.
    """
    judgment = Judgment(
        "" if rest_holds else DIRECTION_ONLY if direction_holds else NOT_MET, direction_holds=direction_holds
    )
    return judgment.with_values(*values)


def judge_range(holds_everywhere: bool, holds_somewhere: bool, direction_holds: bool = False) -> Judgment:
    """Judge by whether a criterion is met over all, or a part, of the range that the paper leaves open."""
    return (
        Judgment(DEPENDS)
        if holds_somewhere and not holds_everywhere
        else judge_criterion(holds_everywhere, direction_holds)
    )


def judge_definition(holds: bool) -> Judgment:
    """Judge by whether runs agree with the definition in a claim."""
    return Judgment(BY_DEFINITION if holds else NOT_MET)


def apply_sensitivity(outcome: str, other_outcomes: Iterable[str]) -> str:
    """The outcome of a claim, given those at other values of what is open: `DEPENDS` if one of them flips.

    A claim that is met or nearly met depends on what turns it to less, and one that is less on what makes it
    met, or lets another choice do so. A claim that is fitted or met by definition is no evidence.
    """
    decisive_outcomes = {outcome, *other_outcomes} - set(NO_EVIDENCE)
    if outcome not in LEVELS:
        return outcome
    if decisive_outcomes <= {MET, NEARLY_MET}:
        return NEARLY_MET if NEARLY_MET in decisive_outcomes else MET
    return DEPENDS if decisive_outcomes & {MET, DEPENDS} or outcome == NEARLY_MET else outcome


def judge_fitted(holds: bool) -> Judgment:
    """Judge a criterion that the model cannot but meet, or that a constant was fitted to."""
    return Judgment(FITTED if holds else NOT_MET, direction_holds=holds)


Judge = Callable[[Any], Judgment]

JUDGES: dict[str, Judge] = {}
"""The function that judges each claim, from the runs of its topic."""


def register_judges(*modules: ModuleType) -> None:
    """Register the functions of modules as judges of the claims they are named after: `h_34` judges H-34."""
    for module in modules:
        for name, judge in vars(module).items():
            if re.fullmatch(r"[a-z]_\d\d", name):
                JUDGES[name.upper().replace("_", "-")] = judge


def missing_tests(claim: ClaimEntry) -> list[str]:
    """Tests of a claim that do not exist in the files named."""
    tests = [test.split("::") for test in claim.checked_by]
    return [name for file, name in tests if not re.search(rf"\b(fn|def) {name}\(", _file_text(file))]


@cache
def _file_text(file: str) -> str:
    return (PROJECT / file).read_text(encoding="utf-8")


def verdict(claim: ClaimEntry, runs: Any) -> Verdict:
    """Return the verdict on a claim; one that no function judges is a definition, which tests check."""
    judge_id = claim.id if claim.id in JUDGES else claim.like
    untested_verdict = (
        JUDGES[judge_id](runs).verdict(claim) if judge_id in JUDGES else Verdict(BY_DEFINITION, claim.ours)
    )
    if not claim.checked_by:
        return untested_verdict
    names = " and ".join("`{1}` ({0})".format(*test.split("::")) for test in claim.checked_by)
    return replace(untested_verdict, ours=f"{untested_verdict.ours} Checked by {names}.")


@cache
def claims(topic: str) -> dict[str, ClaimEntry]:
    """All claims of a topic by id, in the order of its files."""
    files = sorted((Path(__file__).parent / topic / "claims").glob("*.toml"))
    rows = [row for file in files for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]
    entries = {
        row["id"]: ClaimEntry(
            **row | {name: tuple(row.get(name, ())) for name in ("checked_by", "printed", "predicted")}
        )
        for row in rows
    }
    return {
        claim_id: _with_shared_texts(claim, entries[claim.like]) if claim.like else claim
        for claim_id, claim in entries.items()
    }


def _with_shared_texts(claim: ClaimEntry, other: ClaimEntry) -> ClaimEntry:
    """A claim, with the texts that it lacks from the claim that is judged by the same criterion."""
    field_names = ("ours", "why", "choice", "short", "printed", "predicted", "cause")
    return replace(claim, **{name: getattr(claim, name) or getattr(other, name) for name in field_names})
