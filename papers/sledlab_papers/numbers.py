"""Numbers in settings: what is left of a configuration when names and comments are removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in nested tables and lists, and in texts such as `limit=1`, `0.5,1` and `1..3`.

    Examples:
        >>> list(numbers({"seed": "1..3", "options": ["largest=4", "1,2.5", "mems-g2"], "exact": True}))
        [1.0, 3.0, 4.0, 1.0, 2.5, 1.0]
    """
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, str):
        for word in value.rpartition("=")[2].replace("..", ",").split(","):
            try:
                yield float(word)
            except ValueError:
                continue
    elif isinstance(value, (bool, int, float)):
        yield float(value)
