"""The index of the reproduction: its mosaic, its numbers, and the causes of misses."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from sledlab.reproduction.verdicts import BY_DEFINITION, FITTED, MET, OUTCOMES, Claim
from sledlab.reproduction.verdicts import claims as packaged_claims
from sledlab.show.palette import PALETTE

from sledlab_papers import scoreboard
from sledlab_papers.claims import claims
from sledlab_papers.headlines import HEADLINES
from sledlab_papers.mosaic import mosaic
from sledlab_papers.outcome_marks import MARKS, MIN_CONTRAST, contrast, square_colors, stylesheet, tint
from sledlab_papers.printed import PrintedNumber
from sledlab_papers.topics import TOPICS

SIMULATED_NUMBERS = 63
ALL_CLAIMS = list(packaged_claims().values())
SQUARE = re.compile(
    r'<a class="(\S+)" href="claims/([a-z]-\d\d)\.html" title="([^"]+)" aria-label="([^"]+)">(.)</a>'
)


@pytest.fixture(scope="module")
def page() -> str:
    return scoreboard.page()


@pytest.fixture(scope="module")
def method() -> str:
    return scoreboard.method_page()


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without its head."""
    section = page.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_mosaic_has_a_named_square_for_each_claim() -> None:
    squares = SQUARE.findall(mosaic(ALL_CLAIMS))
    assert {page for _, page, *_ in squares} == {claim.id.lower() for claim in ALL_CLAIMS}
    assert len(squares) == len(ALL_CLAIMS) == 256
    for css_class, page, title, name, symbol in squares:
        mark = MARKS[packaged_claims()[page.upper()].outcome]
        assert (css_class, symbol) == (mark.css_class, mark.symbol)
        assert title == name
        assert mark.label in name


def test_mosaic_escapes_names() -> None:
    hostile = Claim("X-01", "smart", "lin", "1", 1, "E", '<b> "x"', "", "", MET, "")
    assert "&lt;b&gt; &quot;x&quot;" in mosaic([hostile])


def test_legend_counts_each_outcome() -> None:
    counted = dict(re.findall(r"</span> ([a-z ]+) <b>(\d+)</b>", mosaic(ALL_CLAIMS)))
    expected = Counter(claim.outcome for claim in ALL_CLAIMS)
    assert counted == {MARKS[outcome].label: str(expected[outcome]) for outcome in OUTCOMES}


@pytest.mark.parametrize("mark", MARKS.values(), ids=lambda mark: mark.label)
def test_colors_of_squares_and_cells_have_contrast(mark) -> None:
    for dark in (False, True):
        assert contrast(*square_colors(mark, dark=dark)) >= MIN_CONTRAST
    assert contrast(tint(mark), "#222222") >= MIN_CONTRAST


def test_stylesheet_takes_colors_from_the_palette() -> None:
    known = {
        value
        for value in [*PALETTE.values(), *PALETTE["text"].values(), *PALETTE["dark"].values()]
        if str(value)[0] == "#"
    }
    squares = set(re.findall(r"\.mosaic .*?background: (#\w+); color: (#\w+)", stylesheet()))
    assert {color for pair in squares for color in pair} <= known
    assert "prefers-color-scheme: dark" in stylesheet()


def test_index_counts_printed_numbers_that_are_met(page: str, method: str) -> None:
    entries = [entry for topic in TOPICS for entry in claims(topic).values()]
    numbers = [entry.id for entry in entries if entry.has_simulated_number]
    assert len(numbers) == SIMULATED_NUMBERS
    met = sum(packaged_claims()[name].outcome == MET for name in numbers)
    assert f"**printed numbers met: {met} of {SIMULATED_NUMBERS}**" in method
    assert (
        f"Of {SIMULATED_NUMBERS} simulated claims for which a paper prints a\nnumber, {met} are met." in page
    )
    changed = [Claim(**{**vars(packaged_claims()[name]), "outcome": MET}) for name in numbers[:5]]
    assert "printed numbers met: 5 of 5" in scoreboard._outcome_table(changed)


def test_met_numbers_are_inside_the_print() -> None:
    for topic in TOPICS:
        for entry in claims(topic).values():
            claim = packaged_claims()[entry.id]
            assert all(PrintedNumber(text).ratio([1.0]) for text in entry.printed), entry.id
            assert [each.published for each in claim.numbers] in ([], list(entry.printed))
            if entry.has_simulated_number and claim.outcome == MET:
                assert claim.numbers, entry.id


CIRCULAR = ("C-31", "C-36", "H-40", "H-72", "W-20", "W-36", "W-52", "Y-07", "Y-28")
"""Claims on quantities that were chosen or fitted to meet them."""

TESTED_DEFINITIONS = ("C-47", "C-51", "W-13")


def test_circular_claims_are_no_evidence() -> None:
    assert {packaged_claims()[name].outcome for name in CIRCULAR} == {FITTED}
    assert {packaged_claims()[name].outcome for name in TESTED_DEFINITIONS} == {BY_DEFINITION}
    for name in ("H-61", "H-62"):
        assert len(packaged_claims()[name].numbers) == 1, "the fitted half counts"


def test_misses_show_both_values_and_the_cause(method: str) -> None:
    assert "| claim | says | published | ours | ratio | outcome | why they differ |" in method
    for row in rows(method, "Worst misses"):
        claim = row_claim(row)
        check_values(row)
        assert bool(row[4]) == bool(claim.numbers), claim.id
        assert row[5] == claim.outcome_text
        assert row[6], claim.id


def test_headlines_show_both_values(page: str) -> None:
    assert "| claim | says | published | ours | outcome |" in page
    for row in rows(page, "Headlines"):
        check_values(row)
        assert row[4] == row_claim(row).outcome_text


def row_claim(row: list[str]) -> Claim:
    """The claim of a row."""
    return packaged_claims()[re.search(r"\[(.*?)\]", row[0])[1]]


def check_values(row: list[str]) -> None:
    """Check that a row has the published value and ours."""
    assert row[2]
    assert row[3] not in ("", "see there"), row


def test_headlines_and_misses_are_complete(page: str, method: str) -> None:
    assert len(rows(page, "Headlines")) == len(HEADLINES)
    missed = [claim for claim in ALL_CLAIMS if claim.outcome == "not met" and claim.priority < 3]
    shown = " ".join(row[0] for row in rows(method, "Worst misses"))
    assert all(f"[{claim.id}]" in shown for claim in missed)
