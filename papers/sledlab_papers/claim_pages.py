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
from .wording import figure

FOLDER = "reproduction/claims"
"""Folder of the pages in the documentation."""

CLAIM_ID = re.compile(r"\b[CHLWY]-\d\d\b")


def document(claim: str) -> str:
    """Return the path of the page of a claim in the documentation."""
    return f"{FOLDER}/{claim.lower()}.md"


def pages(topic: Topic, sheet: PageContent) -> dict[str, str]:
    """Return the page of each claim of a topic, in Markdown, by its path."""
    return {
        document(name): page(topic, claim, sheet.verdicts[name]) for name, claim in claims(topic.name).items()
    }


def page(topic: Topic, claim: ClaimEntry, outcome: ClaimVerdict) -> str:
    """Return the page of a claim."""
    text = section(claim, outcome, topic.title, topic.other_title)
    return f"{link_claims(text, claim.id)}\n{_links(topic, claim)}"


def link_claims(text: str, own: str, folder: str = "") -> str:
    """Link the claims that paragraphs mention to their pages, except a page's own."""

    def link(found: re.Match[str]) -> str:
        return found[0] if found[0] == own else f"[{found[0]}]({folder}{found[0].lower()}.md)"

    lines = text.splitlines(keepends=True)
    return "".join(line if line.startswith(("#", "<")) else CLAIM_ID.sub(link, line) for line in lines)


def _links(topic: Topic, claim: ClaimEntry) -> str:
    """Where the claim is shown and how it is judged."""
    paper = f"../{claim.paper}.md"
    shown = [
        f"[figure {each.number}]({paper}#{figure_anchor(each)})"
        for each in topic_figures(topic.name)
        if each.shows(claim.id, claim.paper, claim.where)
    ]
    judge = JUDGES.get(claim.id) or JUDGES.get(claim.like)
    lines = [f"**Shown in** {', '.join(shown)}.\n"] if shown else []
    if judge:
        function = judge.func if isinstance(judge, partial) else judge
        file = f"papers/{function.__module__.replace('.', '/')}.py"
        lines.append(f"**Judged by** `{function.__name__}` in `{file}`.\n")
    lines.append(
        f"[{PAPERS[claim.paper].citation}]({paper}); [experiments and choices](../{topic.name}.md); "
        f"[how to read a verdict](../method.md#how-to-read-a-verdict); `sledlab reproduce show {claim.id}`\n"
    )
    return "\n".join(lines)


def section(claim: ClaimEntry, outcome: ClaimVerdict, title: str, other_title: str) -> str:
    """The section of one claim, with all readings in which its verdict is another one."""
    lines = [
        f"# {claim.id}: {outcome.outcome_text(claim)}",
        f"*{claim.where}; priority {claim.priority}, grade {claim.grade}*",
        f"**Claim.** {_sentence(claim.claim)} Published: {_sentence(claim.published)} Met if: "
        f"{_sentence(claim.accept)}",
    ]
    if claim.quote:
        lines.append(f"**Quotation.** {_escape(quotation(claim.paper, claim.quote))}.")
    measured, other = outcome.main_verdict, outcome.other_verdict
    if other and outcome.equal and outcome.readings_differ:
        lines += [
            f"**{name}: {each.outcome}.** {each.ours}"
            for name, each in ((title, measured), (other_title, other))
        ]
        lines += _explanations(outcome, title, other_title)
    else:
        lines.append(f"**Ours.** {measured.ours.rstrip()}")
        if other and other.ours != measured.ours:
            lines.append(f"**{other_title}** ({other.outcome}). {other.ours}")
        lines += [f"**Why.** {measured.why}"] if measured.why else []
    lines += [f"**Published and ours.** {number_sentence(measured)}"] if measured.comparisons else []
    lines += _sensitivity(claim, outcome)
    return "\n\n".join(lines) + "\n"


def number_sentence(measured: Verdict) -> str:
    """Printed numbers, ours and their ratios, in words."""
    parts = [f"{each.published}: {each.ours}, ratio {figure(each.ratio)}" for each in measured.comparisons]
    return "; ".join(parts) + "."


def _sensitivity(claim: ClaimEntry, outcome: ClaimVerdict) -> Iterator[str]:
    """Choices with which a claim holds or flips: sweeps where it is contested, else a sentence."""
    if not is_contested(claim, outcome):
        if outcome.sensitivity_sweeps:
            yield f"**The same** over {'; '.join(each.assumption for each in outcome.sensitivity_sweeps)}."
        return
    if claim.closed:
        yield f"**No sensitivity sweep.** {claim.closed}"
    if not outcome.sensitivity_sweeps:
        return
    turns = outcome.flipping_assumptions
    yield f"**Turns with** {'; '.join(turns)}." if turns else "**Turns with** none of the following."
    for each in outcome.sensitivity_sweeps:
        yield sweep_table(each)


def is_contested(claim: ClaimEntry, outcome: ClaimVerdict) -> bool:
    """Whether a choice of ours may have made the verdict: true below met, and for headlines."""
    return outcome.outcome in (DEPENDS, NEARLY_MET, DIRECTION_ONLY, NOT_MET) or (
        claim.id in HEADLINES and outcome.outcome not in (BY_DEFINITION, FITTED)
    )


def _explanations(outcome: ClaimVerdict, title: str, other_title: str) -> list[str]:
    """The explanations in both readings; only one where they are equal."""
    whys = [
        (name, each.why)
        for name, each in ((title, outcome.main_verdict), (other_title, outcome.other_verdict))
        if each and each.why
    ]
    if len(whys) == 2 and whys[0][1] == whys[1][1]:
        return [f"**Why.** {whys[0][1]}"]
    return [f"**Why** ({name[0].lower()}{name[1:]}). {why}" for name, why in whys]


def _sentence(text: str) -> str:
    """A text with a capital and a full stop."""
    text = _escape(text)
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _escape(text: str) -> str:
    """A text in Markdown, without emphasis and tags."""
    return text.replace("*", r"\*").replace("<", "&lt;")
