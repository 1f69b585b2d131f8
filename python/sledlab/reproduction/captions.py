"""Lines below a figure: the outcome of each claim that it shows, the published result and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sledlab.reproduction.summary import outcome_counts
from sledlab.reproduction.verdicts import MARKS, NO_EVIDENCE, claims, figure_claims

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from sledlab.reproduction.figure import Figure
    from sledlab.reproduction.verdicts import Claim

MAX_LINES = 4
"""Most claims with a line of their own below a figure."""

MAX_CLAIMS_AT_MARK = 2
"""Most claims with their results beside a published value; of more, each has a line of its own."""

FULL_RUN = "Outcomes and measured values of claims are those of the full run on the paper's devices."


class Caption(NamedTuple):
    """A line below a figure.

    Attributes:
        outcome: The outcome that marks the line; empty for a line without a mark.
        text: The line.
    """

    outcome: str
    text: str


def measured(claim: Claim) -> str:
    """Our result in a few words: the values of printed numbers, otherwise the number that decides."""
    return "; ".join(each.ours for each in claim.numbers) or claim.short


def outcome_words(claim: Claim) -> str:
    """The outcome in a few words: of several choices that the claim depends on, the first."""
    first, *others = claim.depends_on or ("",)
    rest = f" and {len(others)} more" if others else ""
    return f"{claim.outcome} {first}{rest}".strip()


def claim_sentence(claim: Claim) -> str:
    """The outcome of a claim, what the paper says, and our result."""
    numbers = "; ".join(each.published for each in claim.numbers)
    published = f"{claim.claim} ({numbers})" if numbers else claim.claim
    ours = measured(claim)
    result = f" Measured: {ours}." if ours else ""
    return f"{claim.id} {outcome_words(claim)}. Published: {published}.{result}"


def statement_texts(claims_by_text: Mapping[str, Sequence[str]]) -> list[str]:
    """Return published values, each with the outcomes of the claims that make it, and our results once.

    Args:
        claims_by_text: Ids of claims, by the statement of the paper.
    """
    told: set[str] = set()
    texts = []
    for text, claim_ids in claims_by_text.items():
        details = "; ".join(_claim_results(claim_ids, told))
        texts.append(f"{text} ({details})" if details else text)
        told.update(claim_ids)
    return texts


def _claim_results(claim_ids: Sequence[str], told: Container[str]) -> Iterator[str]:
    if len(claim_ids) > MAX_CLAIMS_AT_MARK:
        ids_by_outcome: dict[str, list[str]] = {}
        for claim_id in claim_ids:
            label = MARKS[claims()[claim_id].outcome].label
            ids_by_outcome.setdefault(label, []).append(claim_id)
        yield from (f"{', '.join(ids)} {outcome}" for outcome, ids in ids_by_outcome.items())
        return
    for claim in (claims()[claim_id] for claim_id in claim_ids):
        ours = measured(claim)
        result = f" {outcome_words(claim)}{f', measured {ours}' if ours else ''}"
        yield claim.id if claim.id in told else claim.id + result


def captions(figure: Figure, claims_at_marks: Sequence[Sequence[str]]) -> list[Caption]:
    """Return a line for each claim that a figure shows, of many for the most important ones.

    Args:
        figure: The figure.
        claims_at_marks: The claims of each published value that is drawn.
    """
    told = {name for names in claims_at_marks if len(names) <= MAX_CLAIMS_AT_MARK for name in names}
    untold = [claim for claim in figure_claims(figure) if claim.id not in told]
    untold.sort(key=lambda claim: (claim.outcome in NO_EVIDENCE, claim.priority))
    lines = [Caption(claim.outcome, claim_sentence(claim)) for claim in untold[:MAX_LINES]]
    if others := untold[MAX_LINES:]:
        text = f"{len(others)} more ({outcome_counts(others)}): sledlab reproduce show {figure.name}"
        lines.append(Caption("", text))
    return lines
