"""Blocks of code on pages of the documentation, and running them as a reader would.

Blocks in `sh` and `python` are run, in order, where a reader would be: in an empty directory. A block with
title="NAME" is a file that the reader saves. A `text` block behind one that is run is what that printed;
`...` stands for words that the page omits. Others are only shown.
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
LEFT_OUT = r"(?:\S+ )*?"
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
"""Runs blocks one after the other; those in Python share their names, as in a notebook."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is, its text, and the line of the page it begins on."""

    language: str
    title: str | None
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """A block that is run, and what the page says that it prints."""

    block: Block
    expected_output: Block | None


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    return [
        Block(result["language"], result["title"], result["text"], page.count("\n", 0, result.start()) + 1)
        for result in FENCE.finditer(page)
    ]


def steps(result: list[Block]) -> list[Step]:
    """What is run, each with the output behind it."""
    behind = [*result[1:], None] if result else []
    return [
        Step(block, after if after and after.language == "text" and not after.title else None)
        for block, after in zip(result, behind, strict=True)
        if block.language in RUNNABLE_LANGUAGES and not block.title
    ]


def save_files(result: list[Block], directory: Path) -> None:
    """Save the blocks of a page that are files."""
    directory.mkdir(parents=True, exist_ok=True)
    for block in result:
        if block.title:
            (directory / block.title).write_text(block.text, encoding="utf-8")


def run_steps(result: list[Block], directory: Path) -> list[str]:
    """What each step prints, run in an empty directory."""
    save_files(result, directory)
    program = directory / "bin" / "sledlab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sledlab "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    installed = str(Path(sys.executable).parent)  # other commands that are installed with sledlab
    path = os.pathsep.join((str(program.parent), installed, os.environ["PATH"]))
    package = os.pathsep.join((str(PROJECT / "python"), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        input=json.dumps([(step.block.language, step.block.text) for step in steps(result)]),
        cwd=directory,
        env=os.environ | {"PATH": path, "PYTHONPATH": package, "COLUMNS": "120", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    output: list[str] = json.loads(done.stdout)
    return output


def difference(shown: str, given: str) -> str | None:
    """How what was printed differs from what a page shows, but for space; `None` if it does not."""
    expected = "".join(LEFT_OUT if word == "..." else re.escape(f"{word} ") for word in shown.split())
    if re.fullmatch(expected, "".join(f"{word} " for word in given.split())):
        return None
    return "\n".join(ndiff(*([line.rstrip() for line in text.splitlines()] for text in (shown, given))))
