"""`sledlab setup`: shell completion, man pages, JSON Schemas and the address of the documentation."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from sledlab.cli.group import LazyCommand, LazyGroup
from sledlab.errors import Error
from sledlab.show import terminal

METADATA = "sledlab-*.dist-info/METADATA"
"""The metadata of the package, which pyproject.toml declares, in a directory of `sys.path`."""

ADDRESS = re.compile(r"^Project-URL: Documentation, (\S+)$", re.MULTILINE)


@click.group(
    "setup",
    cls=LazyGroup,
    sections={
        "Commands": {
            "completion": LazyCommand("completion:completion", "Print the completion script of a shell."),
            "man": LazyCommand("man:man", "Write man pages."),
            "schema": LazyCommand("schema:schema", "Print the JSON Schema of a kind of file."),
            "docs": LazyCommand("setup:docs", "Print the address of the documentation."),
        }
    },
)
def setup() -> None:
    """Set up a shell, man pages and editors."""


@click.command()
def docs() -> None:
    """Print the address of the documentation."""
    url = address()
    if url is None:
        raise Error("sledlab is not installed here", remedy="install it with pip")
    terminal.say(url)


def address() -> str | None:
    """Return the address of the documentation; `None` where sledlab is not installed.

    `importlib.metadata` would take longer than all of `sledlab --help`.
    """
    files = (file for directory in sys.path for file in Path(directory).glob(METADATA))
    matches = (ADDRESS.search(file.read_text(encoding="utf-8")) for file in files)
    return next((match[1] for match in matches if match), None)
