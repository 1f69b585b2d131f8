"""Claims of the papers with the verdicts on them, which the reproduction of the papers writes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.lazy import json
from sledlab.reproduction.figure import figures
from sledlab.reproduction.papers import PAPERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.reproduction.figure import Figure

FILE = Path(__file__).with_name("verdicts.json")

MET = "met"
NEARLY_MET = "nearly met"
"""A number is within 5 % of the printed one; the mean and three quarters of the values are inside the printed
range; or nine of ten comparisons meet the criterion."""
DIRECTION_ONLY = "direction only"
"""The order or the sign is as published, or a part of the claim; its size, or the rest, is not."""
NOT_MET = "not met"
CONTRADICTED = "contradicted"
"""Another statement of the paper excludes the claim: no reading meets both."""
DEPENDS = "depends on"
"""The claim is met for a part of the range that the paper leaves open."""
FITTED = "fitted"
"""The model is built that way, or a constant was fitted to the claim: no evidence."""
BY_DEFINITION = "by definition"
"""The claim is a definition that sledlab follows, and tests check it: no evidence, no mistake."""


@dataclass(frozen=True)
class OutcomeMark:
    """The mark of an outcome.

    Attributes:
        symbol: A symbol, different for each outcome.
        label: The outcome in a word or two.
        color: The key of its color in the palette.
    """

    symbol: str
    label: str
    color: str

    @property
    def css_class(self) -> str:
        """The class of elements with the mark."""
        return f"outcome-{self.label.replace(' ', '-')}"


MARKS = {
    MET: OutcomeMark("●", "met", "blue"),
    NEARLY_MET: OutcomeMark("◕", "nearly met", "sky"),
    DIRECTION_ONLY: OutcomeMark("◐", "direction only", "orange"),
    NOT_MET: OutcomeMark("○", "not met", "vermilion"),
    CONTRADICTED: OutcomeMark("✕", "contradicted", "amber"),
    DEPENDS: OutcomeMark("◇", "depends", "purple"),
    FITTED: OutcomeMark("□", "fitted", "gray"),
    BY_DEFINITION: OutcomeMark("■", "by definition", "faint"),
}
"""The mark of each outcome, so that no reader needs the color; the best outcomes first."""

OUTCOMES = tuple(MARKS)
ARITHMETIC = "E"
"""Grade of claims that rest on arithmetic alone."""

NO_EVIDENCE = (FITTED, BY_DEFINITION)
"""Outcomes that are no evidence for or against a claim."""

PUBLISHED, CHANCE = "published", "chance"
EXCLUSIONS = {
    PUBLISHED: "the paper excludes the rest",
    CHANCE: "seeds only",
}
"""Reasons why a sensitivity sweep does not count, in a word, and what the word means."""


@dataclass(frozen=True)
class Cell:
    """The verdict on a claim with one value of a choice that the paper leaves open.

    Attributes:
        value: The value chosen, in words.
        outcome: The verdict with that value.
        number: The number that decides the verdict, if it is short.
    """

    value: str
    outcome: str
    number: str = ""


@dataclass(frozen=True)
class SensitivitySweep:
    """Verdicts on a claim over the values of a choice that sledlab had to make: where it holds and flips.

    Attributes:
        assumption: The choice that is varied.
        exclusion: Why the sweep does not count, such as a key of `EXCLUSIONS`; empty if it counts.
        default: Number of the cell with the value that all other numbers are measured with.
        cells: A cell for each value.
    """

    assumption: str
    exclusion: str
    default: int
    cells: tuple[Cell, ...]

    @property
    def flips(self) -> bool:
        """Whether the claim is (nearly) met, or can be, with some values only; no fitted outcome counts."""
        outcomes = {cell.outcome for cell in self.cells} - set(NO_EVIDENCE)
        is_less_met = bool(outcomes - {MET, NEARLY_MET})
        is_met = MET in outcomes or self.cells[self.default].outcome == NEARLY_MET
        return is_less_met and (is_met or (DEPENDS in outcomes and len(outcomes) > 1))


@dataclass(frozen=True)
class NumberComparison:
    """A number or range that a paper prints, and the values of sledlab.

    Attributes:
        published: The number or range, with its unit.
        ours: The value, or the least and the greatest.
        ratio: The mean of the values divided by the printed number, or by the middle of the printed range.
        predicted: What was expected of sledlab before the experiment ran; empty where nothing was.
        predicted_ratio: The mean of the values divided by the middle of what was expected; 0 without it.
    """

    published: str
    ours: str
    ratio: float
    predicted: str = ""
    predicted_ratio: float = 0.0


@dataclass(frozen=True)
class NumberTable:
    """Numbers of sledlab behind a verdict, such as a measure by workload and level.

    Attributes:
        title: What the numbers are, with their unit.
        columns: Heads of the columns.
        rows: The cells of each row; the first names the row.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and the verdict on it.

    Attributes:
        id: Id of the claim, such as `W-22`.
        topic: The topic of the experiments that the claim is judged by.
        paper: The paper, a key of `PAPERS`.
        where: The passage of the paper that makes the claim.
        priority: From 1, for claims that the paper rests on, to 3.
        grade: What the verdict rests on: E arithmetic, P a specified workload, S a stand-in, H a machine of
            its time, C a result of others.
        claim: The claim in a sentence.
        published: The result that the paper prints.
        quote: The excerpt of the paper with the claim or its number.
        accept: The condition under which the claim is met.
        outcome: The verdict, one of `OUTCOMES`.
        ours: Our result.
        why: What explains a difference between the results.
        short: Our result in a few words: the number that decides.
        cause: The explanation in a few words.
        depends_on: The choices that a claim with the outcome `DEPENDS` depends on.
        numbers: Printed numbers, and those of sledlab.
        tables: Further numbers of sledlab behind the verdict.
        experiments: The experiments that the claim is judged by.
        sensitivity_sweeps: Verdicts over the values of choices that sledlab had to make.
        contradicted_by: The statement of the paper that excludes the claim, as `PAPER#anchor` of the page on
            contradictions; empty for most.
        unvaried: Why nothing else that the claim could depend on is varied, where it is contested.
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
    quote: str = ""
    why: str = ""
    short: str = ""
    cause: str = ""
    depends_on: tuple[str, ...] = ()
    numbers: tuple[NumberComparison, ...] = ()
    tables: tuple[NumberTable, ...] = ()
    experiments: tuple[str, ...] = ()
    sensitivity_sweeps: tuple[SensitivitySweep, ...] = ()
    contradicted_by: str = ""
    unvaried: str = ""

    @property
    def outcome_text(self) -> str:
        """The outcome, with the choices that the claim depends on."""
        return f"{self.outcome} {'; '.join(self.depends_on)}".strip()

    @property
    def outcome_in_set(self) -> str:
        """The outcome under the paper's set of assumptions, before any of them is varied."""
        defaults = [sweep.cells[sweep.default].outcome for sweep in self.sensitivity_sweeps]
        outcome = defaults[0] if defaults else self.outcome
        return MET if outcome == DEPENDS else outcome

    @property
    def has_simulated_number(self) -> bool:
        """Whether the paper prints a number that a simulation can meet."""
        return bool(self.numbers) and self.grade != ARITHMETIC

    @property
    def figures(self) -> list[Figure]:
        """The figures that show the claim."""
        return [figure for figure in figures().values() if figure.shows(self.id, self.paper, self.where)]


