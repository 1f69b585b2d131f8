"""The audits of the verdicts: their document has the outcomes of today, and their samples are as stated."""

from __future__ import annotations

import re
from random import Random

import pytest
from sledlab.reproduction.verdicts import OUTCOMES, claims

from sledlab_papers.audit import FILE, JUDGMENTS, SOUND, AuditedVerdict, audits, page

SAMPLE_SEEDS = (20261201, 20261202)
SAMPLE_SIZE = 30
ROWS = [row for audit in audits() for row in audit.rows]


def test_document_is_as_written() -> None:
    assert FILE.read_text(encoding="utf-8") == page(), "run `python -m sledlab_papers audit` in papers/"


def test_now_is_the_outcome_of_the_package() -> None:
    rows = re.findall(
        r"^\| ([CHLWY]-\d\d) \|(?: [^|]* \|){3} ([^|]*) \|", FILE.read_text(encoding="utf-8"), re.M
    )
    assert [(row.claim, claims()[row.claim].outcome) for row in ROWS] == rows


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.claim)
def test_other_outcomes_have_a_reason(row: AuditedVerdict) -> None:
    assert bool(row.answer) == row.differs
    assert {row.was, row.right or row.was} <= set(OUTCOMES)
    assert set(row.judgment.split(", ")) <= set(JUDGMENTS)
    if row.judgment == SOUND:
        assert row.right == row.was
    else:
        assert row.reason


def test_claims_are_audited_once() -> None:
    assert len({row.claim for row in ROWS}) == len(ROWS)


LATER_CLAIMS = {"C-52", "C-53", "H-81", "H-82", "L-25", "L-26", "W-56", "W-57", "W-58", "W-59"}
"""Claims that were added after the audits."""


def test_later_samples_are_drawn_from_the_rest() -> None:
    first, *later, rest = audits()
    claimed = set(claims()) - LATER_CLAIMS
    audited = {row.claim for row in first.rows}
    for audit, seed in zip(later, SAMPLE_SEEDS, strict=True):
        drawn = Random(seed).sample(sorted(claimed - audited), SAMPLE_SIZE)
        assert {row.claim for row in audit.rows} == set(drawn)
        assert f"Random({seed})" in audit.drawn
        audited.update(drawn)
    assert {row.claim for row in rest.rows} == claimed - audited
