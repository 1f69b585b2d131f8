"""Verdicts that differ from former ones, and why: docs/reproduction/changes.md."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from sledlab.reproduction.verdicts import claims as travelled

from ..markdown import table
from ..page import DOCUMENTS, fill
from .claims import DEPENDS, HELD, NOT, OUTCOMES, ClaimEntry, claims
from .scoreboard import turning
from .topic import counts

DOCUMENT = "reproduction/changes.md"

NONE = "none"
"""The outcome of a claim that had no verdict before."""

USUAL = {
    HELD: "It defines something. What tests hold is now run, and no longer called reproduced.",
    DEPENDS: "Two readings of the paper count alike, and differ.",
    NOT: "Two readings of the paper count alike, and in neither it is reproduced; in one not even in part.",
    NONE: "It had no verdict.",
}
"""Reasons that many claims share; other reasons are kept with their claims."""


def before() -> dict[str, str]:
    """The former outcome of each claim."""
    kept = tomllib.loads((Path(__file__).parent / "before.toml").read_text(encoding="utf-8"))
    return {name: outcome for outcome, names in kept.items() for name in names}


def on_page(text: str) -> dict[str, str]:
    """The outcomes of claims, read from their headings on a page."""
    return dict(re.findall(r"^### ([CHLWY]-\d\d): (.*)$", text, re.MULTILINE))


def now(topics: Iterable[str]) -> dict[str, str]:
    """The outcomes of claims on the present pages of topics."""
    pages = ((DOCUMENTS / f"reproduction/{name}.md").read_text(encoding="utf-8") for name in topics)
    return {name: outcome for text in pages for name, outcome in on_page(text).items()}


def reason(claim: ClaimEntry, was: str, became: str) -> str:
    """Why the outcome changed; empty where no reason was written down."""
    turns = turning(travelled()[claim.id])
    if turns and became == DEPENDS and not claim.changed:
        return f"{USUAL[NONE] + ' ' if was == NONE else ''}It turns with what is open: {'; '.join(turns)}."
    if claim.changed or was == NONE:
        return claim.changed or USUAL[NONE]
    return USUAL.get(became, "")


def changed(topics: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    """Former outcome, present outcome and reason, by claim."""
    topics = list(topics)
    of_all = _claims(topics)
    was, became = before(), now(topics)
    found = {name: (was.get(name, NONE), became[name]) for name in sorted(became)}
    return {name: (*pair, reason(of_all[name], *pair)) for name, pair in found.items() if len(set(pair)) == 2}


def _claims(topics: Iterable[str]) -> dict[str, ClaimEntry]:
    return {name: claim for topic in topics for name, claim in claims(topic).items()}


def page(topics: Iterable[str]) -> str:
    """The page in Markdown."""
    topics = list(topics)
    rows = [[name, *row] for name, row in changed(topics).items()]
    return fill(
        "reproduction/changes.md",
        totals=counts(_claims(topics), now(topics)),
        outcomes=_outcomes(before(), now(topics)),
        changes=table("claim | once | now | why", rows, words=4),
    )


def _outcomes(was: Mapping[str, str], became: Mapping[str, str]) -> str:
    once, present = Counter(was.values()), Counter(became.values())
    once[NONE] = len(became.keys() - was.keys())
    return table(
        "outcome | once | now", [[each, str(once[each]), str(present[each])] for each in (*OUTCOMES, NONE)]
    )