@cache
def claims() -> dict[str, Claim]:
    """All claims by their id, in the order of papers and of their files."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))["claims"]
    all_claims = [
        Claim(
            **{
                **row,
                "experiments": tuple(row["experiments"]),
                "depends_on": tuple(row.get("depends_on", ())),
                "numbers": tuple(NumberComparison(*each) for each in row.get("numbers", ())),
                "tables": tuple(
                    NumberTable(title, tuple(columns), tuple(map(tuple, table_rows)))
                    for title, columns, table_rows in row.get("tables", ())
                ),
                "sensitivity_sweeps": _sensitivity_sweeps(row.get("sensitivity_sweeps", ())),
            }
        )
        for row in rows
    ]
    order = list(PAPERS)
    return {each.id: each for each in sorted(all_claims, key=lambda each: order.index(each.paper))}


def _sensitivity_sweeps(rows: Sequence[Any]) -> tuple[SensitivitySweep, ...]:
    """Return sensitivity sweeps from their rows in the file of verdicts."""
    return tuple(
        SensitivitySweep(assumption, exclusion, default, tuple(Cell(*cell) for cell in cells))
        for assumption, exclusion, default, cells in rows
    )


def figure_claims(figure: Figure) -> list[Claim]:
    """The claims that a figure shows."""
    return [claim for claim in claims().values() if figure in claim.figures]
