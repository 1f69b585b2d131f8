"""Text and tables as a terminal, a notebook or a file shows them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from rich.table import Table

    Write = Callable[[Callable[..., None]], None]

WIDTH = 120
"""Characters in a line where there is no terminal."""


def as_text(write: Write, width: int = WIDTH) -> str:
    """What `write` hands to a `rich` console's `print`, as plain text."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    write(Console(file=out, width=width, color_system=None, highlight=False).print)
    return out.getvalue().rstrip()


def show(write: Write, report: str | Path | None = None) -> None:
    """Prints what `write` hands over, and where the report is."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    write(console.print)
    if report:
        console.print(f"[dim]report: {report}[/dim]")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table for a console: the first column to the left, the others to the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(head):
        made.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same for notebooks."""

    def cells(row: Iterable[Any]) -> str:
        return "".join(f'<td style="text-align:right">{html.escape(str(value))}</td>' for value in row)

    titles = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"
