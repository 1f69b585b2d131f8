"""Verdicts: definitions that tests check, what follows from a choice, and two readings."""

from __future__ import annotations

import pytest
from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    CONTRADICTED,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    MET,
    NEARLY_MET,
    NOT_MET,
    Cell,
    SensitivitySweep,
)
from sledlab.reproduction.verdicts import claims as packaged_claims

from sledlab_papers import claims
from sledlab_papers.claims import (
    UNEXPLAINED_OUTCOMES,
    ClaimEntry,
    Verdict,
    apply_sensitivity,
    judge_comparisons,
    judge_criterion,
    judge_fitted,
    judge_printed,
)
from sledlab_papers.printed import PrintedNumber, compare
from sledlab_papers.topic import ClaimVerdict

CLAIM = ClaimEntry(
    "X-1", "0", "here", 1, "E", "a claim", "1", "exact", ours="It is {it}.", why="Because {it}."
)
UNVARIED_CLAIM = claims.replace(CLAIM, depends_on="the trace")
CHECKED_CLAIM = ClaimEntry(
    "X-2", "0", "here", 1, "E", "a definition", "-", "exact", ours="So.", checked_by=("a.rs::b",)
)


def test_definition_without_judge_cites_tests() -> None:
    verdict = claims.verdict(CHECKED_CLAIM, None)
    assert verdict == Verdict(BY_DEFINITION, "So. Checked by `b` (a.rs).")


def test_claim_that_follows_from_choice_is_fitted() -> None:
    fitted_claim = claims.replace(CLAIM, choice="It was set to {it}.")
    assert judge_criterion(holds=True).with_numbers(it=1).verdict(CLAIM) == Verdict(MET, "It is 1.")
    assert judge_criterion(holds=True).with_numbers(it=1).verdict(fitted_claim) == Verdict(
        FITTED, "It is 1.", "It was set to 1.", level=MET
    )
    assert (
        judge_criterion(False, direction_holds=True).with_numbers(it=1).verdict(fitted_claim).outcome
        == FITTED
    )
    assert judge_criterion(holds=False).with_numbers(it=1).verdict(fitted_claim) == Verdict(
        NOT_MET, "It is 1.", "Because 1."
    )


@pytest.mark.parametrize(
    ("value", "level"), [(0.087, MET), (0.085, NEARLY_MET), (0.074, DIRECTION_ONLY)], ids=str
)
def test_fitted_number_that_misses_says_what_it_would_be(value: float, level: str) -> None:
    claim = claims.replace(CLAIM, ours="So.", choice="It was fitted.", printed=("8.7 %",))
    verdict = judge_fitted(holds=True).with_values([value]).verdict(claim)
    assert (verdict.outcome, verdict.level) == (FITTED, level)
    assert ("it would be" in verdict.why) == (level != MET)


@pytest.mark.parametrize(
    ("printed", "values", "outcome"),
    [
        ("13 to 32 %", [0.13, 0.324], MET),
        ("13 to 32 %", [0.12, 0.34], DIRECTION_ONLY),
        ("13 to 32 %", [0.13] * 3 + [0.12], NEARLY_MET),
        ("13 to 32 %", [0.13] * 3 + [0.01], DIRECTION_ONLY),
        ("13 to 32 %", [0.13, 0.2, 0.01], DIRECTION_ONLY),
        ("7.48 times", [7.4849], MET),
        ("7.48 times", [7.6], NEARLY_MET),
        ("7.48 times", [8.0], DIRECTION_ONLY),
        ("about 20 %", [0.21, 0.19], MET),
        ("about 20 %", [0.21, 0.19, 0.17, 0.18], NEARLY_MET),
        ("20 %", [0.21, 0.19], NEARLY_MET),
        ("20 %", [0.2, 0.2, 0.2, 0.35], DIRECTION_ONLY),
        ("up to 43 %", [0.02, 0.43], MET),
        ("up to 43 %", [0.02, 0.66], DIRECTION_ONLY),
        ("over 50 %", [0.57, 0.51], MET),
        ("over 50 %", [0.57, 0.49], NEARLY_MET),
        ("below 1 ms", [1.0], NEARLY_MET),
        ("at most 0.5 ms", [0.1, 0.5], MET),
    ],
)
def test_printed_number_decides_outcome(printed: str, values: list[float], outcome: str) -> None:
    claim = claims.replace(CLAIM, printed=(printed,))
    judgment = judge_printed(values, direction_holds=True).with_numbers(it=1)
    assert judgment.verdict(claim).outcome == outcome
    assert judge_printed(values, direction_holds=True, rest_holds=False).outcome == DIRECTION_ONLY
    outcome_of_wrong_direction = (
        judge_printed(values, direction_holds=False).with_numbers(it=1).verdict(claim).outcome
    )
    assert outcome_of_wrong_direction == (MET if outcome == MET else NOT_MET)


