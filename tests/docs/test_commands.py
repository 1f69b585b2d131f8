"""Commands in help texts, pages, experiments and templates parse: options exist and take their values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest
from sledlab.cli import cli
from sledlab.cli.group import CommandGroup

from tests.docs.blocks import PROJECT, blocks

SHELL_LANGUAGES = ("sh", "bash", "console")
COMMAND_ENDS = {"|", ">", "2>", "&&", ";", "<"}
"""Words that end a command within a line of a shell."""

VARIABLE = re.compile(r"\$\w+")
SHOWN_WORDS = {"--sch"}
"""Words that pages show although they are no options: a word to be completed."""

CODE = re.compile(r"(?<!`)`(sledlab [^`]+)`(?!`)")
FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    {*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "papers").glob("*.md")}
    - {PROJECT / "CHANGELOG.md"}
)
FILES = sorted(
    path
    for folder, pattern in (
        ("papers/experiments", "*.toml"),
        ("presets", "**/*.toml"),
        ("python/sledlab/cli/templates", "*"),
        ("examples", "**/*.py"),
    )
    for path in (PROJECT / folder).glob(pattern)
)


def command_lines(text: str) -> Iterator[str]:
    """Yield the commands of a text, one for each line that begins with `sledlab`."""
    for line in text.replace("\\\n", " ").splitlines():
        command = line.strip().removeprefix("$ ").removeprefix("# ").strip()
        if command.startswith("sledlab ") and not command.startswith("sledlab: "):
            yield VARIABLE.sub("1", re.split(" -- | # ", command)[0])  # words after `--` are another command


def find_command(words: list[str]) -> tuple[click.Command, list[str], list[str]]:
    """Return the command that words name, its path, and the other words."""
    command: click.Command = cli
    path, words = words[:1], words[1:]
    while isinstance(command, click.Group) and words:
        subcommand = command.get_command(click.Context(command), words[0])
        if subcommand is None:
            break
        command, path, words = subcommand, [*path, words[0]], words[1:]
    return command, path, words


def is_unknown(command: click.Command, words: list[str]) -> bool:
    """Whether the words after a group name no command of it. A `CommandGroup` takes arguments of its own."""
    is_plain = isinstance(command, click.Group) and not isinstance(command, CommandGroup)
    return is_plain and bool(words) and not words[0].startswith("-")


def parse(line: str) -> None:
    """Parse a command without running it."""
    words = list(takewhile(lambda word: word not in COMMAND_ENDS, shlex.split(line)))
    command, path, words = find_command(words)
    assert not is_unknown(command, words), f"unknown command: {line}"
    command.make_context(" ".join(path), words)


def long_options(line: str) -> set[str]:
    """Return the long options of a command."""
    words = line.partition(" -- ")[0].split()
    return {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)} - SHOWN_WORDS


def commands(command: click.Command) -> Iterator[click.Command]:
    """Yield a command and all its subcommands."""
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            subcommand = command.get_command(click.Context(command), name)
            assert subcommand is not None
            yield from commands(subcommand)


def test_unknown_command_does_not_parse() -> None:
    for line in ("sledlab frobnicate", "sledlab trace frobnicate a.csv", "sledlab compare --frobnicate 1"):
        with pytest.raises((AssertionError, click.NoSuchOption)):
            parse(line)


def test_examples_of_help_parse() -> None:
    helps = [(each.help or "").partition("\b\n")[2] for each in commands(cli)]
    examples = [line for text in helps for line in command_lines(text)]
    assert len(examples) > 60
    for line in examples:
        parse(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_commands_in_blocks_of_pages_parse(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language in SHELL_LANGUAGES:
            for line in command_lines(block.text):
                parse(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_options_in_sentences_of_pages_exist(page: Path) -> None:
    for line in CODE.findall(FENCES.sub("", page.read_text(encoding="utf-8"))):
        command, path, words = find_command(line.split())
        if command is cli and words[:1] == ["depth"]:
            continue  # the study of tests/contributing/study.patch
        assert not is_unknown(command, words) or words[0].isupper(), (path, line)
        known_options = {name for each in command.get_params(click.Context(command)) for name in each.opts}
        assert long_options(line) <= {*known_options, "--help", "--help-all"}, (path, line)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_commands_in_comments_of_files_parse(file: Path) -> None:
    for line in command_lines(file.read_text(encoding="utf-8").replace("@FILE@", "file.toml")):
        parse(line)
