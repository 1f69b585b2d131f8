"""Verdicts that are part of the package: one file, which `sledlab reproduce` reads."""

from __future__ import annotations

import json
from typing import Any

from . import results
from .claims import UNEXPLAINED_OUTCOMES, ClaimEntry, claims, verdict
from .paths import PROJECT
from .runs import TableReads
from .topic import ClaimVerdict, PageContent, Topic

FILE = PROJECT / "python" / "sledlab" / "reproduction" / "verdicts.json"

COPIED_FIELDS = ("id", "paper", "where", "priority", "grade", "claim", "published", "quote", "accept")
"""Fields of a claim that are copied unchanged."""


def write(topic: Topic, content: PageContent) -> None:
    """Write the verdicts of a topic, replacing its former ones."""
    former = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"claims": []}
    other_rows = [row for row in former["claims"] if row["topic"] != topic.name]
    all_rows = sorted((*other_rows, *rows(topic, content)), key=lambda row: row["topic"])
    # A line for each claim, so that version control shows changes claim by claim.
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in all_rows)
    FILE.write_text(f'{{"claims": [\n{lines}\n]}}\n', encoding="utf-8")


def rows(topic: Topic, content: PageContent) -> list[dict[str, Any]]:
    """Return the verdicts of a topic as they are written."""
    topic_claims = claims(topic.name)
    return [
        {
            **{name: getattr(topic_claims[claim], name) for name in COPIED_FIELDS},
            "topic": topic.name,
            "outcome": claim_verdict.outcome,
            "depends_on": claim_verdict.depends_on(topic_claims[claim]),
            "ours": claim_verdict.verdict.ours.strip(),
            "why": claim_verdict.verdict.why.strip(),
            "short": claim_verdict.verdict.short,
            "cause": "" if claim_verdict.outcome in UNEXPLAINED_OUTCOMES else topic_claims[claim].cause,
            **_optional_fields(topic_claims[claim]),
            "numbers": [
                [each.published, each.ours, each.ratio]
                + ([each.predicted, each.predicted_ratio] if each.predicted else [])
                for each in claim_verdict.verdict.comparisons
            ],
            **_tables(claim_verdict),
            "experiments": _experiments(topic, topic_claims[claim]),
            **_sweep_rows(claim_verdict),
        }
        for claim, claim_verdict in content.verdicts.items()
    ]


def _optional_fields(claim: ClaimEntry) -> dict[str, str]:
    """Fields that few claims have: what excludes it, and why nothing else is varied."""
    return {name: value for name in ("contradicted_by", "unvaried") if (value := getattr(claim, name))}


def _tables(claim_verdict: ClaimVerdict) -> dict[str, Any]:
    """Further numbers behind a verdict, if any."""
    tables = [[each.title, each.columns, each.rows] for each in claim_verdict.verdict.tables]
    return {"tables": tables} if tables else {}


def _sweep_rows(claim_verdict: ClaimVerdict) -> dict[str, Any]:
    """The sensitivity sweeps of a claim, if any: the choice, why it does not count, a cell for each value."""
    rows = [
        [
            each.assumption,
            each.exclusion,
            each.default,
            [[cell.value, cell.outcome, cell.number] for cell in each.cells],
        ]
        for each in claim_verdict.sensitivity_sweeps
    ]
    return {"sensitivity_sweeps": rows} if rows else {}


def _experiments(topic: Topic, claim: ClaimEntry) -> list[str]:
    """The experiments whose tables the judge of a claim reads."""
    with TableReads.record() as reads:
        verdict(claim, topic.runs(results.directory(), ()))
    return list(dict.fromkeys(each.experiment for each in topic.plan if each.place in reads.places))
