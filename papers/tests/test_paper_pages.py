"""The pages of the papers: short enough to read, with each claim once and both numbers."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from sledlab.reproduction.assumption import assumptions
from sledlab.reproduction.figure import figures
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import CONTRADICTED, MET, NO_EVIDENCE, claims

from sledlab_papers import paper_pages, scoreboard
from sledlab_papers.paths import PROJECT

MAX_PAPER_WORDS = 2500
"""Words that are read in ten minutes, at 250 a minute."""

MAX_INDEX_WORDS = 1250
"""Words that are read in five minutes."""


def visible_words(text: str) -> int:
    """Return the number of words that a page shows: no tags, addresses, or marks of tables."""
    text = re.sub(r"\]\([^)]*\)|!\[[^\]]*\]|<[^>]*>", " ", text)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


@pytest.fixture(params=PAPERS)
def paper(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_paper_is_read_in_ten_minutes(paper: str) -> None:
    assert visible_words(paper_pages.page(paper)) <= MAX_PAPER_WORDS


def test_index_is_read_in_five_minutes() -> None:
    assert visible_words(scoreboard.page()) <= MAX_INDEX_WORDS


def test_page_has_each_claim_once(paper: str) -> None:
    text = paper_pages.page(paper).split("## Claims")[1].split("## Figures")[0]
    id_counts = Counter(re.findall(r'<a id="[chlwy]-\d\d"></a>([CHLWY]-\d\d)', text))
    assert id_counts == Counter(name for name, claim in claims().items() if claim.paper == paper)


def test_rows_have_both_values_and_the_reason(paper: str) -> None:
    for claim in claims().values():
        if claim.paper == paper and claim.outcome not in NO_EVIDENCE:
            name, outcome, _, published, ours, ratio, why = paper_pages._row(claim)
            assert name
            assert published
            assert ours
            assert claim.outcome in outcome
            assert bool(ratio) == bool(claim.numbers)
            if claim.outcome != MET:
                assert why or claim.depends_on, claim.id
                assert not ours.startswith("see "), claim.id


def test_contradicted_claim_leads_to_its_proof() -> None:
    text = paper_pages.contradictions_page()
    for claim in claims().values():
        assert (claim.outcome == CONTRADICTED) == bool(claim.contradicted_by), claim.id
        if claim.contradicted_by:
            paper, _, anchor = claim.contradicted_by.partition("#")
            assert paper == claim.paper
            assert f"{{#{anchor}}}" in text, claim.id
            assert f"contradictions.md#{anchor}" in paper_pages.page(paper)


def test_page_begins_with_the_set(paper: str) -> None:
    text = paper_pages.page(paper)
    assert text.index("## Assumptions") < text.index("## Claims")
    assert all(entry.says.replace("|", "\\|") in text for entry in assumptions(paper))


def test_predictions_are_shown_beside_results() -> None:
    rows = [line for line in paper_pages.predictions_page().splitlines() if line.startswith("| [")]
    numbers = [(claim, each) for claim in claims().values() for each in claim.numbers]
    assert len(rows) == sum(bool(each.predicted) or claim.has_simulated_number for claim, each in numbers)


def test_page_shows_the_figures_with_data(paper: str) -> None:
    figure_names = re.findall(r'<img src="\.\./images/papers/(.*)\.svg"', paper_pages.page(paper))
    assert figure_names == [each.name for each in figures().values() if each.paper == paper]


def test_narrow_screens_name_the_columns() -> None:
    rules = (PROJECT / "docs" / "style.css").read_text(encoding="utf-8")
    for css_class, columns in (("assumptions", paper_pages.SET_COLUMNS), ("claims", paper_pages.COLUMNS)):
        for place, name in list(enumerate(columns.split(" | "), 1))[2:]:
            if name == "says":
                continue
            rule = f'.{css_class} td:nth-child({place})::before {{ content: "{name}: "; }}'
            assert rule in rules


def test_page_names_its_contradictions(paper: str) -> None:
    section = paper_pages.page(paper).split("## Contradictions")[1].split("\n## ")[0]
    anchors = re.findall(r"contradictions\.md#([\w-]+)", section)
    assert anchors == list(paper_pages._texts_by_paper()[paper]["contradictions"])
    assert all(f"{{#{anchor}}}" in paper_pages.contradictions_page() for anchor in anchors)


def test_page_names_assumptions_that_turn_claims(paper: str) -> None:
    line = next(each for each in paper_pages.page(paper).splitlines() if each.startswith("[Other values]"))
    turned_claims = {claim.id for claim in claims().values() if claim.paper == paper and claim.depends_on}
    assert set(re.findall(r"\[([CHLWY]-\d\d)\]", line)) == turned_claims
