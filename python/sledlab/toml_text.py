"""TOML files of users: parsed with limits, and errors that have file and line."""

from __future__ import annotations

import re
from typing import Any

from sledlab._native import check_toml
from sledlab.errors import Error, Place
from sledlab.lazy import tomllib


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    `tomllib` alone has no limits: deep nesting exhausts the stack, and the time for a dotted key grows with
    the square of its length.

    Args:
        text: The text.
        file: Its file, for errors.

    Raises:
        Error: The text is not valid TOML, nests values or dots keys more than 80 levels deep, or has an
            integer of more than 64 bits.

    Examples:
        >>> parse_toml("a.b = 1", "mine.toml")
        {'a': {'b': 1}}
    """
    check_toml(text, file)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # TOML 1.1, which this version of Python does not read
        match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(match[1]), int(match[2])) if match else (0, 0)
        excerpt = text.splitlines()[line - 1][:80] if 0 < line <= len(text.splitlines()) else ""
        message = f"not valid TOML: {str(error).partition(' (at ')[0]}"
        raise Error(message, Place(file, line, column, excerpt)) from error
