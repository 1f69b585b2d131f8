"""The check for standard terms: it finds the words in names and texts, and allows listed uses only."""

from __future__ import annotations

import re

import pytest

from tools import vocabulary


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("The request is under way.", "under way"),
        ("let under_way = 1;", "under_way"),
        ("fn held_bytes() {}", "held"),
        ("const HELD_BACK: u32 = 1;", "held"),
        ("struct AskedQuery;", "asked"),
        ("def test_mistakes_are_told():", "told"),
        ("Whoever waits", "whoever"),
    ],
)
def test_words_are_found_in_texts_and_names(line: str, word: str) -> None:
    assert [(number, found) for number, found, _ in vocabulary.uses(f"first\n{line}")] == [(2, word)]


@pytest.mark.parametrize(
    "line", ["besides", "withheld", "toldo", "upheld", "unasked", "aforesaid", "under the way"]
)
def test_parts_of_other_words_are_not_found(line: str) -> None:
    assert not list(vocabulary.uses(line))


def test_uses_outside_allowances_are_reported(tmp_path, monkeypatch) -> None:
    (tmp_path / "page.md").write_text("| said | options |\nfine\nWhat was said\n", encoding="utf-8")
    (tmp_path / "image.png").write_bytes(b"\x89said")
    (tmp_path / "page.json").write_text('{"a": "nobody"}', encoding="utf-8")
    monkeypatch.setattr(vocabulary, "PROJECT", tmp_path)
    monkeypatch.setattr(vocabulary, "ALLOWANCES", (vocabulary.Allowance(r"\.md$", r"^\| ", "table"),))
    assert vocabulary.check(["page.md", "image.png", "absent.md", "page.json"]) == [
        "page.md:3: `said`: What was said",
        'page.json:1: `nobody`: {"a": "nobody"}',
    ]


@pytest.mark.parametrize("each", vocabulary.ALLOWANCES, ids=lambda each: each.reason)
def test_each_allowance_is_used(each: vocabulary.Allowance) -> None:
    texts = [vocabulary.PROJECT / file for file in vocabulary.tracked_files() if re.search(each.files, file)]
    lines = [line for text in texts for _, _, line in vocabulary.uses(text.read_text(encoding="utf-8"))]
    assert any(re.search(each.lines, line) for line in lines)
