"""Verdicts that are part of the package: one file, which `sledlab reproduce` reads."""

from __future__ import annotations

import json
from typing import Any

from . import points
from .claims import ClaimEntry, claims, verdict
from .paths import PROJECT
from .runs import TOUCHED
from .topic import ClaimVerdict, Sheet, Topic

FILE = PROJECT / "python" / "sledlab" / "reproduction" / "verdicts.json"

TAKEN = ("id", "paper", "where", "priority", "grade", "claim", "published", "accept")
"""Fields of a claim that are copied unchanged."""


def send(topic: Topic, sheet: Sheet) -> None:
    """Writes the verdicts of a topic in place of its former ones."""
    there = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"claims": []}
    others = [row for row in there["claims"] if row["topic"] != topic.name]
    every = sorted((*others, *rows(topic, sheet)), key=lambda row: row["topic"])
    # A line for each claim, so that version control shows changes claim by claim.
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in every)
    FILE.write_text(f'{{"claims": [\n{lines}\n]}}\n', encoding="utf-8")


def rows(topic: Topic, sheet: Sheet) -> list[dict[str, Any]]:
    """Return the verdicts of a topic as they are written."""
    mine = claims(topic.name)
    return [
        {
            **{name: getattr(mine[claim], name) for name in TAKEN},
            "topic": topic.name,
            "outcome": outcome.outcome,
            "ours": _in_all(topic, outcome, "ours"),
            "why": _in_all(topic, outcome, "why"),
            "experiments": _experiments(topic, mine[claim]),
            **_strips(outcome),
        }
        for claim, outcome in sheet.verdicts.items()
    ]


def _strips(outcome: ClaimVerdict) -> dict[str, Any]:
    """The strips of a claim, if any: the choice, why it does not count, a cell for each value."""
    rows = [
        [
            each.over,
            each.exclusion,
            each.default,
            [[cell.value, cell.outcome, cell.number] for cell in each.cells],
        ]
        for each in outcome.strips
    ]
    return {"strips": rows} if rows else {}


def _in_all(topic: Topic, judged: ClaimVerdict, what: str) -> str:
    """A text of a claim: from both readings, where they count alike and their texts differ."""
    details = [(topic.title, judged.found), (topic.other_title, judged.other if judged.equal else None)]
    both = [(title, each.outcome, str(getattr(each, what)).strip()) for title, each in details if each]
    if len({text for _, _, text in both}) == 1:
        return both[0][2]
    return " ".join(f"{title} ({outcome}): {text}" for title, outcome, text in both if text)


def _experiments(topic: Topic, claim: ClaimEntry) -> list[str]:
    """The experiments whose tables the judge of a claim reads."""
    TOUCHED.clear()
    verdict(claim, topic.runs(points.directory(), ()))
    return list(dict.fromkeys(each.experiment for each in topic.plan if each.place in TOUCHED))
