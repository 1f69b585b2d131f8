"""Text on a terminal, or where there is none."""

from __future__ import annotations

import os
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

from sledlab.lazy import json, rich_console
from sledlab.legible import is_unicode, shown_in, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    Write = Callable[[Console], None]

WIDTH = 120
"""Characters in a line of text that goes to no stream."""

PIPED = 100
"""Characters in a line where standard output is no terminal and COLUMNS says nothing."""


def as_text(write: Write, width: int = WIDTH) -> str:
    """What `write` prints on a console, as plain text."""
    out = StringIO()
    write(rich_console.Console(file=out, width=width, color_system=None, highlight=False, emoji=False))
    return out.getvalue().rstrip()


def show(write: Write) -> None:
    """Has `write` print on standard output."""
    write(console())


def say(text: str = "", *, end: str = "\n") -> None:
    """Prints text as it is, but for control characters."""
    print(visible(text), end=end)


def tell(text: str) -> None:
    """Prints text on standard error, after all that has been printed so far."""
    sys.stdout.flush()
    print(visible(text), file=sys.stderr)


def say_json(value: Any) -> None:
    """Prints plain data as JSON, which is valid in whatever encoding standard output has."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if visible(text) != text or not is_unicode(encoding()):
        text = json.dumps(value, ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")
    print(text)


def say_file(text: str) -> None:
    """Prints the text of a file, which is UTF-8 in whatever encoding standard output has."""
    if not is_unicode(encoding()):
        text = shown_in("ascii", text)
    say(text, end="")


def note(text: str) -> None:
    """Prints a line of less weight, which is not folded."""
    console().print(plain(text), style="dim", soft_wrap=True, markup=False)


def plain(text: str) -> str:
    """Text as standard output can show it."""
    return shown_in(encoding(), visible(text))


def encoding() -> str:
    """The encoding of standard output."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def console() -> Console:
    """Standard output."""
    made = rich_console.Console(highlight=False, emoji=False)
    if made.is_terminal:
        return made
    said = os.environ.get("COLUMNS", "")
    width = int(said) if said.isdigit() and int(said) else PIPED
    return rich_console.Console(highlight=False, emoji=False, width=width)
