"""The mosaic of the index: a square for each claim, by paper and outcome."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import MARKS, OUTCOMES, Claim


def mosaic(claims: Sequence[Claim]) -> str:
    """Return the mosaic in HTML: a legend with counts, and the claims of each paper, best outcomes first."""
    lines = ['<div class="mosaic">', *_legend(claims)]
    for paper_key, paper in PAPERS.items():
        paper_claims = sorted(
            (claim for claim in claims if claim.paper == paper_key),
            key=lambda claim: (OUTCOMES.index(claim.outcome), claim.id),
        )
        count = len(paper_claims)
        title = f"{html.escape(paper.citation)}<small>{html.escape(paper.topic)}, {count} claims</small>"
        lines += [
            f'<p class="paper">{title}</p>',
            f'<ul aria-label="Claims of {html.escape(paper.citation)}">',
        ]
        lines += [f"<li>{_square(claim)}</li>" for claim in paper_claims]
        lines.append("</ul>")
    return "\n".join([*lines, "</div>"]) + "\n"


def _legend(claims: Sequence[Claim]) -> Iterator[str]:
    counts = Counter(claim.outcome for claim in claims)
    yield '<ul class="legend" aria-label="Outcomes">'
    for outcome in OUTCOMES:
        mark = MARKS[outcome]
        square = f'<span class="{mark.css_class}" aria-hidden="true">{mark.symbol}</span>'
        yield f"<li>{square} {mark.label} <b>{counts[outcome]}</b></li>"
    yield "</ul>"


def _square(claim: Claim) -> str:
    mark = MARKS[claim.outcome]
    title = html.escape(f"{claim.id}, {claim.outcome_text}: {claim.claim}")
    link = f"{claim.paper}.html#{claim.id.lower()}"
    return f'<a class="{mark.css_class}" href="{link}" title="{title}" aria-label="{title}">{mark.symbol}</a>'
