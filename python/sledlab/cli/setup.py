"""`sledlab setup`: shell completion, man pages, JSON Schemas and the address of the documentation."""

from __future__ import annotations

import click

from sledlab.cli.group import Lazy, LazyGroup
from sledlab.lazy import metadata
from sledlab.show import terminal

DOCUMENTATION = "Documentation"


@click.group(
    "setup",
    cls=LazyGroup,
    sections={
        "Commands": {
            "completion": Lazy("completion:completion", "Print the completion script of a shell."),
            "man": Lazy("man:man", "Write man pages."),
            "schema": Lazy("schema:schema", "Print the JSON Schema of a kind of file."),
            "docs": Lazy("setup:docs", "Print the address of the documentation."),
        }
    },
)
def setup() -> None:
    """Set up a shell, man pages and editors."""


@click.command()
def docs() -> None:
    """Print the address of the documentation."""
    terminal.say(address())


def address() -> str:
    """Return the address of the documentation, from the metadata of the package."""
    urls: list[str] = metadata.metadata("sledlab").get_all("Project-URL") or []
    return next(url.partition(", ")[2] for url in urls if url.startswith(DOCUMENTATION))
