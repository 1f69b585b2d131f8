"""Every command and program of the tutorials and of many machines runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import PROJECT, RUNNABLE_LANGUAGES, blocks, difference, run_steps, steps

DOCS = PROJECT / "docs"
PAGES = [*sorted((DOCS / "tutorial").glob("*.md")), DOCS / "machines.md", DOCS / "which-device.md"]
UNRUN_LANGUAGES = {"console", "csv", "text"}
"""Languages that are not run: commands that need root or other programs, files, and output."""
MAX_WORDS = 1500
"""A page is read in five minutes; tables of output are looked at, not read."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.slow("a tutorial is run from its first command to its last")
def test_printed_values_equal_page_values(page: Path, tmp_path: Path) -> None:
    page_blocks = blocks(page.read_text(encoding="utf-8"))
    printed = run_steps(page_blocks, tmp_path / "checkout")
    assert len(printed) == len(steps(page_blocks)) > 0
    for step, step_output in zip(steps(page_blocks), printed, strict=True):
        if step.expected_output:
            assert (differs := difference(step.expected_output.text, step_output)) is None, (
                f"{page.name}:{step.expected_output.line}\n{differs}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_outputs_of_run_blocks_only(page: Path) -> None:
    page_blocks = blocks(page.read_text(encoding="utf-8"))
    assert {block.language for block in page_blocks if not block.title} <= {
        *RUNNABLE_LANGUAGES,
        *UNRUN_LANGUAGES,
    }
    outputs = [block for block in page_blocks if block.language == "text" and not block.title]
    assert outputs == [step.expected_output for step in steps(page_blocks) if step.expected_output]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_states_its_subject_and_is_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.split("\n\n")[1].startswith(("This tutorial ", "This course ", "A study "))
    prose = text
    for block in blocks(text):
        prose = prose.replace(block.text, "")
    assert len(prose.split()) <= MAX_WORDS


@pytest.mark.parametrize(
    ("page_text", "printed", "is_same"),
    [
        ("mean   1.5\n...\nend\n", "mean 1.5  \nanything\nmore\nend\n", True),
        ("...\nend\n", "end\n", True),
        ("a ... c\n", "a\nb\nc\n", True),
        ("mean 1.5\n", "mean 1.6\n", False),
        ("mean 1.5\n", "mean 1.5 ms\n", False),
        ("...\nend\n", "mean 1.5\n", False),
    ],
)
def test_difference_ignores_spaces_and_omissions(page_text: str, printed: str, is_same: bool) -> None:
    assert (difference(page_text, printed) is None) == is_same
