"""Every meaning of one line is one line, says what it is about, and needs no guessing."""

from __future__ import annotations

import re

from tests.docs.meanings import meanings

MOST = 100
"""Characters of a meaning."""

GUESSED = re.compile(
    r"\b(whoever|nobody|as above|what is (no longer )?there|makes room|dropped|so (much|many|long)"
    r"|get(ting|s)? going|what (it|they|that) \w+|of (it|them|these|those)$"
    r"|(whether|where|how|when) (it|they) )",
    re.IGNORECASE,
)
"""Words that stand where a noun of the field should."""


def test_meanings_fit_a_line() -> None:
    found = dict(meanings())
    assert len(found) > 2000
    assert {
        where: (len(text), text) for where, text in found.items() if len(text) > MOST or "\n" in text
    } == {}


def test_meanings_are_there() -> None:
    assert [where for where, text in meanings() if not text and not where.startswith("sl.__")] == []


def test_meanings_need_no_guessing() -> None:
    assert {where: text for where, text in meanings() if GUESSED.search(text)} == {}


def test_guessing_is_found() -> None:
    for planted in (
        "What is no longer there.",
        "Whoever misses loses weight.",
        "Whether it is dropped.",
        "One of them",
    ):
        assert GUESSED.search(planted)
