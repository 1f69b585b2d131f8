"""The claims, and what a verdict on one says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPRODUCED = "reproduced"
IN_PART = "reproduced in part"
NOT = "not reproduced"
OUTCOMES = (REPRODUCED, IN_PART, NOT)


@dataclass(frozen=True)
class Claim:
    """An entry of a `claims.toml`."""

    id: str
    paper: str
    where: str
    priority: int
    grade: str
    claim: str
    published: str
    accept: str


@dataclass(frozen=True)
class Verdict:
    """What came out: one of `OUTCOMES`, our numbers in a sentence, and what explains the difference."""

    outcome: str
    ours: str
    why: str = ""


def verdict(ours: str, *, holds: bool, partly: bool = False, why: str = "") -> Verdict:
    """Reproduced if it `holds`, in part if `partly`; the explanation belongs to what is less than that."""
    if holds:
        return Verdict(REPRODUCED, ours)
    return Verdict(IN_PART if partly else NOT, ours, why)


@cache
def claims(subject: str) -> dict[str, Claim]:
    """All claims on a subject by their id, in the order of its file."""
    file = Path(__file__).parent / subject / "claims.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["claim"]
    return {row["id"]: Claim(**row) for row in rows}
