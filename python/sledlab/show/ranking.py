"""Rankings of the rows of a table, and clauses that compare two times.

A sentence that names the fastest, cheapest or best row takes it from a `Ranking` of the rows of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sledlab.show.wording import figure, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

R = TypeVar("R")

MIN_FACTOR = 1.05
"""Smallest ratio of two times that a clause gives as a factor; a smaller one is a percentage."""

LEVEL = 0.02
"""Uncertainty of the difference of two results of one seed each, as a share of a result."""

MIN_DIFFERENCE = 0.0005
"""Share by which two times differ at least, to be called different."""


@dataclass(frozen=True)
class Ranking(Generic[R]):
    """Rows in ascending order of a value: less is better.

    Attributes:
        rows: The rows that have a value, the lowest first; equal ones in the order of the table.
        values: The value of each row.
        steady: Number of rows that are not overloaded; overloaded rows come last, because their values
            depend on the length of the run.

    Examples:
        >>> times_ms = {"disk": 8.0, "sled": 1.0, "late": 0.5, "absent": None, "other": 1.01}
        >>> ranking = Ranking.of(times_ms, times_ms.get, lambda name: name == "late")
        >>> ranking.rows, ranking.first, ranking.within(0.02)
        (['sled', 'other', 'disk', 'late'], 'sled', ['sled', 'other'])
        >>> Ranking.of(times_ms, times_ms.get).first_of_each(len).rows
        ['late', 'other']
    """

    rows: Sequence[R]
    values: Sequence[Any]
    steady: int

    @classmethod
    def of(
        cls,
        rows: Iterable[R],
        value: Callable[[R], Any],
        is_overloaded: Callable[[R], bool] = lambda _: False,
    ) -> Ranking[R]:
        """Rank rows by a value; rows whose value is `None` are omitted."""
        ranked = [(bool(is_overloaded(row)), value(row), row) for row in rows]
        ranked = sorted((each for each in ranked if each[1] is not None), key=lambda each: each[:2])
        steady = sum(not is_late for is_late, _, _ in ranked)
        return cls([row for _, _, row in ranked], [key for _, key, _ in ranked], steady)

    def __iter__(self) -> Iterator[R]:
        """Iterate over the rows, the lowest value first."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @property
    def first(self) -> R:
        """The row with the lowest value."""
        return self.rows[0]

    def within(self, share: float) -> list[R]:
        """Return the first row, and those whose value exceeds its value by at most a share.

        An overloaded row is returned only with other overloaded ones.
        """
        limit = self.values[0] * (1 + share)
        candidates = zip(self.rows[: self.steady or None], self.values, strict=False)
        return [row for row, value in candidates if value <= limit]

    def first_of_each(self, key: Callable[[R], Any]) -> Ranking[R]:
        """Return the ranking of the first row of each key."""
        places: dict[Any, int] = {}
        for place, row in enumerate(self.rows):
            places.setdefault(key(row), place)
        steady = sum(place < self.steady for place in places.values())
        return Ranking(
            [self.rows[place] for place in places.values()],
            [self.values[place] for place in places.values()],
            steady,
        )


def is_level(difference: float, half: float | None = None) -> bool:
    """Return whether two results are level: their difference is smaller than its uncertainty.

    Args:
        difference: The difference, as a share of one of the results.
        half: Half the 95 % confidence interval of that share over the seeds; None with one seed, for which
            the uncertainty is `LEVEL`.

    Examples:
        >>> is_level(0.01), is_level(0.01, 0.002), is_level(-0.03, 0.05)
        (True, False, True)
    """
    return abs(difference) < LEVEL if half is None else abs(difference) <= half


def compare_times(time: float, other_time: float, min_factor: float = MIN_FACTOR) -> str:
    """Return how a time compares with another, as a clause that ends before the name of the other.

    The factor in "times as fast as" is never below 1.

    Args:
        time: The time of the subject, in any unit.
        other_time: The time that it is compared with, in the same unit.
        min_factor: Smallest factor that is given as a factor.

    Examples:
        >>> [compare_times(time, 10.0).replace("\xa0", " ") for time in (5.0, 9.8, 10.0, 10.2, 12.2, 0.0)]
        ['2.0 times as fast as', '2.0 % less than', 'as fast as', '2.0 % more than', '1.2 times as long as', \
'faster than']
    """
    if time <= 0 or other_time <= 0:
        return "as fast as" if time == other_time else "faster than" if time < other_time else "slower than"
    factor = max(other_time / time, time / other_time)
    if factor < 1 + MIN_DIFFERENCE:
        return "as fast as"
    if factor >= min_factor:
        return f"{figure(factor, 2)} times as {'fast' if time < other_time else 'long'} as"
    return f"{percent(1 - 1 / factor)} less than" if time < other_time else f"{percent(factor - 1)} more than"
