"""Texts about claims: few numbers in a sentence, as lists belong in tables, and a claim on one screen."""

from __future__ import annotations

import re

import pytest
from sledlab.cli import run
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import EXCLUSIONS, Claim
from sledlab.reproduction.verdicts import claims as packaged_claims

MAX_NUMBERS = 6
"""Numbers in a sentence."""

MAX_LINES, COLUMNS = 45, 100
"""Lines of `sledlab reproduce show`, at so many characters a line."""

NUMBER = re.compile(r"(?<![\w-])[-+]?\d[\d,.]*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


def crowded_sentences(text: str) -> list[str]:
    """Sentences with more than `MAX_NUMBERS` numbers."""
    return [each for each in SENTENCE_END.split(text) if len(NUMBER.findall(each)) > MAX_NUMBERS]


def test_list_of_numbers_is_found() -> None:
    text = "It gains +1.4 % at 2 ms, +1.3 % at 5 ms and +2.1 % at 20 ms, of SPTF +1 %. W-12 and G2 are none."
    assert crowded_sentences(text) == [text.partition(" W-")[0]]


@pytest.mark.parametrize("claim", packaged_claims().values(), ids=packaged_claims())
def test_sentences_of_a_verdict_have_few_numbers(claim: Claim) -> None:
    assert not crowded_sentences(f"{claim.ours} {claim.why}")


@pytest.mark.parametrize("paper", PAPERS)
def test_claim_is_shown_in_few_lines(
    paper: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    for claim in packaged_claims().values():
        if claim.paper == paper:
            run(["reproduce", "show", claim.id])
            lines = capsys.readouterr().out.splitlines()
            assert len(lines) <= MAX_LINES, claim.id
            assert max(map(len, lines)) <= COLUMNS, claim.id
            words = {sweep.exclusion for sweep in claim.sensitivity_sweeps}.intersection(EXCLUSIONS)
            notes = [line for line in lines if line.startswith("In brackets: ")]
            assert len(notes) == bool(words), claim.id
            assert all(f"{word}: " in notes[0] for word in words), claim.id
