"""The page that leads to all others: outcomes of the claims, paper by paper, on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.summary import GRADES
from sledlab.reproduction.verdicts import NO_EVIDENCE, Claim, SensitivitySweep, claims

from .claims import DEPENDS, NOT_REPRODUCED, OUTCOMES, REPRODUCED
from .headlines import HEADLINES
from .markdown import table
from .pictures import anchor, schematics
from .templates import TEMPLATES, fill

DOCUMENT = "reproduction/index.md"


def page() -> str:
    """The page in Markdown, from the verdicts in the package."""
    claims.cache_clear()
    measured = list(claims().values())
    return fill(
        TEMPLATES,
        "index.md",
        total=f"{len(measured)}",
        reproduced=f"{sum(each.outcome == REPRODUCED for each in measured)}",
        board=_outcome_table(measured),
        headlines=_headlines(),
        misses=_misses(measured),
        sensitivity=_sensitivity(measured),
        schematics=schematics(),
    )


def _outcome_table(measured: list[Claim]) -> str:
    """Numbers of claims by outcome: by paper, by priority, by grade."""
    shown = [each for each in OUTCOMES if any(claim.outcome == each for claim in measured)]

    def row(title: str, some: list[Claim]) -> list[str]:
        counted = Counter(claim.outcome for claim in some)
        return [title, f"{len(some)}", *(f"{counted[outcome] or ''}" for outcome in shown)]

    def rows() -> Iterator[list[str]]:
        for key, paper in PAPERS.items():
            pages = dict.fromkeys(claim.topic for claim in measured if claim.paper == key)
            links = ", ".join(f"[{page}]({page}.md)" for page in pages)
            yield row(
                f"{paper.citation}: {paper.topic} ({links})", [each for each in measured if each.paper == key]
            )
        for priority in (1, 2, 3):
            yield row(f"*priority {priority}*", [each for each in measured if each.priority == priority])
        for grade, meaning in GRADES.items():
            yield row(f"*grade {grade}: {meaning}*", [each for each in measured if grade in each.grade])

    return table(["", "claims", *shown], rows())


def _headlines() -> str:
    rows = [
        [link(claim.id), says, claim.outcome, "; ".join(flipping_choices(claim)) or _explanation(claim)]
        for claim, says in ((claims()[name], says) for name, says in HEADLINES.items())
    ]
    return table("claim | says | outcome | turns with", rows, 4)


def _misses(measured: list[Claim]) -> str:
    """Claims of priority 1 and 2 that are not reproduced."""
    rows = [
        [link(each.id), f"{each.claim[0].upper()}{each.claim[1:]}", each.published]
        for each in sorted(measured, key=lambda claim: claim.priority)
        if each.outcome == NOT_REPRODUCED and each.priority < 3
    ]
    return table("claim | says | published", rows, 3)


def _sensitivity(measured: list[Claim]) -> str:
    """Number of contested claims that hold over their sweeps, and those that flip, with the cause."""
    attempted = [each for each in measured if any(not sweep.exclusion for sweep in each.sensitivity_sweeps)]
    steady = [each for each in attempted if each.outcome == REPRODUCED]
    rows = [
        [
            link(claim.id),
            sweep.assumption,
            "; ".join(_values(sweep, holds=True)),
            "; ".join(_values(sweep, holds=False)),
        ]
        for claim in attempted
        for sweep in claim.sensitivity_sweeps
        if sweep.flips and not sweep.exclusion
    ]
    flipping = [claim.id for claim in attempted if flipping_choices(claim)]
    counted = (
        f"Of {len(attempted)} claims that hang on something that the papers leave open, {len(steady)} are "
        f"reproduced with every value that was tried, {len(flipping)} with some and not with others, and "
        f"{len(attempted) - len(steady) - len(flipping)} with none."
    )
    return f"{counted}\n\n{table('claim | turns with | reproduced with | not, or in part, with', rows, 4)}"


def _explanation(claim: Claim) -> str:
    """The cell of a claim that no sweep turns."""
    return "see there" if claim.outcome == DEPENDS else "nothing that was tried"


def flipping_choices(claim: Claim) -> list[str]:
    """The choices left open by the paper, with values, that turn a claim."""
    return [sweep.assumption for sweep in claim.sensitivity_sweeps if sweep.flips and not sweep.exclusion]


def _values(sweep: SensitivitySweep, *, holds: bool) -> list[str]:
    """The values with which a claim is reproduced, or with `holds` false, those with which it is less."""
    cells = [cell for cell in sweep.cells if cell.outcome not in NO_EVIDENCE]
    return [cell.value for cell in cells if (cell.outcome == REPRODUCED) is holds]


def link(name: str) -> str:
    """A claim, linked to its place on its page."""
    claim = claims()[name]
    return f"[{name}]({claim.topic}.md#{anchor(name, claim.outcome)})"
