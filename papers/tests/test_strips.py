"""Strips: every value has points, every contested claim a strip, and what was chosen gives the verdict."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from sledlab.reproduction.verdicts import NO_EVIDENCE, Cell, SensitivitySweep
from sledlab.reproduction.verdicts import claims as travelled

from sledlab_papers.claims import (
    BY_DEFINITION,
    DEPENDS,
    FITTED,
    IN_PART,
    NOT,
    REPRODUCED,
    ClaimEntry,
    Verdict,
    claims,
    turned,
)
from sledlab_papers.headlines import HEADLINES
from sledlab_papers.points import saved
from sledlab_papers.runs import Runs, marked
from sledlab_papers.sensitivity import CHANCE, SHAKY, SHAPES, WORDS, Choice, Value, choices, counting, table
from sledlab_papers.topic import ClaimVerdict, contested, section
from sledlab_papers.topics import TOPICS

CLAIM = ClaimEntry("X-1", "0", "here", 1, "S", "a claim", "1", "exact", ours="It is so.", why="Because.")


@pytest.mark.parametrize("topic", TOPICS)
def test_every_value_of_a_strip_has_points(topic: str) -> None:
    planned = [each for choice in choices(topic) for each in choice.planned(TOPICS[topic].plan)]
    assert [each.place for each in planned if each.place not in saved()] == []
    assert len({each.place for each in planned}) == len(planned)


@pytest.mark.parametrize("topic", TOPICS)
def test_strips_have_one_value_that_was_chosen_and_say_whom_they_concern(topic: str) -> None:
    known = claims(topic)
    for choice in choices(topic):
        assert sum(not value.reading for value in choice.values) == 1, choice.over
        assert {*choice.claims, *choice.but} <= set(known)
        assert choice.exclusion in ("", "published", CHANCE)


def test_every_contested_claim_has_a_strip_or_says_why_not() -> None:
    for topic in TOPICS:
        for name, claim in claims(topic).items():
            actual = travelled()[name]
            verdict = ClaimVerdict(Verdict(actual.outcome, actual.ours), strips=actual.strips)
            if contested(claim, verdict):
                assert actual.strips or claim.closed, name
            assert not (claim.closed and [strip for strip in actual.strips if strip.flips]), name


def test_headlines_are_contested() -> None:
    for name in HEADLINES:
        assert travelled()[name].strips, name


def test_a_claim_depends_if_a_strip_that_counts_turns_it() -> None:
    for actual in travelled().values():
        turns = [strip.over for strip in actual.strips if strip.flips and not strip.exclusion]
        assert not turns or actual.outcome == DEPENDS, (actual.id, turns)


@pytest.mark.parametrize(
    ("found", "others", "outcome"),
    [
        (REPRODUCED, [REPRODUCED, REPRODUCED], REPRODUCED),
        (REPRODUCED, [REPRODUCED, IN_PART], DEPENDS),
        (IN_PART, [REPRODUCED, NOT], DEPENDS),
        (IN_PART, [IN_PART, NOT], IN_PART),
        (NOT, [FITTED, NOT], NOT),
        (REPRODUCED, [FITTED, BY_DEFINITION], REPRODUCED),
        (FITTED, [NOT, REPRODUCED], FITTED),
    ],
)
def test_what_flips_within_what_is_open_depends(found: str, others: list[str], outcome: str) -> None:
    assert turned(found, others) == outcome
    cells = tuple(Cell(f"{at}", each) for at, each in enumerate(others))
    assert (
        ClaimVerdict(Verdict(found, "A."), strips=(SensitivitySweep("x", "", 0, cells),)).outcome == outcome
    )
    assert (
        ClaimVerdict(Verdict(found, "A."), strips=(SensitivitySweep("x", "published", 0, cells),)).outcome
        == found
    )


VALUES = (Value("a"), Value("b", ("-b",)))


def by_reading(**outcomes: str):
    return lambda reading: Verdict(outcomes[reading[0].strip("-") if reading else "a"], f"{reading}")


def test_what_one_seed_turns_is_not_turned_by_runs_with_fewer_of_them() -> None:
    rerun = Choice("rerun", VALUES, reruns=("place",))
    seed = Choice("seed", (Value("a"), Value("1", ("-s",))), exclusion=CHANCE)
    steady, shaky = (
        by_reading(a=IN_PART, b=REPRODUCED, s=IN_PART),
        by_reading(a=IN_PART, b=REPRODUCED, s=REPRODUCED),
    )
    assert [strip.exclusion for strip in counting([rerun, seed], steady)] == ["", CHANCE]
    assert [strip.exclusion for strip in counting([rerun, seed], shaky)] == [SHAKY, CHANCE]


def test_a_strip_on_which_no_number_hangs_is_left_out_unless_the_claim_is_named() -> None:
    same = lambda _: Verdict(IN_PART, "The same.")  # noqa: E731
    assert Choice("x", VALUES).judged(same) is None
    assert Choice("x", VALUES, claims=("X-1",)).judged(same) is not None


def test_readings_that_count_alike_are_together_what_the_least_is() -> None:
    assert ClaimVerdict(Verdict(IN_PART, "A."), alike=(IN_PART, NOT)).outcome == NOT
    assert ClaimVerdict(Verdict(IN_PART, "A."), alike=(IN_PART, REPRODUCED)).outcome == DEPENDS


def test_cells_differ_without_colour() -> None:
    assert len(set(SHAPES.values())) == len(set(WORDS.values())) == len(SHAPES)
    strip = SensitivitySweep("columns", "", 1, (Cell("up", NOT), Cell("<both>", REPRODUCED, "+1 %")))
    text = table(strip)
    assert "○ not" in text
    assert '<td class="reproduced ours">&lt;both&gt;<br><b>● reproduced</b><br>+1 %</td>' in text
    assert "does not count: published" in table(SensitivitySweep("columns", "published", 0, strip.cells))


def test_a_page_has_strips_of_contested_claims_and_a_sentence_for_others() -> None:
    strip = SensitivitySweep("columns", "", 0, (Cell("up", IN_PART), Cell("both", REPRODUCED)))
    assert "**Turns with** columns." in section(
        CLAIM, ClaimVerdict(Verdict(IN_PART, "A."), strips=(strip,)), "", ""
    )
    steady = SensitivitySweep("columns", "", 0, (Cell("up", REPRODUCED), Cell("both", REPRODUCED)))
    text = section(CLAIM, ClaimVerdict(Verdict(REPRODUCED, "A."), strips=(steady,)), "", "")
    assert "**The same** over columns." in text
    assert "<table" not in text


def test_runs_read_another_directory_where_there_is_one_and_another_seed(tmp_path: Path) -> None:
    for place, ms in (("fast", 1.0), ("fast-b", 2.0)):
        (tmp_path / place).mkdir()
        rows = {"scheduler": "fcfs", "speedup": 1.0, "x.y": 1, "seed": [1, 2], "mean_ms": [ms, ms + 10]}
        polars.DataFrame(rows).write_csv(tmp_path / place / "runs.csv")
    there, other = Runs(tmp_path), Runs(tmp_path, ("-b", "seed 2"))
    assert there.place("fast") == "fast"
    assert (other.place("fast"), other.place("slow")) == ("fast-b", "slow")
    assert there.points("fast").at(1, 1.0, "mean_ms") == 6.0
    assert other.points("fast").at(1, 1.0, "mean_ms") == 12.0
    assert (marked(("-b", "seed 2"), "seed"), marked((), "seed")) == ("2", "")


def test_missing_cache_is_reported(tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    polars.DataFrame({"scheduler": "fcfs", "speedup": 1.0, "x.y": 1, "seed": 1}).write_csv(
        tmp_path / "fast" / "runs.csv"
    )
    with pytest.raises(LookupError, match="does not hold `mean_ms`: make reproduce"):
        Runs(tmp_path).points("fast").at(1, 1.0, "mean_ms")


def test_the_claim_on_fairness_has_strips_that_are_evidence() -> None:
    strips = travelled()["L-22"].strips
    assert len(strips) >= 5
    assert any(strip.over for strip in strips)
    assert {cell.outcome for strip in strips for cell in strip.cells}.isdisjoint(NO_EVIDENCE)
