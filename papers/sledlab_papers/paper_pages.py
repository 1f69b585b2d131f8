"""The page of each paper: its set of assumptions, the claims with both numbers, its figures."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sledlab.reproduction.assumption import assumptions
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import (
    ARITHMETIC,
    BY_DEFINITION,
    DEPENDS,
    FITTED,
    MARKS,
    MET,
    NEARLY_MET,
    NO_EVIDENCE,
    OUTCOMES,
    Claim,
    claims,
)

from . import explorable
from .markdown import table
from .pictures import section
from .scoreboard import link
from .sensitivity import choices
from .templates import TEMPLATES, fill
from .topics import TOPICS
from .wording import format_number

CONTRADICTIONS = "reproduction/contradictions.md"
FITS = "reproduction/fits.md"
PREDICTIONS = "reproduction/predictions.md"

CONTRADICTION_TEXTS = Path(__file__).with_name("contradictions")
"""Folder of the contradictions of each paper."""

PREDICTION_COLUMNS = "claim | printed | predicted | came out | difference | why ours differs from print"
SET_COLUMNS = "assumption | mark | because"
FIT_COLUMNS = "paper | fitted value | here | spent on | also serves"
COLUMNS = "claim | outcome | says | published | measured | ratio | why"
"""Columns of the tables of fits and of claims; `docs/style.css` names them on narrow screens."""

CLAIM_ID = re.compile(r"\b[CHLWY]-\d\d\b")

CLAIM_LISTS: tuple[tuple[str, Callable[[Claim], bool]], ...] = (
    ("Met by arithmetic, from parameters of the paper", lambda claim: claim.outcome == MET),
    ("Fitted, or typed from the paper: no evidence", lambda claim: claim.outcome == FITTED),
    ("By definition, checked by tests: no evidence", lambda claim: claim.outcome == BY_DEFINITION),
)
"""Lists of claims that the table omits: their title, and whether a claim belongs to them."""


def document_path(paper: str) -> str:
    """Return the path of the page of a paper in the documentation."""
    return f"reproduction/{paper}.md"


def pages() -> dict[str, str]:
    """Return the pages of papers and those on all papers, in Markdown, by their paths."""
    return {
        **{document_path(paper): page(paper) for paper in PAPERS},
        CONTRADICTIONS: contradictions_page(),
        FITS: fits_page(),
        PREDICTIONS: predictions_page(),
    }


def contradictions_page() -> str:
    """Return the page on statements of a paper that exclude each other."""
    sections = [
        f"# {PAPERS[paper].citation}\n\n{file.read_text(encoding='utf-8')}"
        for paper in PAPERS
        if (file := CONTRADICTION_TEXTS / f"{paper}.md").is_file()
    ]
    text = re.sub("^#", "##", "\n".join(sections), flags=re.MULTILINE)
    return fill(TEMPLATES, "contradictions.md", sections=_with_links(text))


def predictions_page() -> str:
    """Return the page on what was expected of each printed number before the experiments ran."""
    rows = [
        [
            link(claim.id),
            each.published,
            each.predicted or "not predicted",
            each.ours,
            f"{each.predicted_ratio - 1:+.0%}" if each.predicted else "",
            claim.cause,
        ]
        for claim in claims().values()
        for each in claim.numbers
        if each.predicted or claim.has_simulated_number
    ]
    return fill(TEMPLATES, "predictions.md", rows=table(PREDICTION_COLUMNS, rows, 6))


def page(paper: str) -> str:
    """Return the page of a paper, from the verdicts in the package."""
    paper_claims = sorted(
        (claim for claim in claims().values() if claim.paper == paper), key=lambda each: each.id
    )
    texts = _texts_by_paper()[paper]
    rows = [_row(claim) for claim in paper_claims if not _is_listed(claim)]
    return fill(
        TEMPLATES,
        "paper.md",
        paper=paper,
        citation=PAPERS[paper].citation,
        summary=texts["summary"].strip() + "\n",
        result=_result(paper, paper_claims),
        example=_example(paper_claims),
        set=_set_table(paper),
        turning=_turning_assumptions(paper_claims),
        explore=explorable.marker(paper),
        claims=table(COLUMNS, rows, len(COLUMNS)),
        others=_others(paper_claims),
        figures=section(paper, {claim.id: f"{link(claim.id)} {_symbol(claim)}" for claim in paper_claims}),
        contradictions=_contradictions(paper),
        notes="".join(f"- {_with_links(text)}\n" for text in texts["notes"]),
        experiments=", ".join(f"[{name}]({name}.md)" for name in texts["topics"]),
    )


def _example(paper_claims: Sequence[Claim]) -> str:
    """The first claim with a printed number; of a paper that prints none, the first that is read."""
    with_numbers = [claim for claim in paper_claims if claim.has_simulated_number]
    return (with_numbers or [claim for claim in paper_claims if not _is_listed(claim)])[0].id


@cache
def _texts_by_paper() -> dict[str, dict[str, Any]]:
    """The texts by paper."""
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))


def _is_listed(claim: Claim) -> bool:
    """Whether a claim is listed below the table, as it needs no reading of numbers."""
    return claim.outcome in NO_EVIDENCE or (claim.outcome == MET and claim.grade == ARITHMETIC)


def _result(paper: str, paper_claims: Sequence[Claim]) -> str:
    """The numbers of printed numbers that are met, of values fitted for them, and of claims by outcome."""
    counts = Counter(claim.outcome for claim in paper_claims)
    outcomes = ", ".join(
        f"{counts[outcome]} {MARKS[outcome].label}" for outcome in OUTCOMES if counts[outcome]
    )
    claims_with_numbers = [claim for claim in paper_claims if claim.has_simulated_number]
    in_set = Counter(claim.outcome_in_set for claim in claims_with_numbers)
    dependent_count = sum(
        claim.outcome == DEPENDS and claim.outcome_in_set in (MET, NEARLY_MET)
        for claim in claims_with_numbers
    )
    return (
        f"Simulated claims with a printed number: {len(claims_with_numbers)}. Under the set, {in_set[MET]} "
        f"are met and {in_set[NEARLY_MET]} nearly met ({dependent_count} of these only under it); "
        f"{in_set[FITTED]} are fitted (by {fitted_values(paper)} values). "
        f"All {len(paper_claims)} claims: {outcomes}."
    )


def fitted_values(paper: str) -> int:
    """The number of values that were fitted to printed numbers of a paper."""
    return sum(max(1, len(each.settings)) for each in assumptions(paper) if each.is_fitted)


def _set_table(paper: str) -> str:
    """The set of assumptions of a paper."""
    rows = [[each.says, each.mark, each.because] for each in assumptions(paper)]
    escaped_rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return table(SET_COLUMNS, escaped_rows, 3)


def fits_page() -> str:
    """Return the page on fitted values: the numbers spent on each, and those it also serves."""
    rows = [
        [
            PAPERS[paper].citation,
            key,
            str(value),
            _moved_numbers(key, each.fitted_to),
            _moved_numbers(key, [name for name in each.claims if name not in each.fitted_to]),
        ]
        for paper in PAPERS
        for each in assumptions(paper)
        if each.is_fitted
        for key, value in each.settings.items()
    ]
    return fill(TEMPLATES, "fits.md", rows=table(FIT_COLUMNS, rows, 5))


def _moved_numbers(key: str, names: Sequence[str]) -> str:
    """Claims, each with its number at the values of the sweep that moves a fitted value, if there is one."""
    sweep_names = {choice.assumption for topic in TOPICS for choice in choices(topic) if choice.moves(key)}

    def moved(claim: Claim) -> str:
        numbers = [
            f"{cell.number} at {cell.value}"
            for sweep in claim.sensitivity_sweeps
            if sweep.assumption in sweep_names
            for cell in sweep.cells
            if cell.number
        ]
        return link(claim.id) + (f" ({'; '.join(numbers)})" if numbers else "")

    return ", ".join(moved(claims()[name]) for name in names)


def _row(claim: Claim) -> list[str]:
    """A claim with the published value next to ours."""
    published = "; ".join(each.published for each in claim.numbers) or claim.published
    ours = "; ".join(each.ours for each in claim.numbers) or claim.short
    if not ours:
        ours = "as published" if claim.outcome == MET else f"see {claim.id}"
    why = claim.cause
    if claim.contradicted_by:
        why = f"[contradiction](contradictions.md#{claim.contradicted_by.partition('#')[2]}): {why}"
    ratio = "; ".join(format_number(each.ratio) for each in claim.numbers)
    cells = [f"{_symbol(claim)} {claim.outcome_text}", claim.claim, published, ours, ratio, why]
    return [_anchor(claim), *(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)]


def _contradictions(paper: str) -> str:
    """A list of the statements of a paper that exclude each other, with links to the proofs."""
    text = (CONTRADICTION_TEXTS / f"{paper}.md").read_text(encoding="utf-8")
    anchors = re.findall(r"^## .+ \{#(.+)\}$", text, flags=re.MULTILINE)
    sentences = _texts_by_paper()[paper]["contradictions"]
    return "".join(
        f"- {_with_links(sentences[anchor])} [Proof](contradictions.md#{anchor}).\n" for anchor in anchors
    )


def _turning_assumptions(paper_claims: Sequence[Claim]) -> str:
    """The assumptions of which other values turn claims, each with these claims."""
    claims_by_assumption: dict[str, list[str]] = {}
    for claim in paper_claims:
        for assumption in claim.depends_on:
            claims_by_assumption.setdefault(assumption, []).append(link(claim.id))
    turned = (f"*{name}* ({', '.join(links)})" for name, links in claims_by_assumption.items())
    return "; ".join(turned) or "none"


def _anchor(claim: Claim) -> str:
    """The id of a claim, to which links lead."""
    return f'<a id="{claim.id.lower()}"></a>{claim.id}'


def _symbol(claim: Claim) -> str:
    return MARKS[claim.outcome].symbol


def _others(paper_claims: Sequence[Claim]) -> str:
    """The claims that the table omits, by reason."""

    def lines() -> Iterator[str]:
        for title, belongs in CLAIM_LISTS:
            anchors = [_anchor(claim) for claim in paper_claims if _is_listed(claim) and belongs(claim)]
            if anchors:
                yield f"- {title}: {', '.join(anchors)}.\n"

    return "".join(lines())


def _with_links(text: str) -> str:
    """A text with the claims that it mentions as links."""
    return CLAIM_ID.sub(lambda match: link(match[0]), text)
