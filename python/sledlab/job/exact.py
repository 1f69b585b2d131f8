"""Amounts of money without rounding, and days: what queries that run as jobs reckon with."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.lazy import pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledlab.job.files import Array

DECIMAL_BYTES = 16
"""Bytes of a sum of decimals on the wire: 38 digits, as DuckDB has them."""


def cents(values: Array) -> Array:
    """Amounts with two decimals as whole hundredths, which floats of up to 15 digits tell exactly."""
    found: Array = np.rint(values * 100).astype(np.int64)
    return found


def day(text: str) -> date:
    """A day.

    Raises:
        Error: It is none.

    Examples:
        >>> day("1995-03-15")
        datetime.date(1995, 3, 15)
    """
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Error(f"`{text}` is no date: {error}", remedy="write it as 1995-03-15") from error


def year_after(start: date) -> date:
    """The same day a year later; of 29 February the 28th, as in SQL.

    Examples:
        >>> str(year_after(day("1994-01-01"))), str(year_after(day("1996-02-29")))
        ('1995-01-01', '1997-02-28')
    """
    try:
        return start.replace(year=start.year + 1)
    except ValueError:
        return start.replace(year=start.year + 1, day=28)


def days(values: Array) -> Array:
    """Days as numbers of four bytes, counted from 1970."""
    found: Array = values.astype("M8[D]").astype(np.int32)
    return found


def decimals(values: Iterable[int | None], digits: int) -> pyarrow.Array:
    """Whole numbers of the last decimal as decimals of 38 digits; none where there is no value.

    Examples:
        >>> [str(value) for value in decimals([123456, None], 4)]
        ['12.3456', 'None']
    """
    found = [None if value is None else Decimal(value).scaleb(-digits) for value in values]
    return pyarrow.array(found, pyarrow.decimal128(38, digits))
