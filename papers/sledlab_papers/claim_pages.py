"""A page for each claim: what the paper says, what sledlab measures, and the verdict with its reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from sledlab.reproduction.papers import PAPERS, quotation
from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    NEARLY_MET,
    NOT_MET,
)

from .claims import JUDGES, ClaimEntry, Verdict, claims
from .headlines import HEADLINES
from .pictures import figure_anchor, topic_figures
from .sensitivity import table as sweep_table
from .topic import ClaimVerdict, PageContent, Topic
from .wording import format_number

FOLDER = "reproduction/claims"
"""Folder of the pages in the documentation."""

CLAIM_ID = re.compile(r"\b[CHLWY]-\d\d\b")


def document_path(claim: str) -> str:
    """Return the path of the page of a claim in the documentation."""
    return f"{FOLDER}/{claim.lower()}.md"


def pages(topic: Topic, content: PageContent) -> dict[str, str]:
    """Return the page of each claim of a topic, in Markdown, by its path."""
    return {
        document_path(claim_id): page(topic, claim, content.verdicts[claim_id])
        for claim_id, claim in claims(topic.name).items()
    }


def page(topic: Topic, claim: ClaimEntry, verdict: ClaimVerdict) -> str:
    """Return the page of a claim."""
    text = section(claim, verdict, topic.title, topic.other_title)
    return f"{link_claims(text, claim.id)}\n{_links(topic, claim)}"


def link_claims(text: str, page_claim: str, folder: str = "") -> str:
    """Link the claims that paragraphs mention to their pages, except a page's own."""

    def link(match: re.Match[str]) -> str:
        return match[0] if match[0] == page_claim else f"[{match[0]}]({folder}{match[0].lower()}.md)"

    lines = text.splitlines(keepends=True)
    return "".join(line if line.startswith(("#", "<")) else CLAIM_ID.sub(link, line) for line in lines)


def _links(topic: Topic, claim: ClaimEntry) -> str:
    """Links to the figures that show the claim, to its judge and to its paper."""
    paper = f"../{claim.paper}.md"
    figure_links = [
        f"[figure {each.number}]({paper}#{figure_anchor(each)})"
        for each in topic_figures(topic.name)
        if each.shows(claim.id, claim.paper, claim.where)
    ]
    judge = JUDGES.get(claim.id) or JUDGES.get(claim.like)
    lines = [f"**Shown in** {', '.join(figure_links)}.\n"] if figure_links else []
    if judge:
        function = judge.func if isinstance(judge, partial) else judge
        path = f"papers/{function.__module__.replace('.', '/')}.py"
        lines.append(f"**Judged by** `{function.__name__}` in `{path}`.\n")
    lines.append(
        f"[{PAPERS[claim.paper].citation}]({paper}); [experiments and choices](../{topic.name}.md); "
        f"[how to read a verdict](../method.md#how-to-read-a-verdict); `sledlab reproduce show {claim.id}`\n"
    )
    return "\n".join(lines)


def section(claim: ClaimEntry, verdict: ClaimVerdict, title: str, other_title: str) -> str:
    """The section of one claim, with all readings in which its verdict is another one."""
    lines = [
        f"# {claim.id}: {verdict.outcome_text(claim)}",
        f"*{claim.where}; priority {claim.priority}, grade {claim.grade}*",
        f"**Claim.** {_sentence(claim.claim)} Published: {_sentence(claim.published)} Met if: "
        f"{_sentence(claim.accept)}",
    ]
    if claim.quote:
        lines.append(f"**Quotation.** {_escape(quotation(claim.paper, claim.quote))}.")
    main_verdict, other_verdict = verdict.main_verdict, verdict.other_verdict
    if other_verdict and verdict.both_count and verdict.readings_differ:
        lines += [
            f"**{name}: {each.outcome}.** {each.ours}"
            for name, each in ((title, main_verdict), (other_title, other_verdict))
        ]
        lines += _explanations(verdict, title, other_title)
    else:
        lines.append(f"**Ours.** {main_verdict.ours.rstrip()}")
        if other_verdict and other_verdict.ours != main_verdict.ours:
            lines.append(f"**{other_title}** ({other_verdict.outcome}). {other_verdict.ours}")
        lines += [f"**Why.** {main_verdict.why}"] if main_verdict.why else []
    lines += [f"**Published and ours.** {number_sentence(main_verdict)}"] if main_verdict.comparisons else []
    lines += _sensitivity(claim, verdict)
    return "\n\n".join(lines) + "\n"


def number_sentence(verdict: Verdict) -> str:
    """Printed numbers, ours and their ratios, in words."""
    parts = [
        f"{each.published}: {each.ours}, ratio {format_number(each.ratio)}" for each in verdict.comparisons
    ]
    return "; ".join(parts) + "."


def _sensitivity(claim: ClaimEntry, verdict: ClaimVerdict) -> Iterator[str]:
    """Choices with which a claim holds or flips: sweeps where it is contested, else a sentence."""
    if not is_contested(claim, verdict):
        if verdict.sensitivity_sweeps:
            yield f"**The same** over {'; '.join(each.assumption for each in verdict.sensitivity_sweeps)}."
        return
    if claim.closed:
        yield f"**No sensitivity sweep.** {claim.closed}"
    if not verdict.sensitivity_sweeps:
        return
    flipping = verdict.flipping_assumptions
    yield f"**Turns with** {'; '.join(flipping)}." if flipping else "**Turns with** none of the following."
    for each in verdict.sensitivity_sweeps:
        yield sweep_table(each)


def is_contested(claim: ClaimEntry, verdict: ClaimVerdict) -> bool:
    """Whether a choice of ours may have made the verdict: true below met, and for headlines."""
    return verdict.outcome in (DEPENDS, NEARLY_MET, DIRECTION_ONLY, NOT_MET) or (
        claim.id in HEADLINES and verdict.outcome not in (BY_DEFINITION, FITTED)
    )


def _explanations(verdict: ClaimVerdict, title: str, other_title: str) -> list[str]:
    """The explanations in both readings; only one where they are equal."""
    explanations = [
        (name, each.why)
        for name, each in ((title, verdict.main_verdict), (other_title, verdict.other_verdict))
        if each and each.why
    ]
    if len(explanations) == 2 and explanations[0][1] == explanations[1][1]:
        return [f"**Why.** {explanations[0][1]}"]
    return [f"**Why** ({name[0].lower()}{name[1:]}). {why}" for name, why in explanations]


def _sentence(text: str) -> str:
    """A text with a capital and a full stop."""
    text = _escape(text)
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _escape(text: str) -> str:
    """A text in Markdown, without emphasis and tags."""
    return text.replace("*", r"\*").replace("<", "&lt;")