def test_comparison_shows_range_and_ratio() -> None:
    claim = claims.replace(CLAIM, printed=("13 to 32 %",))
    (comparison,) = (
        judge_printed([-0.023, 0.113], direction_holds=True).with_numbers(it=1).verdict(claim).comparisons
    )
    assert (comparison.published, comparison.ours, comparison.ratio) == ("13 to 32 %", "-2.3 to 11.3 %", 0.2)
    (predicted,) = compare(("13 to 32 %",), [[0.1, 0.12]], ("10 to 12 %",))
    assert (predicted.ratio, predicted.predicted, predicted.predicted_ratio) == (0.489, "10 to 12 %", 1.0)
    assert [PrintedNumber(text).ratio([0.4, 0.6]) for text in ("50 %", "over 50 %", "up to 50 %")] == [
        1.0,
        0.8,
        1.2,
    ]


@pytest.mark.parametrize(
    ("met_count", "outcome"), [(10, MET), (9, NEARLY_MET), (6, DIRECTION_ONLY), (5, NOT_MET)]
)
def test_share_of_comparisons_decides_outcome(met_count: int, outcome: str) -> None:
    agreements = [True] * met_count + [False] * (10 - met_count)
    assert judge_comparisons(agreements).outcome == outcome
    assert judge_comparisons(agreements, rest_holds=False).outcome in (DIRECTION_ONLY, NOT_MET)


@pytest.mark.parametrize(("holds", "outcome"), [(True, MET), (False, CONTRADICTED)])
def test_claim_excluded_by_the_paper_is_contradicted_unless_met(holds: bool, outcome: str) -> None:
    claim = claims.replace(CLAIM, contradicted_by="lin#merging")
    assert judge_criterion(holds).with_numbers(it=1).verdict(claim).outcome == outcome
    assert apply_sensitivity(CONTRADICTED, [CONTRADICTED, DIRECTION_ONLY]) == CONTRADICTED
    assert apply_sensitivity(CONTRADICTED, [MET]) == DEPENDS


def test_claim_on_unvaried_choice_depends_on_it() -> None:
    verdict = ClaimVerdict(judge_criterion(holds=True).with_numbers(it=1).verdict(UNVARIED_CLAIM))
    assert verdict.outcome_text(UNVARIED_CLAIM) == "depends on the trace"


def test_claim_depends_on_what_is_varied_and_on_what_is_not() -> None:
    cells = (Cell("one", DEPENDS, ""), Cell("two", NOT_MET, ""))
    unvaried_verdict = Verdict(DEPENDS, "It is 1.")
    verdict = ClaimVerdict(unvaried_verdict, (SensitivitySweep("the seed", "", 0, cells),))
    assert verdict.depends_on(UNVARIED_CLAIM) == ("the seed", "the trace")


def test_claim_that_is_met_has_no_cause() -> None:
    for claim in packaged_claims().values():
        assert not (claim.cause and claim.outcome in UNEXPLAINED_OUTCOMES), claim.id
