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
    "SC": 26,
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
BUILD_FOLDERS = {"node_modules", "view", "target", "__pycache__", "build"}

CITED_ID = re.compile(r"\b[A-Z]{2}-\d{2}\b|\b[HWLYC]-\d{2}\b")
"""Ids of requirements and of claims."""


def text_files() -> Iterator[Path]:
    """Every file of the repository that may cite an id."""
    yield from PROJECT.glob("*.md")
    for place in PLACES:
        for file in (PROJECT / place).rglob("*"):
            if file.suffix in SUFFIXES and not BUILD_FOLDERS & {*file.relative_to(PROJECT).parts}:
                yield file


def unknown_ids(text: str) -> set[str]:
    """Ids that are in neither list."""
    return {*CITED_ID.findall(text)} - {each.id for each in requirements.requirements()} - {*claims()}


def test_entries_are_numbered_without_gaps() -> None:
    expected = [f"{kind}-{number:02}" for kind, count in COUNTS.items() for number in range(1, count + 1)]
    assert sorted(each.id for each in requirements.requirements()) == sorted(expected)


@pytest.mark.parametrize("each", requirements.requirements(), ids=lambda each: each.id)
def test_requirement_has_names_or_reason(each: requirements.Requirement) -> None:
    assert each.what
    assert each.source
    assert bool(each.where) != bool(each.why)
    assert bool(each.names) >= bool(each.where)
    unknown = [name for name in each.names if name not in requirements.known_names()]
    assert not unknown


def test_cited_ids_exist() -> None:
    files = [*text_files()]
    actual = {file: unknown_ids(file.read_text(encoding="utf-8")) for file in files}
    assert len(files) > 1000
    assert {str(file.relative_to(PROJECT)): ids for file, ids in actual.items() if ids} == {}


def test_unknown_ids_are_found() -> None:
    planted = "-".join(("SC", "77")), "-".join(("H", "99")), "-".join(("QQ", "01"))
    assert unknown_ids(f"as {planted[0]}, {planted[1]} and {planted[2]} show, with SC-22 and H-15") == {
        *planted
    }


def test_page_is_up_to_date() -> None:
    assert (PROJECT / "docs" / requirements.PAGE).read_text(encoding="utf-8") == requirements.page()
