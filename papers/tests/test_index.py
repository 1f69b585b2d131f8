"""The index of the reproduction: its mosaic, its numbers, and the causes of misses."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from sledlab.reproduction.verdicts import BY_DEFINITION, FITTED, MARKS, MET, OUTCOMES, Claim
from sledlab.reproduction.verdicts import claims as packaged_claims
from sledlab.show.palette import PALETTE

from sledlab_papers import scoreboard
from sledlab_papers.claims import claims
from sledlab_papers.headlines import HEADLINES
from sledlab_papers.mark_colors import MIN_CONTRAST, contrast, square_colors, stylesheet
from sledlab_papers.mosaic import mosaic
from sledlab_papers.printed import PrintedNumber
from sledlab_papers.topics import TOPICS

SIMULATED_NUMBERS = 61
ALL_CLAIMS = list(packaged_claims().values())
SQUARE = re.compile(
    r'<a class="(\S+)" href="\w+\.html#([a-z]-\d\d)" title="([^"]+)" aria-label="([^"]+)">(.)</a>'
)


@pytest.fixture(scope="module")
def index_page() -> str:
    return scoreboard.page()


@pytest.fixture(scope="module")
def method_text() -> str:
    return scoreboard.method_page()


def table_rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    section = page.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_mosaic_has_a_named_square_for_each_claim() -> None:
    squares = SQUARE.findall(mosaic(ALL_CLAIMS))
    assert {claim_id for _, claim_id, *_ in squares} == {claim.id.lower() for claim in ALL_CLAIMS}
    assert len(squares) == len(ALL_CLAIMS) == 256
    for css_class, claim_id, title, name, symbol in squares:
        mark = MARKS[packaged_claims()[claim_id.upper()].outcome]
        assert (css_class, symbol) == (mark.css_class, mark.symbol)
        assert title == name
        assert mark.label in name


def test_mosaic_escapes_names() -> None:
    hostile = Claim("X-01", "smart", "lin", "1", 1, "E", '<b> "x"', "", "", MET, "")
    assert "&lt;b&gt; &quot;x&quot;" in mosaic([hostile])


def test_legend_counts_each_outcome() -> None:
    shown_counts = dict(re.findall(r"</span> ([a-z ]+) <b>(\d+)</b>", mosaic(ALL_CLAIMS)))
    counts = Counter(claim.outcome for claim in ALL_CLAIMS)
    assert shown_counts == {MARKS[outcome].label: str(counts[outcome]) for outcome in OUTCOMES}


@pytest.mark.parametrize("mark", MARKS.values(), ids=lambda mark: mark.label)
def test_colors_of_squares_have_contrast(mark) -> None:
    for is_dark in (False, True):
        assert contrast(*square_colors(mark, is_dark=is_dark)) >= MIN_CONTRAST


def test_stylesheet_takes_colors_from_the_palette() -> None:
    palette_colors = {
        value
        for value in [*PALETTE.values(), *PALETTE["text"].values(), *PALETTE["dark"].values()]
        if str(value)[0] == "#"
    }
    squares = set(re.findall(r"\.mosaic .*?background: (#\w+); color: (#\w+)", stylesheet()))
    assert {color for pair in squares for color in pair} <= palette_colors
    assert "prefers-color-scheme: dark" in stylesheet()


def test_index_counts_printed_numbers_that_are_met(index_page: str, method_text: str) -> None:
    claims_with_numbers = [claim for claim in ALL_CLAIMS if claim.has_simulated_number]
    assert len(claims_with_numbers) == SIMULATED_NUMBERS
    met_count = sum(claim.outcome == MET for claim in claims_with_numbers)
    assert f"**printed numbers met: {met_count} of {SIMULATED_NUMBERS}**" in method_text
    assert (
        f"Of {SIMULATED_NUMBERS} simulated claims for which a paper prints a\nnumber, {met_count} are met."
        in index_page
    )
    met_claims = [replace(claim, outcome=MET) for claim in claims_with_numbers[:5]]
    assert "printed numbers met: 5 of 5" in scoreboard._outcome_table(met_claims)


def test_claims_have_a_value_for_each_printed_number() -> None:
    for topic in TOPICS:
        for entry in claims(topic).values():
            claim = packaged_claims()[entry.id]
            assert all(PrintedNumber(text).ratio([1.0]) for text in entry.printed), entry.id
            if claim.outcome != BY_DEFINITION:
                assert [each.published for each in claim.numbers] == list(entry.printed), entry.id


CIRCULAR = ("C-31", "C-36", "H-40", "W-20", "W-24", "W-36", "W-52", "Y-07", "Y-28")
"""Claims on quantities that were chosen or fitted to meet them."""

TESTED_DEFINITIONS = ("C-47", "C-51", "W-13")


def test_circular_claims_are_no_evidence() -> None:
    assert {packaged_claims()[name].outcome for name in CIRCULAR} == {FITTED}
    assert {packaged_claims()[name].outcome for name in TESTED_DEFINITIONS} == {BY_DEFINITION}
    for name in ("H-61", "H-62"):
        assert len(packaged_claims()[name].numbers) == 1, "the fitted half counts"


def test_misses_show_both_values_and_the_cause(method_text: str) -> None:
    assert "| claim | says | published | ours | ratio | outcome | why they differ |" in method_text
    for row in table_rows(method_text, "Worst misses"):
        claim = row_claim(row)
        check_values(row)
        assert bool(row[4]) == bool(claim.numbers), claim.id
        assert row[5] == claim.outcome_text
        assert row[6], claim.id


def test_headlines_show_both_values(index_page: str) -> None:
    assert "| claim | says | published | ours | outcome |" in index_page
    for row in table_rows(index_page, "Headlines"):
        check_values(row)
        assert row[4] == row_claim(row).outcome_text


def row_claim(row: list[str]) -> Claim:
    """The claim of a row."""
    return packaged_claims()[re.search(r"\[(.*?)\]", row[0])[1]]


def check_values(row: list[str]) -> None:
    """Check that a row has the published value and ours."""
    assert row[2]
    assert row[3] not in ("", "see there"), row


def test_headlines_and_misses_are_complete(index_page: str, method_text: str) -> None:
    assert len(table_rows(index_page, "Headlines")) == len(HEADLINES)
    missed_claims = [claim for claim in ALL_CLAIMS if claim.outcome == "not met" and claim.priority < 3]
    shown_ids = " ".join(row[0] for row in table_rows(method_text, "Worst misses"))
    assert all(f"[{claim.id}]" in shown_ids for claim in missed_claims)
