"""Ranges of numbers in options and files, checked where these are read, so that later code can compute."""

from __future__ import annotations

from typing import Any

from sledlab.errors import Error

MAX_COUNT = 2**63 - 1
"""Largest whole number: that of TOML files, and of a signed word of the simulator."""

MAX_NUMBER = 1e15
"""Largest number with a fraction, so that sizes in bytes and times in ns can be computed from all."""

MIN_NUMBER = 1e-15
"""Smallest number above 0, so that ratios and products of numbers are finite."""


REMEDY = f"give a whole number below 2^63, or a number from {MIN_NUMBER:g} to {MAX_NUMBER:g}"


def is_number(value: Any) -> bool:
    """Return whether a value is a number in range, and no truth value.

    Examples:
        >>> [is_number(value) for value in (2, 0.0, -1e15, True, "2", 1e999, 1e-320, 2**63)]
        [True, True, True, False, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    if isinstance(value, int):
        return -MAX_COUNT - 1 <= value <= MAX_COUNT
    return value == 0 or MIN_NUMBER <= abs(value) <= MAX_NUMBER  # false for NaN


def check_number(value: float, noun: str) -> float:
    """Return a number, which messages call `noun`.

    Raises:
        Error: The number is not finite, too large, or so near to 0 that its reciprocal is not finite.
    """
    if not is_number(value):
        raise Error(f"{noun} is out of range", remedy=REMEDY)
    return value


def check_numbers(name: str, value: Any) -> None:
    """Check the numbers in the value of an option: a number, or several in a list.

    Raises:
        Error: A number is out of range; the message begins with `name`.
    """
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(item, (int, float)) and not isinstance(item, bool) and not is_number(item):
            description = f"`{item:g}`" if isinstance(item, float) else "one of more than 64 bits"
            raise Error(f"{name}: expected a number in range, found {description}", remedy=REMEDY)
