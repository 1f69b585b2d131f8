"""Text on a terminal, or where there is none."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from sledlab.lazy import rich_console

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    Write = Callable[[Callable[..., None]], None]

WIDTH = 120
"""Characters in a line where there is no terminal."""


def as_text(write: Write, width: int = WIDTH) -> str:
    """What `write` hands to a `rich` console's `print`, as plain text."""
    out = StringIO()
    write(rich_console.Console(file=out, width=width, color_system=None, highlight=False).print)
    return out.getvalue().rstrip()


def show(write: Write) -> None:
    """Prints what `write` hands over."""
    write(_console().print)


def note(text: str) -> None:
    """Prints a line of less weight, which is not folded."""
    rich_console.Console(highlight=False, soft_wrap=True, markup=False).print(text, style="dim")


def _console() -> Console:
    console = rich_console.Console(highlight=False)
    return console if console.is_terminal else rich_console.Console(highlight=False, width=WIDTH)
