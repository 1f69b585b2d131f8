"""The page of each paper: what it claims, the claims with both numbers, its figures, the assumptions."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import BY_DEFINITION, FITTED, MET, NO_EVIDENCE, OUTCOMES, Claim, claims

from .claim_pages import CLAIM_ID
from .markdown import table
from .outcome_marks import MARKS
from .pictures import section
from .scoreboard import cells_of_flips, link, simulated_numbers
from .templates import TEMPLATES, fill

COLUMNS = "claim | says | published | ours | outcome | why"

ARITHMETIC = "E"
"""Grade of claims that rest on arithmetic alone."""

LISTED: tuple[tuple[str, Callable[[Claim], bool]], ...] = (
    ("Met by arithmetic, from parameters of the paper", lambda claim: claim.outcome == MET),
    ("Fitted, or typed from the paper: no evidence", lambda claim: claim.outcome == FITTED),
    ("By definition, checked by tests: no evidence", lambda claim: claim.outcome == BY_DEFINITION),
)
"""Lists of claims that the table omits: their title, and whether a claim belongs to them."""


def document(paper: str) -> str:
    """Return the path of the page of a paper in the documentation."""
    return f"reproduction/{paper}.md"


def pages() -> dict[str, str]:
    """Return the page of each paper, in Markdown, by its path."""
    return {document(paper): page(paper) for paper in PAPERS}


def page(paper: str) -> str:
    """Return the page of a paper, from the verdicts in the package."""
    mine = sorted((claim for claim in claims().values() if claim.paper == paper), key=lambda each: each.id)
    texts = _texts()[paper]
    rows = [_row(claim) for claim in mine if not _is_listed(claim)]
    return fill(
        TEMPLATES,
        "paper.md",
        citation=PAPERS[paper].citation,
        summary=texts["summary"].strip() + "\n",
        result=_result(mine),
        claims=table(COLUMNS, rows, len(COLUMNS)),
        others=_others(mine),
        figures=section(paper, {claim.id: f"{link(claim.id)} {_symbol(claim)}" for claim in mine}),
        assumptions="".join(f"- {_with_links(text)}\n" for text in texts["assumptions"]),
        sensitivity=_sensitivity(mine),
        experiments=", ".join(f"[{name}]({name}.md)" for name in texts["topics"]),
    )


@cache
def _texts() -> dict[str, dict[str, Any]]:
    """The texts by paper."""
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))


def _is_listed(claim: Claim) -> bool:
    """Whether a claim is listed below the table, as it needs no reading of numbers."""
    return claim.outcome in NO_EVIDENCE or (claim.outcome == MET and claim.grade == ARITHMETIC)


def _result(mine: Sequence[Claim]) -> str:
    """The number of claims by outcome, and of printed numbers that are met."""
    counted = Counter(claim.outcome for claim in mine)
    outcomes = ", ".join(
        f"{counted[outcome]} {MARKS[outcome].label}" for outcome in OUTCOMES if counted[outcome]
    )
    numbers = simulated_numbers(mine)
    met = sum(claim.outcome == MET for claim in numbers)
    return (
        f"{len(mine)} claims: {outcomes}. "
        f"Simulated claims with a printed number: {len(numbers)}, of which met: {met}."
    )


def _row(claim: Claim) -> list[str]:
    """A claim with the published value next to ours."""
    published = "; ".join(each.published for each in claim.numbers) or claim.published
    ours = "; ".join(each.ours for each in claim.numbers) or claim.short
    if not ours:
        ours = "as published" if claim.outcome == MET else f"see {claim.id}"
    why = "" if claim.outcome == MET else claim.cause
    cells = [claim.claim, published, ours, f"{_symbol(claim)} {claim.outcome_text}", why]
    return [link(claim.id), *(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)]


def _symbol(claim: Claim) -> str:
    return MARKS[claim.outcome].symbol


def _others(mine: Sequence[Claim]) -> str:
    """The claims that the table omits, by reason."""

    def lines() -> Iterator[str]:
        for title, belongs in LISTED:
            names = [link(claim.id) for claim in mine if _is_listed(claim) and belongs(claim)]
            if names:
                yield f"- {title}: {', '.join(names)}.\n"

    return "".join(lines())


def _sensitivity(mine: Sequence[Claim]) -> str:
    """The claims that are met with some values of an open assumption and not with others."""
    rows = [row for claim in mine for row in cells_of_flips(claim)]
    if not rows:
        return ""
    return (
        "Claims that are met with some values of an assumption and not with others:\n\n"
        f"{table('claim | assumption | met with | less with', rows, 4)}"
    )


def _with_links(text: str) -> str:
    """A text with the claims that it mentions as links."""
    return CLAIM_ID.sub(lambda found: link(found[0]), text)
