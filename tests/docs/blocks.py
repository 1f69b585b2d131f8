"""Blocks of code on pages of the documentation, and running them as a reader would.

Blocks in `sh` and `python` are run, in order, in an empty directory. A block with title="NAME" is a file that
the reader saves. A `text` block after a block that is run is its output; `...` stands for words that the page
omits. Other blocks are only shown.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
OMISSION = r"(?:\S+ )*?"
RUNNABLE_LANGUAGES = ("sh", "python")

SESSION = r"""
import contextlib, io, json, subprocess, sys
sys.path.insert(0, "")
names, printed = {"__name__": "__main__"}, []
for language, text in json.load(sys.stdin):
    if language == "sh":
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{text}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
        printed.append(done.stdout)
    else:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "<page>", "exec"), names)
        printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""
"""Program that runs blocks in order; those in Python share their names, as in a notebook."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its name if it is a file, its text, and its first line on the page."""

    language: str
    title: str | None
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """A block that is run, and its output on the page."""

    block: Block
    expected_output: Block | None


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    return [
        Block(fence["language"], fence["title"], fence["text"], page.count("\n", 0, fence.start()) + 1)
        for fence in FENCE.finditer(page)
    ]


def steps(page_blocks: list[Block]) -> list[Step]:
    """Blocks that are run, each with the output after it."""
    next_blocks = [*page_blocks[1:], None] if page_blocks else []
    return [
        Step(
            block,
            next_block if next_block and next_block.language == "text" and not next_block.title else None,
        )
        for block, next_block in zip(page_blocks, next_blocks, strict=True)
        if block.language in RUNNABLE_LANGUAGES and not block.title
    ]


def save_files(page_blocks: list[Block], directory: Path) -> None:
    """Save the blocks of a page that are files."""
    directory.mkdir(parents=True, exist_ok=True)
    for block in page_blocks:
        if block.title:
            (directory / block.title).write_text(block.text, encoding="utf-8")


def run_steps(page_blocks: list[Block], directory: Path) -> list[str]:
    """Run the blocks in an empty directory, and return what each step prints."""
    save_files(page_blocks, directory)
    program = directory / "bin" / "sledlab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sledlab "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    installed = str(Path(sys.executable).parent)  # other commands that are installed with sledlab
    path = os.pathsep.join((str(program.parent), installed, os.environ["PATH"]))
    package = os.pathsep.join((str(PROJECT / "python"), os.environ.get("PYTHONPATH", "")))
    completed = subprocess.run(
        [sys.executable, "-c", SESSION],
        input=json.dumps([(step.block.language, step.block.text) for step in steps(page_blocks)]),
        cwd=directory,
        env=os.environ | {"PATH": path, "PYTHONPATH": package, "COLUMNS": "120", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    printed: list[str] = json.loads(completed.stdout)
    return printed


def difference(page_text: str, printed: str) -> str | None:
    """Difference between the output on a page and what was printed, except in spaces; `None` if none."""
    pattern = "".join(OMISSION if word == "..." else re.escape(f"{word} ") for word in page_text.split())
    if re.fullmatch(pattern, "".join(f"{word} " for word in printed.split())):
        return None
    return "\n".join(ndiff(*([line.rstrip() for line in text.splitlines()] for text in (page_text, printed))))
