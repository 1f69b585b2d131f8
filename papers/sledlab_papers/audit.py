"""Audits of the verdicts: what an auditor recommended for each verdict, and the outcome today.

`audit.toml` has the audited verdicts; outcomes are those of `python/sledlab/reproduction/verdicts.json`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sledlab.reproduction.verdicts import claims

from .markdown import table
from .paths import PAPERS

FILE = PAPERS / "AUDIT.md"

SOUND = "sound"
JUDGMENTS = (SOUND, "too kind", "too harsh", "circular", "untrue sentence", "misquoted")

INTRODUCTION = """# Audits of the verdicts

An auditor read the paper, the claim, the function that judges the claim and the printed number, and decided
whether the verdict is sound. Claims and their numbers: `sledlab reproduce show ID`.

- *too kind*, *too harsh*: the outcome is better or worse than the numbers;
- *circular*: the claim is judged by what was fitted to it, or cannot fail;
- *untrue sentence*: the outcome is right, a sentence about it is not;
- *misquoted*: the verdict omits or changes what the paper says.

Columns *was* and *audit* are from before any correction; *now* has the outcome of today, from
`python/sledlab/reproduction/verdicts.json`. Where it is not the recommended one, the last column has the
reason. `python -m sledlab_papers audit` writes this file.
"""


@dataclass(frozen=True)
class AuditedVerdict:
    """A verdict that was audited.

    Attributes:
        claim: The claim.
        was: The outcome at the time of the audit.
        judgment: One or two of `JUDGMENTS`.
        right: The outcome that the auditor recommends; empty if none was named.
        reason: Why, in a clause.
        answer: Why the outcome is another today.
    """

    claim: str
    was: str
    judgment: str
    right: str
    reason: str
    answer: str = ""

    @property
    def now(self) -> str:
        """The outcome today."""
        return claims()[self.claim].outcome

    @property
    def differs(self) -> bool:
        """Whether the outcome today is not the recommended one."""
        return bool(self.right) and self.now != self.right


@dataclass(frozen=True)
class Audit:
    """Some verdicts that were audited together.

    Attributes:
        title: The name of the audit.
        drawn: How the verdicts were drawn.
        rows: The verdicts.
        note: What else was corrected.
    """

    title: str
    drawn: str
    rows: tuple[AuditedVerdict, ...]
    note: str = ""

    def counts(self) -> dict[str, int]:
        """Return the number of verdicts by the first judgment on each."""
        counted = Counter(row.judgment.split(", ")[0] for row in self.rows)
        return {judgment: counted[judgment] for judgment in JUDGMENTS}


@cache
def audits() -> tuple[Audit, ...]:
    """Return all audits, the oldest first."""
    text = Path(__file__).with_name("audit.toml").read_text(encoding="utf-8")
    return tuple(
        Audit(**{**each, "rows": tuple(AuditedVerdict(**row) for row in each["rows"])})
        for each in tomllib.loads(text)["audit"]
    )


def page(link: Callable[[str], str] = str) -> str:
    """Return the document in Markdown; `link` returns the id of a claim as it is shown."""
    claims.cache_clear()
    return "\n".join([INTRODUCTION, _summary(audits()), *(_section(each, link) for each in audits())])


def write() -> None:
    """Write the document."""
    FILE.write_text(page(), encoding="utf-8")


def _summary(measured: Sequence[Audit]) -> str:
    """The number of verdicts by judgment, and of those whose outcome is the recommended one today."""

    def rows() -> Iterator[list[str]]:
        for audit in measured:
            named = [row for row in audit.rows if row.right]
            followed = sum(not row.differs for row in named)
            counts = [f"{count or ''}" for count in audit.counts().values()]
            yield [audit.title, f"{len(audit.rows)}", *counts, f"{followed} of {len(named)}"]

    return table(["audit", "verdicts", *JUDGMENTS, "now as recommended"], rows())


def _section(audit: Audit, link: Callable[[str], str]) -> str:
    rows = [
        [link(row.claim), row.was, row.judgment, row.right or "none named", row.now, row.reason, row.answer]
        for row in audit.rows
    ]
    head = ["claim", "was", "audit", "recommended", "now", "reason of the auditor", "why now another"]
    note = f"{audit.note}\n\n" if audit.note else ""
    return f"## {audit.title}\n\n{audit.drawn}.\n\n{note}{table(head, rows, len(head))}"
