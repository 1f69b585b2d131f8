"""Each claim quotes its paper, in the words of the paper."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import pytest

from sledlab_papers.claims import ClaimEntry, claims
from sledlab_papers.paths import PAPER_TEXTS
from sledlab_papers.topics import TOPICS

MAX_WORDS = 25
TITLES = {
    "hong2006": "Using MEMS-Based Storage in Computer Systems-Device Modeling and Management",
    "wang2005": "Using MEMS-based Storage to Boost Disk Performance",
    "lee2009": "On the Parallelism of I/O Scheduling Algorithms in MEMS-Based Large Storage Systems",
    "lin": "Power consumption on MEMS-based storage device",
    "chiu2004": "Processor-Embedded Distributed MEMS-Based Storage Systems for High-Performance I/O",
}
"""Titles of the papers, normalized; the title identifies the text file of a paper."""
TITLE_RANGE = 1000
"""Characters at the start of a text that include its title, but no reference to another paper."""

CHARACTERS = {
    r"\times": "×",
    r"\sim": "~",
    r"\mu": "μ",
    r"\text": "",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
}
ALL_CLAIMS = [claim for topic in TOPICS for claim in claims(topic).values()]


def normalize(text: str) -> str:
    """Return a text without line ends, hyphenation and markup, and with plain quotation marks and dashes."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"(?<=[a-z])-\n\s*(?=[a-z])", "", text)
    for character, replacement in CHARACTERS.items():
        text = text.replace(character, replacement)
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", text)
    text = re.sub(r"[*${}^\\]", "", text)
    text = re.sub(r"-{3,}|\|", " ", text)
    return " ".join(re.sub(r"\s*([^\w\s])\s*", r"\1", text).split())


@cache
def paper_texts() -> dict[str, str]:
    """Return the normalized texts of the papers, by paper."""
    texts = [normalize(file.read_text(encoding="utf-8")) for file in sorted(PAPER_TEXTS.glob("*.txt"))]
    return {paper: text for paper, title in TITLES.items() for text in texts if title in text[:TITLE_RANGE]}


@pytest.mark.parametrize("claim", ALL_CLAIMS, ids=lambda claim: claim.id)
def test_quotation_has_at_most_25_words(claim: ClaimEntry) -> None:
    assert 1 <= len(claim.quote.split()) <= MAX_WORDS


@pytest.mark.parametrize("paper", TITLES)
def test_quotations_occur_in_the_paper(paper: str) -> None:
    if paper not in paper_texts():
        pytest.skip(f"no text of {paper} in {PAPER_TEXTS} (set SLEDLAB_PAPERS)")
    quotes = {claim.id: claim.quote for claim in ALL_CLAIMS if claim.paper == paper}
    assert quotes
    assert not {name: quote for name, quote in quotes.items() if normalize(quote) not in paper_texts()[paper]}


def test_normalized_text_has_no_markup() -> None:
    assert normalize("saves 3–9%\nof *seek* en-\nergy ( $5 \\times 10^{-5} \\text{ J}$ )") == (
        "saves 3-9%of seek energy(5×10-5 J)"
    )
    assert normalize("| a | 1 |\n|---|---|\n| “b” | ﬁ |") == 'a 1"b"fi'
