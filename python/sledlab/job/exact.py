"""Amounts of money without rounding, and days: the arithmetic of the queries that run as jobs."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledlab.job.files import Array

DECIMAL_BYTES = 16
"""Bytes of a sum of decimals on the wire: 38 digits, the type that DuckDB gives it."""


def cents(values: Array) -> Array:
    """Amounts with two decimals as whole hundredths; exact for floats of up to 15 digits."""
    result: Array = np.rint(values * 100).astype(np.int64)
    return result


def day(text: str) -> date:
    """The day that a text names.

    Raises:
        Error: The text names no day.

    Examples:
        >>> day("1995-03-15")
        datetime.date(1995, 3, 15)
    """
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Error(f"`{text}` is not a date: {error}", remedy="write it as 1995-03-15") from error


def add_year(start: date) -> date:
    """The same day a year later; for 29 February the 28th, as in SQL.

    Examples:
        >>> str(add_year(day("1994-01-01"))), str(add_year(day("1996-02-29")))
        ('1995-01-01', '1997-02-28')
    """
    try:
        return start.replace(year=start.year + 1)
    except ValueError:
        return start.replace(year=start.year + 1, day=28)


def days(values: Array) -> Array:
    """Dates as numbers of days since 1970, of four bytes."""
    result: Array = values.astype("M8[D]").astype(np.int32)
    return result


def decimals(values: Iterable[int | None], digits: int) -> polars.Series:
    """Whole numbers of the last decimal as decimals of 38 digits; null where the value is None.

    Examples:
        >>> [str(value) for value in decimals([123456, None], 4)]
        ['12.3456', 'None']
    """
    amounts = [None if value is None else Decimal(value).scaleb(-digits) for value in values]
    return polars.Series(amounts, dtype=polars.Decimal(38, digits))
