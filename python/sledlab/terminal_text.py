"""Text for any terminal: control characters spelled out, ASCII for characters that an encoding lacks."""

from __future__ import annotations

import codecs
import re

STAND_INS = {
    **dict.fromkeys("−–—\u2010\u2011\u2012·─━╌═", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f", " "),
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝", "+"),
    **dict.fromkeys("µ\u03bc", "u"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d\u201e", '"'),
    "×": "x",
    "…": "...",
    "±": "+-",
    "≈": "~",
    "²": "^2",
    "³": "^3",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "←": "<-",
    "•": "*",
    "●": "*",
    "○": "o",
    "◇": "<>",
    "✕": "x",
    "◕": "+",
    "◐": "/",
    "□": "[]",
    "■": "#",
    **dict.fromkeys("▁▂▃▄", "."),
    **dict.fromkeys("▅▆▇█", "#"),
}
"""ASCII that stands for a character that the encoding of a stream lacks."""

HANDLER = "sledlab.terminal_text"
"""The name of the error handler for streams that replaces characters their encoding lacks."""

CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udcff]"
"""A pattern of characters that move, color or reverse text in a terminal, and of bytes that are no text.
It is compiled when there is text to be shown."""


def visible(text: str) -> str:
    r"""Text with its control characters spelled out, but for tabs and ends of lines: a terminal obeys none.

    Examples:
        >>> visible("mems\x1b[31m-g2\u202e")
        'mems\\x1b[31m-g2\\u202e'
        >>> visible(b"tr\xff.csv".decode(errors="surrogateescape"))
        'tr\\xff.csv'
    """
    return re.sub(CONTROL, lambda match: _escape(match[0]), text)


def replace_unencodable(encoding: str, text: str) -> str:
    """Text as a stream of some encoding shows it.

    Examples:
        >>> replace_unencodable("ascii", "4.2 µs ± 1 × 10²…"), replace_unencodable("cp1252", "−4.2 µs")
        ('4.2 us +- 1 x 10^2...', '-4.2 µs')
        >>> replace_unencodable("ascii", "ü")
        '\\\\u00fc'
    """
    return text.encode(encoding, HANDLER).decode(encoding)


def is_unicode(encoding: str) -> bool:
    """Whether an encoding has all characters.

    Examples:
        >>> is_unicode("UTF-8"), is_unicode("cp1252"), is_unicode("ANSI_X3.4-1968")
        (True, False, False)
    """
    return codecs.lookup(encoding).name.startswith("utf")


def _escape(character: str) -> str:
    """A character spelled by its number; a byte that is no text (a surrogate) by the number of the byte."""
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _replace_characters(error: UnicodeError) -> tuple[str, int]:
    """The error handler: stand-ins, and characters without one by number, as TOML and JSON write them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end]
    return "".join(
        STAND_INS.get(character) or _unicode_escape(character) for character in unencodable
    ), error.end


def _unicode_escape(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return _escape(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


codecs.register_error(HANDLER, _replace_characters)
