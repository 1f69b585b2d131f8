"""Texts for users contain no internal ids."""

from __future__ import annotations

import ast
import doctest
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest
from sledlab import job
from sledlab.cli import cli, run
from sledlab.model.catalogue import CATALOGUES, everything

from tests.docs.blocks import PROJECT

CODE = re.compile(r"\b[A-Z]{2}-\d\d\b")
"""An id of docs/requirements.md."""
CLAIM = re.compile(r"\b[HWLYC]-\d\d\b")
"""An id of a claim, which is a name to `sledlab reproduce` and nowhere else."""
DOCS = PROJECT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
OF_IDS = {"requirements", "validation", "papers", "calibration", "decisions"}
"""Pages for those who hold sledlab to papers, beside those of the reproduction."""
GUIDE = [page for page in PAGES if page.stem not in OF_IDS and page.parent.name != "reproduction"]
READ = ("python/sledlab", "presets", "examples", "sample", "web/page", "web/core")
"""Where all is for users: docstrings, messages, comments of what they copy."""


def codes(text: str) -> list[str]:
    """Ids in a text, but for claims as arguments of the command that knows them."""
    return CODE.findall(text) + CLAIM.findall(re.sub(r"sledlab reproduce (show|run) \S+", "", text))


@pytest.mark.parametrize("page", [*GUIDE, *PROJECT.glob("*.md")], ids=lambda page: page.stem)
def test_pages_have_no_codes(page: Path) -> None:
    assert codes(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("place", READ)
def test_what_users_read_has_no_codes(place: str) -> None:
    kinds = {".py", ".pyi", ".toml", ".ts", ".html", ".md", ".work", ".ipynb", ".csv"}
    files = [file for file in (PROJECT / place).rglob("*") if file.suffix in kinds]
    assert files
    assert {
        file.name: CODE.findall(file.read_text("utf-8"))
        for file in files
        if CODE.search(file.read_text("utf-8"))
    } == {}


def test_messages_and_meanings_have_no_codes() -> None:
    """In Rust ids stand in comments alone; those that are meanings are in the catalogue."""
    files = [*(PROJECT / "crates").glob("*/src/**/*.rs")]
    assert len(files) > 300
    said = {file.name: re.sub(r"//.*", "", file.read_text(encoding="utf-8")) for file in files}
    assert {name: CODE.findall(text) for name, text in said.items() if CODE.search(text)} == {}
    assert CODE.findall(json.dumps(everything())) == []


def test_examples_are_called_examples() -> None:
    """`Example:` is a box to the reference, which quotes it; `Examples:` is code."""
    sources = [
        file
        for place in ("python", "lab", "tools")
        for kind in ("py", "pyi")
        for file in (PROJECT / place).rglob(f"*.{kind}")
    ]
    assert len(sources) > 200
    wrong = [file for file in sources if re.search(rb"^ *Example:$", file.read_bytes(), re.MULTILINE)]
    assert wrong == []


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command, with those beneath it."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, *path, name)


COMMANDS = list(commands(cli))


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    capfd.readouterr()
    assert run(list(arguments)) == 0
    return capfd.readouterr().out


def test_help_has_no_codes(capfd: pytest.CaptureFixture[str]) -> None:
    help_of = {path: told(capfd, *path, "--help") for path in COMMANDS}
    assert len(help_of) > 40
    assert {path: CODE.findall(text) for path, text in help_of.items() if CODE.search(text)} == {}


LISTS = [path for path in COMMANDS if path and path[-1] == "list"]


@pytest.mark.parametrize("path", LISTS, ids=" ".join)
def test_lists_have_no_codes(path: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert not CODE.search(told(capfd, *path))


@pytest.mark.parametrize("kind", CATALOGUES)
def test_what_is_shown_has_no_codes(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = {entry.name: told(capfd, kind, "show", entry.name) for entry in CATALOGUES[kind].list()}
    assert found
    assert {code for text in found.values() for code in CODE.findall(text)} == set()


@pytest.mark.parametrize("name", [each.name for each in job.LIST])
def test_jobs_are_shown_without_codes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert not CODE.search(told(capfd, "job", "show", name))


def unseen() -> Iterator[tuple[str, str]]:
    """Docstrings that no module has at runtime: of classes in Rust, and of catalogues."""
    package = PROJECT / "python" / "sledlab"
    for node in ast.walk(ast.parse((package / "_native.pyi").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
    lines = ast.parse((package / "model" / "catalogue.py").read_text(encoding="utf-8")).body
    for named, said in pairwise(lines):
        match named, said:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def test_examples_that_python_does_not_see_run() -> None:
    tests = [doctest.DocTestParser().get_doctest(text, {}, name, None, 0) for name, text in unseen()]
    with_examples = [test for test in tests if test.examples]
    assert sorted(test.name for test in with_examples) == sorted(["Experiment", *CATALOGUES])
    assert all(doctest.DocTestRunner().run(test).failed == 0 for test in with_examples)
