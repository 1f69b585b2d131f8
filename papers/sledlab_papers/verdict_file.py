"""Verdicts that are part of the package: one file, which `sledlab reproduce` reads."""

from __future__ import annotations

import json
from typing import Any

from . import results
from .claims import ClaimEntry, claims, verdict
from .paths import PROJECT
from .runs import READ_PLACES
from .topic import ClaimVerdict, PageContent, Topic

FILE = PROJECT / "python" / "sledlab" / "reproduction" / "verdicts.json"

COPIED_FIELDS = ("id", "paper", "where", "priority", "grade", "claim", "published", "quote", "accept")
"""Fields of a claim that are copied unchanged."""


def write(topic: Topic, sheet: PageContent) -> None:
    """Writes the verdicts of a topic in place of its former ones."""
    there = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"claims": []}
    others = [row for row in there["claims"] if row["topic"] != topic.name]
    every = sorted((*others, *rows(topic, sheet)), key=lambda row: row["topic"])
    # A line for each claim, so that version control shows changes claim by claim.
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in every)
    FILE.write_text(f'{{"claims": [\n{lines}\n]}}\n', encoding="utf-8")


def rows(topic: Topic, sheet: PageContent) -> list[dict[str, Any]]:
    """Return the verdicts of a topic as they are written."""
    mine = claims(topic.name)
    return [
        {
            **{name: getattr(mine[claim], name) for name in COPIED_FIELDS},
            "topic": topic.name,
            "outcome": outcome.outcome,
            "depends_on": outcome.depends_on(mine[claim]),
            "ours": _combined_text(topic, outcome, "ours"),
            "why": _combined_text(topic, outcome, "why"),
            "short": outcome.main_verdict.short,
            "cause": mine[claim].cause,
            "numbers": [[each.published, each.ours, each.ratio] for each in outcome.main_verdict.comparisons],
            "experiments": _experiments(topic, mine[claim]),
            **_sweep_rows(outcome),
        }
        for claim, outcome in sheet.verdicts.items()
    ]


def _sweep_rows(outcome: ClaimVerdict) -> dict[str, Any]:
    """The sensitivity sweeps of a claim, if any: the choice, why it does not count, a cell for each value."""
    rows = [
        [
            each.assumption,
            each.exclusion,
            each.default,
            [[cell.value, cell.outcome, cell.number] for cell in each.cells],
        ]
        for each in outcome.sensitivity_sweeps
    ]
    return {"sensitivity_sweeps": rows} if rows else {}


def _combined_text(topic: Topic, claim_verdict: ClaimVerdict, what: str) -> str:
    """A text of a claim: from both readings, where they count alike and their texts differ."""
    details = [
        (topic.title, claim_verdict.main_verdict),
        (topic.other_title, claim_verdict.other_verdict if claim_verdict.equal else None),
    ]
    both = [(title, each.outcome, str(getattr(each, what)).strip()) for title, each in details if each]
    if len({text for _, _, text in both}) == 1:
        return both[0][2]
    return " ".join(f"{title} ({outcome}): {text}" for title, outcome, text in both if text)


def _experiments(topic: Topic, claim: ClaimEntry) -> list[str]:
    """The experiments whose tables the judge of a claim reads."""
    READ_PLACES.clear()
    verdict(claim, topic.runs(results.directory(), ()))
    return list(dict.fromkeys(each.experiment for each in topic.plan if each.place in READ_PLACES))
