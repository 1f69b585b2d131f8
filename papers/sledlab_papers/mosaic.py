"""The mosaic of the index: a square for each claim, by paper and outcome."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import OUTCOMES, Claim

from .outcome_marks import MARKS


def mosaic(measured: Sequence[Claim]) -> str:
    """Return the mosaic in HTML: a legend with counts, and the claims of each paper, best outcomes first."""
    lines = ['<div class="mosaic">', *_legend(measured)]
    for key, paper in PAPERS.items():
        mine = sorted(
            (claim for claim in measured if claim.paper == key),
            key=lambda claim: (OUTCOMES.index(claim.outcome), claim.id),
        )
        title = f"{html.escape(paper.citation)}<small>{html.escape(paper.topic)}, {len(mine)} claims</small>"
        lines += [
            f'<p class="paper">{title}</p>',
            f'<ul aria-label="Claims of {html.escape(paper.citation)}">',
        ]
        lines += [f"<li>{_square(claim)}</li>" for claim in mine]
        lines.append("</ul>")
    return "\n".join([*lines, "</div>"]) + "\n"


def _legend(measured: Sequence[Claim]) -> Iterator[str]:
    counted = Counter(claim.outcome for claim in measured)
    yield '<ul class="legend" aria-label="Outcomes">'
    for outcome in OUTCOMES:
        mark = MARKS[outcome]
        square = f'<span class="{mark.css_class}" aria-hidden="true">{mark.symbol}</span>'
        yield f"<li>{square} {mark.label} <b>{counted[outcome]}</b></li>"
    yield "</ul>"


def _square(claim: Claim) -> str:
    mark = MARKS[claim.outcome]
    name = html.escape(f"{claim.id}, {claim.outcome_text}: {claim.claim}")
    link = f"claims/{claim.id.lower()}.html"
    return f'<a class="{mark.css_class}" href="{link}" title="{name}" aria-label="{name}">{mark.symbol}</a>'
