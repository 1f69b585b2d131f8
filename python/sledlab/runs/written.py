"""Reading numbers and words as they are written on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.lazy import decimal

if TYPE_CHECKING:
    from collections.abc import Callable

THOUSANDS = {"k": 1000, "M": 1_000_000}
"""Letters behind a number that multiply it."""

MOST = 2**64
"""Every count is below this."""


def number(word: str) -> float:
    """The number that a word spells.

    Raises:
        Error: `word` is no number.
    """
    try:
        return float(word)
    except ValueError:
        raise Error(f"`{word}` is not a number", remedy="give one such as 16 or 0.5") from None


def count(word: str) -> int:
    """The whole number that a word spells, also as `1e6`, `10k` (thousands) or `1M` (millions).

    Raises:
        Error: `word` is no whole number.

    Examples:
        >>> count("20000"), count("1e6"), count("10k"), count("1.5M")
        (20000, 1000000, 10000, 1500000)
    """
    try:
        return int(word)
    except ValueError:
        pass
    try:
        found = decimal.Decimal(word[:-1] if word[-1:] in THOUSANDS else word) * THOUSANDS.get(word[-1:], 1)
        if abs(found) < MOST and found == (whole := int(found)):
            return whole
    except decimal.InvalidOperation:
        pass
    raise Error(f"`{word}` is not a whole number", remedy="write it as 20000, 20k or 1e6")


def whole(word: str) -> int:
    """The whole number that a word spells, where small ones are usual, such as a number of threads.

    Raises:
        Error: `word` is no whole number.
    """
    try:
        return count(word)
    except Error as error:
        raise Error(error.message, remedy="give one such as 4") from None


def words(text: str) -> list[str]:
    """The words of a text, separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers(text: str) -> list[float]:
    """The numbers of a text, separated by commas, with ranges in steps of one; empty for `none`.

    Raises:
        Error: A word is no number, or a range has no end.

    Examples:
        >>> numbers("1..3,8"), numbers("none")
        ([1.0, 2.0, 3.0, 8.0], [])
    """
    return _ranges(text, lambda value: value + 1)


def doublings(text: str) -> list[float]:
    """The numbers of a text as of `numbers`, but with ranges whose numbers double.

    Examples:
        >>> doublings("4..32,48")
        [4.0, 8.0, 16.0, 32.0, 48.0]
    """
    return _ranges(text, lambda value: value * 2)


def _ranges(text: str, step: Callable[[float], float]) -> list[float]:
    if text == "none":
        return []
    found: list[float] = []
    for word in words(text):
        first, dots, last = word.partition("..")
        value = number(first)
        found.append(value)
        if not dots:
            continue
        end = number(last)
        if not 0 < value <= end < 1e6:
            raise Error(f"`{word}` is not a range", remedy="write it as 1..10")
        while (value := step(value)) <= end:
            found.append(value)
    return found
