"""The search for the smallest cluster: all doublings of a range, then the gap halved until it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def smallest(first: int, last: int, meets: Callable[[int], bool]) -> int | None:
    """Return the smallest number found for which `meets` holds, its neighbor below tried; None without one.

    All doublings of the range are tried, to find larger numbers for which it does not hold again. Numbers
    between them are not tried.

    Examples:
        >>> looked_at = []
        >>> smallest(2, 40, lambda number: not looked_at.append(number) and number >= 13)
        13
        >>> looked_at
        [2, 4, 8, 16, 32, 40, 12, 14, 13]
        >>> smallest(2, 40, lambda number: True), smallest(2, 40, lambda number: False)
        (2, None)
    """
    numbers = doublings(first, last)
    outcomes = [meets(number) for number in numbers]
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
