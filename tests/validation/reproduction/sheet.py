"""What the pages on claims share: how claims are counted, how one is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ..markdown import table
from .claims import OUTCOMES, REPRODUCED, Claim, Verdict

PRIORITIES = (1, 2, 3)


def counts(claims: Mapping[str, Claim], outcomes: Mapping[str, str]) -> str:
    """How many claims came out how, by priority."""
    found = Counter((claims[name].priority, outcome) for name, outcome in outcomes.items())
    rows = [
        [f"priority {priority}", *(str(found[priority, outcome]) for outcome in OUTCOMES)]
        for priority in PRIORITIES
    ]
    rows.append(["all", *(str(sum(found[p, outcome] for p in PRIORITIES)) for outcome in OUTCOMES)])
    return table(["claims", *OUTCOMES], rows)


def section(claim: Claim, found: Verdict, beside: str = "") -> str:
    """One claim; what stands `beside` our numbers does not count."""
    lines = [
        f"### {claim.id}: {found.outcome}",
        f"*{claim.where}; priority {claim.priority}, grade {claim.grade}*",
        f"**Claim.** {_sentence(claim.claim)} Published: {_sentence(claim.published)} "
        f"Reproduced if: {_sentence(claim.accept)}",
        f"**Ours.** {found.ours.rstrip()}",
    ]
    if beside:
        lines.append(beside)
    if found.why and found.outcome != REPRODUCED:
        lines.append(f"**Why.** {found.why}")
    return "\n\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text.replace("*", r"\*").replace("<", "&lt;")
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def write(text: str, file: Path) -> Counter[str]:
    """Writes a page, and says how many claims came out how."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return Counter(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("### "))
