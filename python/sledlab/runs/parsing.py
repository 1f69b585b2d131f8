"""Reading numbers and words as they are written on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import decimal
from sledlab.model.ranges import MAX_COUNT, check_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MULTIPLIERS = {"k": 1000, "M": 1_000_000}
"""Letters behind a number that multiply it."""

KIB, MIB, MB = 2**10, 2**20, 10**6
"""Units of sizes, in bytes."""

SIZES = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("kMGT", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
"""Units of sizes and their numbers of bytes."""


def number(word: str) -> float:
    """The finite number that a word spells.

    Raises:
        Error: `word` is no number, or its number is out of the range of `check_number`.
    """
    try:
        value = float(word)
    except ValueError:
        raise Error(f"`{word}` is not a number", remedy="give one such as 16 or 0.5") from None
    return check_number(value, f"`{word}`")


def count(word: str, minimum: int = 0) -> int:
    """The whole number that a word spells, also as `1e6`, `10k` (thousands) or `1M` (millions).

    Args:
        word: The word.
        minimum: The smallest number accepted.

    Raises:
        Error: `word` is no whole number, or its number is out of range.

    Examples:
        >>> count("20000"), count("1e6"), count("10k"), count("1.5M")
        (20000, 1000000, 10000, 1500000)
    """
    digits, factor = (word[:-1], MULTIPLIERS[word[-1]]) if word[-1:] in MULTIPLIERS else (word, 1)
    try:
        value = decimal.Decimal(digits)
    except decimal.InvalidOperation:
        value = decimal.Decimal("NaN")
    # Only numbers in range are computed with: as an `int`, 1e999999999 would have as many digits.
    if not value.is_nan() and -MAX_COUNT <= value <= MAX_COUNT:
        value *= factor
        value = decimal.Decimal("NaN") if value % 1 else value
    if value.is_nan():
        raise Error(f"`{word}` is not a whole number", remedy="write it as 20000, 20k or 1e6")
    if not minimum <= value <= MAX_COUNT:
        limit = f", {minimum} or more" if value < minimum else " below 2^63"
        raise Error(f"`{word}` is out of range", remedy=f"give a whole number{limit}")
    return int(value)


def size(word: str, unit: int) -> float:
    """Return the size that a word spells, in units of `unit` bytes; a number without a unit is one already.

    Raises:
        Error: `word` is no size.

    Examples:
        >>> size("64", MIB), size("64MiB", MIB), size("2gib", MIB), size("1.048576MB", MIB)
        (64.0, 64.0, 2048.0, 1.0)
    """
    digits = word.strip().rstrip("BKMGTibkmgt")
    suffix = word.strip().removeprefix(digits)
    bytes_by_unit = {name.lower(): size for name, size in SIZES.items()}
    try:
        value = float(digits)
        value = value * bytes_by_unit[suffix.lower()] / unit if suffix else value
    except (KeyError, ValueError):
        raise Error(f"`{word}` is not a size", remedy="write it as 64MiB, 64MB or 0.5GiB") from None
    return check_number(value, f"`{word}`")


def sizes(text: str, unit: int) -> list[float]:
    """Return the sizes of a text, as in `numbers`, in units of `unit` bytes.

    Examples:
        >>> sizes("64,1GiB", MIB), sizes("none", MIB)
        ([64.0, 1024.0], [])
    """
    return _ranges(text, lambda value: value + 1, lambda word: size(word, unit))


def size_doublings(text: str, unit: int) -> list[float]:
    """Return the sizes of a text, as in `sizes`, but with ranges whose sizes double.

    Examples:
        >>> size_doublings("4..16,1MiB", KIB)
        [4.0, 8.0, 16.0, 1024.0]
    """
    return _ranges(text, lambda value: value * 2, lambda word: size(word, unit))


def whole(word: str) -> int:
    """The whole number that a word spells, where small ones are usual, such as a number of threads.

    Raises:
        Error: `word` is no whole number.
    """
    try:
        return count(word)
    except Error as error:
        remedy = error.remedy if "out of range" in error.message else "give one such as 4"
        raise Error(error.message, remedy=remedy) from None


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


def whole_numbers(text: str) -> list[int]:
    """Return the whole numbers of a text, separated by commas, with ranges.

    Raises:
        Error: A word is no whole number, or a range has no end.

    Examples:
        >>> whole_numbers("7"), whole_numbers("1..3,8")
        ([7], [1, 2, 3, 8])
    """
    return [int(value) for value in _ranges(text, lambda value: value + 1, whole)]


def seeds(value: Any) -> tuple[int, ...]:
    """Return one seed or several, each once; a text such as `1..10` is a range.

    Raises:
        Error: A value is no whole number of 0 or more, or there is none.

    Examples:
        >>> seeds(7), seeds("1..3"), seeds([2, 1, 2])
        ((7,), (1, 2, 3), (2, 1))
    """
    if isinstance(value, str):
        value = whole_numbers(value)
    unique_seeds = tuple(dict.fromkeys(value if isinstance(value, (list, tuple, range)) else [value]))
    for seed in unique_seeds or [value]:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise Error(f"`{seed}` is not a seed", remedy="give whole numbers, 0 or more")
    return unique_seeds


def _ranges(text: str, step: Callable[[float], float], read: Callable[[str], float] = number) -> list[float]:
    if text == "none":
        return []
    values: list[float] = []
    for word in words(text):
        first_word, dots, last_word = word.partition("..")
        value = read(first_word)
        values.append(value)
        if not dots:
            continue
        end = read(last_word)
        if not 0 < value <= end < 1e6:
            raise Error(f"`{word}` is not a range", remedy="write it as 1..10")
        while (value := step(value)) <= end:
            values.append(value)
    return values


def names(text: str) -> list[str]:
    """Return the names in a text, separated by commas; the name of a file may have a comma."""
    return [text] if Path(text).is_file() else words(text)


def items(texts: Sequence[str]) -> list[str] | None:
    """Return the values of a repeated option; `None` if it was not given."""
    return [*texts] or None


def settings(texts: Sequence[str]) -> dict[str, str]:
    """Return settings by key from texts `KEY=VALUE`.

    Raises:
        Error: A text has no `=`, or two texts have the same key.
    """
    settings_by_key: dict[str, str] = {}
    for key, value in (pair("--set", text) for text in texts):
        if key in settings_by_key:
            raise Error(f"`--set {key}` is given twice", remedy="keep one of them")
        settings_by_key[key] = value
    return settings_by_key


def pair(flag: str, item: str) -> tuple[str, str]:
    """`KEY=VALUE` as a pair.

    Raises:
        Error: `item` has no `=`.
    """
    key, sign, value = item.partition("=")
    if not sign:
        raise Error(f"`{flag} {item}` has no value", remedy=f"write {flag} table.key=value")
    return key.strip(), value.strip()
