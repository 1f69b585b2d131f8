"""The search for the smallest cluster: doublings of a number, then the gap halved until it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DOUBLINGS_IN_A_ROW = 3
"""Doublings that must meet a goal one after the other before larger numbers are left alone."""


def smallest(first: int, last: int, meets: Callable[[int], bool]) -> int | None:
    """Return the smallest number found for which `meets` holds, its neighbor below tried; None without one.

    Doublings are tried until it holds for three in a row, to find larger numbers for which it does not hold
    again. Numbers between doublings above the one found are not tried.

    Examples:
        >>> looked_at = []
        >>> smallest(2, 200, lambda number: not looked_at.append(number) and number >= 13)
        13
        >>> looked_at
        [2, 4, 8, 16, 32, 64, 12, 14, 13]
        >>> smallest(2, 40, lambda number: True), smallest(2, 40, lambda number: False)
        (2, None)
    """
    numbers, outcomes = doublings(first, last), []
    for number in numbers:
        outcomes.append(meets(number))
        if outcomes[-DOUBLINGS_IN_A_ROW:] == [True] * DOUBLINGS_IN_A_ROW:
            break
    if not any(outcomes):
        return None
    index = outcomes.index(True)
    high = numbers[index]
    low = numbers[index - 1] if index else high - 1
    while high - low > 1:
        middle = (low + high) // 2
        if meets(middle):
            high = middle
        else:
            low = middle
    return high


def fastest(first: int, last: int, maximum: int, seconds: Callable[[int], float]) -> int | None:
    """Return the number of nodes, at most `maximum`, on which a job is fastest.

    Candidates are the doublings of the range, and `maximum`.

    The neighbor above `maximum` is tried as well, within the range; None where `maximum` is below the range.

    Examples:
        >>> looked_at = []
        >>> fastest(2, 40, 13, lambda number: looked_at.append(number) or 1 / number)
        13
        >>> looked_at
        [2, 4, 8, 13, 14]
        >>> fastest(2, 40, 1, lambda number: 1 / number)
    """
    numbers = doublings(first, maximum) if maximum >= first else []
    seconds_by_number = {
        number: seconds(number) for number in [*numbers, *([maximum + 1] if maximum < last else [])]
    }
    return min(numbers, key=seconds_by_number.__getitem__, default=None)


def doublings(first: int, last: int) -> list[int]:
    """Return the first number, its doublings, and the last.

    Examples:
        >>> doublings(3, 12), doublings(2, 9), doublings(5, 5)
        ([3, 6, 12], [2, 4, 8, 9], [5])
    """
    numbers = [first]
    while numbers[-1] < last:
        numbers.append(min(2 * numbers[-1], last))
    return numbers
