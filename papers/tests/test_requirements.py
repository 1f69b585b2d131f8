"""All that the papers name is in sledlab, or the page says why not; every id that is cited has an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sledlab.reproduction.verdicts import claims

from sledlab_papers import requirements
from sledlab_papers.paths import PROJECT

COUNTS = {
    "DM": 18,
    "LY": 10,
    "SC": 25,
    "PW": 17,
    "HY": 20,
    "CA": 7,
    "SM": 21,
    "WL": 18,
    "MT": 15,
    "AN": 14,
}
"""Entries of each kind, numbered from 1."""

PLACES = (
    "crates",
    "python",
    "lab",
    "papers",
    "docs",
    "presets",
    "tests",
    "benches",
    "examples",
    "sample",
    "web",
    "tools",
)
SUFFIXES = {".rs", ".py", ".pyi", ".toml", ".md", ".txt", ".ts", ".json", ".ipynb", ".html", ".patch"}
BUILT = {"node_modules", "view", "target", "__pycache__", "build"}

CITED = re.compile(r"\b[A-Z]{2}-\d{2}\b|\b[HWLYC]-\d{2}\b")
"""Ids of requirements and of claims."""


def written() -> Iterator[Path]:
    """Every file of the repository that somebody may cite an id in."""
    yield from PROJECT.glob("*.md")
    for place in PLACES:
        for file in (PROJECT / place).rglob("*"):
            if file.suffix in SUFFIXES and not BUILT & {*file.relative_to(PROJECT).parts}:
                yield file


def dangling(text: str) -> set[str]:
    """Ids that are in neither list."""
    return {*CITED.findall(text)} - {each.id for each in requirements.requirements()} - {*claims()}


def test_nothing_is_missing_and_nothing_twice() -> None:
    expected = [f"{kind}-{number:02}" for kind, count in COUNTS.items() for number in range(1, count + 1)]
    assert sorted(each.id for each in requirements.requirements()) == sorted(expected)


@pytest.mark.parametrize("each", requirements.requirements(), ids=lambda each: each.id)
def test_it_is_in_sledlab_or_there_is_a_reason(each: requirements.Requirement) -> None:
    assert each.what
    assert each.source
    assert bool(each.where) != bool(each.why)
    assert bool(each.named) >= bool(each.where)
    unknown = [name for name in each.named if name not in requirements.known()]
    assert not unknown


def test_every_id_that_is_cited_is_in_a_list() -> None:
    files = [*written()]
    actual = {file: dangling(file.read_text(encoding="utf-8")) for file in files}
    assert len(files) > 1000
    assert {str(file.relative_to(PROJECT)): ids for file, ids in actual.items() if ids} == {}


def test_an_id_of_no_list_is_found() -> None:
    planted = "-".join(("SC", "77")), "-".join(("H", "99")), "-".join(("QQ", "01"))
    assert dangling(f"as {planted[0]}, {planted[1]} and {planted[2]} show, with SC-22 and H-15") == {*planted}


def test_page_is_up_to_date() -> None:
    assert (PROJECT / "docs" / requirements.PAGE).read_text(encoding="utf-8") == requirements.page()
