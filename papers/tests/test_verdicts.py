"""Verdicts: definitions that tests check, what follows from a choice, and two readings."""

from __future__ import annotations

import pytest

from sledlab_papers import claims
from sledlab_papers.claims import (
    BY_DEFINITION,
    DEPENDS,
    FITTED,
    NOT_REPRODUCED,
    PARTLY_REPRODUCED,
    REPRODUCED,
    ClaimEntry,
    Verdict,
    judge_criterion,
)
from sledlab_papers.topic import ClaimVerdict, section

CLAIM = ClaimEntry(
    "X-1", "0", "here", 1, "E", "a claim", "1", "exact", ours="It is {it}.", why="Because {it}."
)
CHECKED_CLAIM = ClaimEntry(
    "X-2", "0", "here", 1, "E", "a definition", "-", "exact", ours="So.", checked_by=("a.rs::b",)
)


def test_definition_without_judge_cites_tests() -> None:
    verdict = claims.verdict(CHECKED_CLAIM, None)
    assert verdict == Verdict(BY_DEFINITION, "So. Checked by `b` (a.rs).")


def test_claim_that_follows_from_choice_is_fitted() -> None:
    choice = claims.replace(CLAIM, choice="It was set to {it}.")
    assert judge_criterion(holds=True).with_numbers(it=1).verdict(CLAIM) == Verdict(REPRODUCED, "It is 1.")
    assert judge_criterion(holds=True).with_numbers(it=1).verdict(choice) == Verdict(
        FITTED, "It is 1.", "It was set to 1."
    )
    assert judge_criterion(holds=False).with_numbers(it=1).verdict(choice) == Verdict(
        NOT_REPRODUCED, "It is 1.", "Because 1."
    )


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (REPRODUCED, REPRODUCED, REPRODUCED),
        (REPRODUCED, NOT_REPRODUCED, DEPENDS),
        (PARTLY_REPRODUCED, NOT_REPRODUCED, NOT_REPRODUCED),
        (DEPENDS, NOT_REPRODUCED, DEPENDS),
        (FITTED, NOT_REPRODUCED, NOT_REPRODUCED),
        (FITTED, FITTED, FITTED),
    ],
)
def test_equal_readings_are_both_shown(first: str, second: str, both: str) -> None:
    actual = ClaimVerdict(Verdict(first, "A.", "Why A."), Verdict(second, "B.", "Why B."), equal=True)
    assert actual.outcome == both
    text = section(CLAIM, actual, "Up", "Both ways")
    assert f"### X-1: {both}" in text
    assert f"**Up: {first}.** A." in text
    assert f"**Both ways: {second}.** B." in text
    assert "**Why** (up). Why A." in text


def test_secondary_reading_does_not_count() -> None:
    actual = ClaimVerdict(Verdict(REPRODUCED, "A."), Verdict(NOT_REPRODUCED, "B."))
    assert actual.outcome == REPRODUCED
    assert "**In order** (not reproduced, does not count). B." in section(CLAIM, actual, "", "In order")
