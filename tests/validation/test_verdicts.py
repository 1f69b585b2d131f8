"""What a verdict says: whether tests that hold a claim ran, what follows from a choice, and two readings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.page import DOCUMENTS
from lab.reproduction import changes, claims, held
from lab.reproduction.__main__ import TOPICS, document
from lab.reproduction.claims import (
    DEPENDS,
    FITTED,
    HELD,
    IN_PART,
    NOT,
    REPRODUCED,
    ClaimEntry,
    Verdict,
    judged,
)
from lab.reproduction.topic import Judged, section

CLAIM = ClaimEntry(
    "X-1", "0", "here", 1, "E", "a claim", "1", "exact", ours="It is {it}.", why="Because {it}."
)
HELD_BY = ClaimEntry("X-2", "0", "here", 1, "E", "a definition", "-", "exact", ours="So.", held=("a.rs::b",))

RUST = """
running 2 tests
test zsptf::tests::zones_are_served ... ok
test zsptf::tests::zones_are_served_twice ... FAILED
test zsptf::tests::zones_are_skipped ... ignored
"""
PYTHON = """
PASSED tests/a.py::test_zones[1]
PASSED tests/a.py::test_zones[2]
SKIPPED [1] tests/a.py:3: no test_data
"""


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("zones_are_served", True),
        ("zones_are_served_twice", False),
        ("zones_are_skipped", False),
        ("zones", False),
    ],
)
def test_a_test_of_a_crate_must_have_run_and_passed(
    name: str, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []
    monkeypatch.setattr(held, "_said", lambda command: commands.append(command) or RUST)
    file = "crates/sledlab-models/src/scheduler/zsptf.rs"
    assert held._run(f"{file}::{name}") is passes
    where = ["--package", "sledlab-models", "--lib"]
    assert commands == [["cargo", "test", *where, "--", "--include-ignored", name]]


def test_a_test_in_python_must_have_run_and_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_said", lambda _: PYTHON)
    assert held._run("tests/a.py::test_zones")
    assert not held._run("tests/a.py::test_data")
    assert not held._run("tests/a.py::test_nothing")


@pytest.mark.slow("starts pytest in a process of its own")
def test_a_real_test_is_run() -> None:
    file = "tests/validation/test_scheduler_definitions.py"
    assert held._run(f"{file}::test_zones_of_the_parallel_schedulers")
    assert not held._run(f"{file}::test_that_is_not_there")


@pytest.mark.parametrize(("passes", "outcome"), [(True, HELD), (False, NOT)])
def test_a_definition_is_held_if_its_tests_pass(
    passes: bool, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "passed", lambda _: passes)
    found = claims.verdict(HELD_BY, None)
    assert found.outcome == outcome
    assert ("Held by `b` (a.rs)" in found.ours) is passes


def test_results_of_tests_are_kept_by_what_they_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    monkeypatch.setattr(held, "KEPT", tmp_path / "held.csv")
    monkeypatch.setattr(held, "_run", lambda test: not runs.append(test))
    tests = [f"tests/validation/{name}.py::a" for name in ("test_verdicts", "test_reproduction")]
    assert all(held.passed(test) for test in tests * 2)
    assert runs == tests
    held.again(tests)
    assert runs == tests
    monkeypatch.setattr("lab.results.sources", lambda: "other")
    assert held.passed(tests[0])
    assert runs == tests
    held.again(tests[:1])
    assert runs == [*tests, tests[0]]


def test_what_follows_from_a_choice_is_no_evidence() -> None:
    chosen = claims.replace(CLAIM, choice="It was set to {it}.")
    assert judged(holds=True).saying(it=1).verdict(CLAIM) == Verdict(REPRODUCED, "It is 1.")
    assert judged(holds=True).saying(it=1).verdict(chosen) == Verdict(FITTED, "It is 1.", "It was set to 1.")
    assert judged(holds=False).saying(it=1).verdict(chosen) == Verdict(NOT, "It is 1.", "Because 1.")


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (REPRODUCED, REPRODUCED, REPRODUCED),
        (REPRODUCED, NOT, DEPENDS),
        (IN_PART, NOT, NOT),
        (DEPENDS, NOT, DEPENDS),
        (FITTED, NOT, NOT),
        (FITTED, FITTED, FITTED),
    ],
)
def test_readings_count_alike_and_neither_is_hidden(first: str, second: str, both: str) -> None:
    found = Judged(Verdict(first, "A.", "Why A."), Verdict(second, "B.", "Why B."), equal=True)
    assert found.outcome == both
    text = section(CLAIM, found, "Up", "Both ways")
    assert f"### X-1: {both}" in text
    assert f"**Up: {first}.** A." in text
    assert f"**Both ways: {second}.** B." in text
    assert "**Why** (up). Why A." in text


def test_a_reading_that_stands_beside_the_first_does_not_count() -> None:
    found = Judged(Verdict(REPRODUCED, "A."), Verdict(NOT, "B."))
    assert found.outcome == REPRODUCED
    assert "**In order** (not reproduced, does not count). B." in section(CLAIM, found, "", "In order")


def sections(topic: str) -> list[str]:
    text = (DOCUMENTS / document(TOPICS[topic])).read_text(encoding="utf-8")
    return re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_no_evidence_says_what_it_follows_from(topic: str) -> None:
    for text in sections(topic):
        if FITTED in text.splitlines()[0]:
            assert "**Why" in text, text


def test_every_verdict_that_changed_says_why() -> None:
    found = changes.changed(TOPICS)
    assert found
    assert not [name for name, (*_, why) in found.items() if not why]
    kept = {claim.id for topic in TOPICS for claim in claims.claims(topic).values() if claim.changed}
    assert kept <= set(found)


def test_the_page_of_changes_is_that_of_the_pages() -> None:
    assert (DOCUMENTS / changes.DOCUMENT).read_text(encoding="utf-8") == changes.page(TOPICS)
