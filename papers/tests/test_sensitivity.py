"""Sensitivity sweeps: results for every value, sweeps for contested claims, verdicts of the defaults."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars
import pytest
from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    CHANCE,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    MARKS,
    MET,
    NEARLY_MET,
    NO_EVIDENCE,
    NOT_MET,
    OUTCOMES,
    PUBLISHED,
    Cell,
    Claim,
    SensitivitySweep,
)
from sledlab.reproduction.verdicts import claims as packaged_claims

from sledlab_papers.claims import ClaimEntry, Verdict, apply_sensitivity, claims
from sledlab_papers.headlines import HEADLINES
from sledlab_papers.results import saved_experiments
from sledlab_papers.runs import Runs, mark_value
from sledlab_papers.sensitivity import (
    FEWER_SEEDS,
    Choice,
    Value,
    choices,
    sensitivity_sweeps,
)
from sledlab_papers.topic import ClaimVerdict
from sledlab_papers.topics import TOPICS

CLAIM = ClaimEntry("X-1", "0", "here", 1, "S", "a claim", "1", "exact", ours="It is so.", why="Because.")


@pytest.mark.parametrize("topic", TOPICS)
def test_every_sweep_value_has_results(topic: str, stale_sweep_places: set[str]) -> None:
    planned = [each for choice in choices(topic) for each in choice.planned_experiments(TOPICS[topic].plan)]
    assert {each.place for each in planned} - saved_experiments() <= stale_sweep_places
    assert len({each.place for each in planned}) == len(planned)


def test_sweep_of_fitted_claim_says_what_its_numbers_make_of_it() -> None:
    choice = Choice(
        "x", (Value("here"), Value("close", ("-close",)), Value("far", ("-far",))), claims=("H-01",)
    )
    levels = {(): MET, ("-close",): MET, ("-far",): DIRECTION_ONLY}
    sweep = choice.sweep(lambda reading: Verdict(FITTED, "", level=levels[reading]))
    assert sweep is not None
    assert [cell.outcome for cell in sweep.cells] == [FITTED, FITTED, DIRECTION_ONLY]
    assert not sweep.flips
    missed = choice.sweep(lambda reading: Verdict(FITTED, "", level=MET) if reading else Verdict(NOT_MET, ""))
    assert missed is not None
    assert [cell.outcome for cell in missed.cells] == [NOT_MET, FITTED, FITTED]


def test_value_without_results_does_not_count(tmp_path: Path) -> None:
    default, run, new = Value("1"), Value("2", ("-two",), ("--x", "2")), Value("3", ("-three",), ("--x", "3"))
    choice = Choice("x", (default, run, new), reruns=("a", "b"))
    for place in ("a", "b", "a-two", "b-two", "a-three"):
        (tmp_path / place).mkdir()
    assert choice.with_results(tmp_path).values == (default, run)


@pytest.mark.parametrize("topic", TOPICS)
def test_sweeps_of_one_experiment_have_different_endings(topic: str) -> None:
    # A claim with a value of one sweep would also read the results of the other sweep.
    experiments_by_place = {each.place: each.experiment for each in TOPICS[topic].plan}
    assumptions: dict[tuple[str, str], str] = {}
    for choice in choices(topic):
        rerun_experiments = {experiments_by_place[line.split()[0]] for line in choice.reruns}
        endings = {value.reading[0] for value in choice.values if value.options}
        for key in product(rerun_experiments, endings):
            assert assumptions.setdefault(key, choice.assumption) == choice.assumption, key


@pytest.mark.parametrize("topic", TOPICS)
def test_sweeps_have_one_default_and_valid_claims(topic: str) -> None:
    known_claims = claims(topic)
    for choice in choices(topic):
        assert sum(not value.reading for value in choice.values) == 1, choice.assumption
        assert {*choice.claims, *choice.excluded_claims} <= set(known_claims)
        assert choice.exclusion in ("", PUBLISHED, CHANCE)


def is_contested(claim: Claim) -> bool:
    """Whether a choice of ours may have made the verdict: true below met, and for headlines."""
    return claim.outcome in (DEPENDS, NEARLY_MET, DIRECTION_ONLY, NOT_MET) or (
        claim.id in HEADLINES and claim.outcome not in NO_EVIDENCE
    )


def test_contested_claims_have_sweep_or_reason() -> None:
    for topic in TOPICS:
        for name, claim in claims(topic).items():
            claim_in_package = packaged_claims()[name]
            # Values that the paper excludes, and seeds, vary nothing that it leaves open.
            open_sweeps = [
                sweep
                for sweep in claim_in_package.sensitivity_sweeps
                if sweep.exclusion not in (PUBLISHED, CHANCE)
            ]
            if is_contested(claim_in_package):
                assert open_sweeps or claim.depends_on or claim.unvaried, name
            assert not (claim.unvaried and [sweep for sweep in open_sweeps if sweep.flips]), name


def test_headlines_have_sweeps_or_reason() -> None:
    entries = {name: entry for topic in TOPICS for name, entry in claims(topic).items()}
    for name in HEADLINES:
        claim = packaged_claims()[name]
        assert claim.sensitivity_sweeps or entries[name].unvaried or claim.outcome in NO_EVIDENCE, name


def test_flipping_sweep_makes_claim_depend() -> None:
    for claim in packaged_claims().values():
        flipping_assumptions = [
            sweep.assumption for sweep in claim.sensitivity_sweeps if sweep.flips and not sweep.exclusion
        ]
        assert not flipping_assumptions or claim.outcome == DEPENDS, (claim.id, flipping_assumptions)
        assert (claim.outcome == DEPENDS) == all((claim.depends_on, *claim.depends_on)), claim.id


@pytest.mark.parametrize(
    ("default_outcome", "other_outcomes", "outcome"),
    [
        (MET, [MET, MET], MET),
        (MET, [MET, DIRECTION_ONLY], DEPENDS),
        (MET, [MET, NEARLY_MET], NEARLY_MET),
        (NEARLY_MET, [NEARLY_MET, DIRECTION_ONLY], DEPENDS),
        (NEARLY_MET, [NEARLY_MET, MET], NEARLY_MET),
        (DIRECTION_ONLY, [MET, NOT_MET], DEPENDS),
        (DIRECTION_ONLY, [DEPENDS, NOT_MET], DEPENDS),
        (DIRECTION_ONLY, [NEARLY_MET, NOT_MET], DIRECTION_ONLY),
        (DIRECTION_ONLY, [DIRECTION_ONLY, NOT_MET], DIRECTION_ONLY),
        (NOT_MET, [FITTED, NOT_MET], NOT_MET),
        (MET, [FITTED, BY_DEFINITION], MET),
        (FITTED, [NOT_MET, MET], FITTED),
    ],
)
def test_flip_over_open_values_depends(default_outcome: str, other_outcomes: list[str], outcome: str) -> None:
    assert apply_sensitivity(default_outcome, other_outcomes) == outcome
    cells = tuple(Cell(f"{i}", other_outcome) for i, other_outcome in enumerate(other_outcomes))
    assert (
        ClaimVerdict(
            Verdict(default_outcome, "A."), sensitivity_sweeps=(SensitivitySweep("x", "", 0, cells),)
        ).outcome
        == outcome
    )
    assert (
        ClaimVerdict(
            Verdict(default_outcome, "A."), sensitivity_sweeps=(SensitivitySweep("x", "published", 0, cells),)
        ).outcome
        == default_outcome
    )


VALUES = (Value("a"), Value("b", ("-b",)))


def reading_judge(**outcomes: str):
    return lambda reading: Verdict(outcomes[reading[0].strip("-") if reading else "a"], f"{reading}")


@pytest.mark.parametrize(
    "rerun",
    [Choice("rerun", VALUES, reruns=("place",)), Choice("planned", VALUES, fewer_seeds=True)],
    ids=["rerun", "planned"],
)
def test_claim_turned_by_one_seed_mutes_sweep(rerun: Choice) -> None:
    seed = Choice("seed", (Value("a"), Value("1", ("-s",))), exclusion=CHANCE)
    steady_judge, seed_dependent_judge = (
        reading_judge(a=DIRECTION_ONLY, b=MET, s=DIRECTION_ONLY),
        reading_judge(a=DIRECTION_ONLY, b=MET, s=MET),
    )
    assert [sweep.exclusion for sweep in sensitivity_sweeps([rerun, seed], steady_judge)] == ["", CHANCE]
    assert [sweep.exclusion for sweep in sensitivity_sweeps([rerun, seed], seed_dependent_judge)] == [
        FEWER_SEEDS,
        CHANCE,
    ]


def test_constant_sweep_is_omitted_unless_claim_named() -> None:
    judge_same = lambda _: Verdict(DIRECTION_ONLY, "The same.")  # noqa: E731
    assert Choice("x", VALUES).sweep(judge_same) is None
    assert Choice("x", VALUES, claims=("X-1",)).sweep(judge_same) is not None


def test_each_assumption_turns_a_claim_alone() -> None:
    def sweep(*outcomes: str) -> SensitivitySweep:
        return SensitivitySweep("x", "", 0, tuple(Cell(each, each) for each in outcomes))

    def outcome(*sweeps: SensitivitySweep) -> str:
        return ClaimVerdict(Verdict(NEARLY_MET, "A."), sensitivity_sweeps=sweeps).outcome

    assert outcome(sweep(NEARLY_MET, MET), sweep(NEARLY_MET, NEARLY_MET)) == NEARLY_MET
    assert outcome(sweep(NEARLY_MET, MET), sweep(NEARLY_MET, DIRECTION_ONLY)) == DEPENDS


def test_marks_differ_without_color() -> None:
    assert set(MARKS) == set(OUTCOMES)
    assert len({mark.symbol for mark in MARKS.values()}) == len(OUTCOMES)


def test_runs_read_directory_and_seed_of_reading(tmp_path: Path) -> None:
    for place, mean_ms in (("fast", 1.0), ("fast-b", 2.0)):
        (tmp_path / place).mkdir()
        columns = {
            "scheduler": "fcfs",
            "speedup": 1.0,
            "x.y": 1,
            "seed": [1, 2],
            "mean_ms": [mean_ms, mean_ms + 10],
        }
        polars.DataFrame(columns).write_csv(tmp_path / place / "runs.csv")
    default_runs, other_runs = Runs(tmp_path), Runs(tmp_path, ("-b", "seed 2"))
    assert default_runs.place("fast") == "fast"
    assert (other_runs.place("fast"), other_runs.place("slow")) == ("fast-b", "slow")
    assert default_runs.experiment("fast").mean(1, 1.0, "mean_ms") == 6.0
    assert other_runs.experiment("fast").mean(1, 1.0, "mean_ms") == 12.0
    assert (mark_value(("-b", "seed 2"), "seed"), mark_value((), "seed")) == ("2", "")


def test_seed_that_was_not_run_is_an_error(tmp_path: Path) -> None:
    for place, seeds in (("several", [1, 2]), ("recorded", [1])):
        (tmp_path / place).mkdir()
        columns = {"scheduler": "fcfs", "speedup": 1.0, "x.y": 1, "seed": seeds, "mean_ms": 1.0}
        polars.DataFrame(columns).write_csv(tmp_path / place / "runs.csv")
    runs = Runs(tmp_path, ("seed 4",))
    assert runs.experiment("recorded").mean(1, 1.0, "mean_ms") == 1.0
    with pytest.raises(LookupError, match="`several` has no seed 4"):
        runs.experiment("several")


def test_column_that_was_not_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    polars.DataFrame({"scheduler": "fcfs", "speedup": 1.0, "x.y": 1, "seed": 1}).write_csv(
        tmp_path / "fast" / "runs.csv"
    )
    with pytest.raises(AttributeError, match="mean_ms"):
        Runs(tmp_path).experiment("fast").mean(1, 1.0, "mean_ms")


def test_fairness_claim_has_sweeps_with_evidence() -> None:
    sweeps = packaged_claims()["L-22"].sensitivity_sweeps
    assert len(sweeps) >= 5
    assert any(sweep.assumption for sweep in sweeps)
    assert {cell.outcome for sweep in sweeps for cell in sweep.cells}.isdisjoint(NO_EVIDENCE)
