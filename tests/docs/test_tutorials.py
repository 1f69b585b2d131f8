"""Every command and program of the tutorials and of many machines runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import PROJECT, RUNNABLE_LANGUAGES, blocks, difference, run_steps, steps

PAGES = [*sorted((PROJECT / "docs" / "tutorial").glob("*.md")), PROJECT / "docs" / "machines.md"]
UNRUN_LANGUAGES = {"console", "csv", "text"}
"""Languages that are not run: what needs root or other programs, files, and what was printed."""
MAX_WORDS = 1500
"""A page is read in five minutes; tables of output are looked at, not read."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.slow("a tutorial is run from its first command to its last")
def test_printed_values_equal_page_values(page: Path, tmp_path: Path) -> None:
    result = blocks(page.read_text(encoding="utf-8"))
    output = run_steps(result, tmp_path / "checkout")
    assert len(output) == len(steps(result)) > 0
    for step, text in zip(steps(result), output, strict=True):
        if step.expected_output:
            assert (differs := difference(step.expected_output.text, text)) is None, (
                f"{page.name}:{step.expected_output.line}\n{differs}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_is_shown_that_was_not_run(page: Path) -> None:
    result = blocks(page.read_text(encoding="utf-8"))
    assert {block.language for block in result if not block.title} <= {*RUNNABLE_LANGUAGES, *UNRUN_LANGUAGES}
    outputs = [block for block in result if block.language == "text" and not block.title]
    assert outputs == [step.expected_output for step in steps(result) if step.expected_output]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_states_its_subject_and_is_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.split("\n\n")[1].startswith(("This tutorial ", "This course ", "A study "))
    prose = text
    for block in blocks(text):
        prose = prose.replace(block.text, "")
    assert len(prose.split()) <= MAX_WORDS


@pytest.mark.parametrize(
    ("shown", "expected", "same"),
    [
        ("mean   1.5\n...\nend\n", "mean 1.5  \nanything\nmore\nend\n", True),
        ("...\nend\n", "end\n", True),
        ("a ... c\n", "a\nb\nc\n", True),
        ("mean 1.5\n", "mean 1.6\n", False),
        ("mean 1.5\n", "mean 1.5 ms\n", False),
        ("...\nend\n", "mean 1.5\n", False),
    ],
)
def test_difference_ignores_spaces_and_omissions(shown: str, expected: str, same: bool) -> None:
    assert (difference(shown, expected) is None) == same
