"""Printing text on standard output and standard error, terminals or not."""

from __future__ import annotations

import os
import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

from sledlab.lazy import json, rich_console
from sledlab.show.columns import fold
from sledlab.terminal_text import is_unicode, replace_unencodable, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    Write = Callable[[Console], None]

WIDTH = 120
"""Characters in a line of text that is returned instead of printed."""

PIPE_WIDTH = 100
"""Characters in a line where standard output is no terminal and COLUMNS is not set."""


def as_text(write: Write, width: int = WIDTH) -> str:
    """Return what `write` prints on a console, as plain text."""
    out = StringIO()
    write(rich_console.Console(file=out, width=width, color_system=None, highlight=False, emoji=False))
    return out.getvalue().rstrip()


def show(write: Write) -> None:
    """Call `write` with the console of standard output."""
    write(console())


def say(text: str = "", *, end: str = "\n") -> None:
    """Print text with control characters escaped."""
    print(visible(text), end=end)


def say_sentences(text: str) -> None:
    """Print a paragraph, folded between words at the width of the terminal."""
    print(fold(visible(text), console().width))


def tell(text: str) -> None:
    """Print text on standard error, after all that has been printed so far."""
    sys.stdout.flush()
    print(visible(text), file=sys.stderr)


def say_json(value: Any) -> None:
    """Print plain data as JSON; in ASCII if it has control characters, or standard output is not Unicode."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if visible(text) != text or not is_unicode(encoding()):
        text = json.dumps(value, ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")
    print(text)


def say_file(text: str) -> None:
    """Print the text of a file; in ASCII, which is valid UTF-8, where standard output is not Unicode."""
    if not is_unicode(encoding()):
        text = replace_unencodable("ascii", text)
    say(text, end="")


def note(text: str) -> None:
    """Print a dimmed line, which is not folded."""
    console().print(printable_text(text), style="dim", soft_wrap=True, markup=False)


def printable_text(text: str) -> str:
    """Return the text in characters that standard output can show."""
    return replace_unencodable(encoding(), visible(text))


def encoding() -> str:
    """Return the encoding of standard output."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def console() -> Console:
    """Return a console of `rich` on standard output."""
    standard_output = rich_console.Console(highlight=False, emoji=False)
    if standard_output.is_terminal:
        return standard_output
    columns = re.fullmatch(r"[1-9][0-9]{0,3}", os.environ.get("COLUMNS", ""))
    width = int(columns[0]) if columns else PIPE_WIDTH
    return rich_console.Console(highlight=False, emoji=False, width=width)
