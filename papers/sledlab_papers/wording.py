"""Numbers in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

from sledlab.reproduction.verdicts import NumberTable

Shares = Iterable[float] | Mapping[float, float]
"""Relative differences, possibly by the load or level at which they hold."""


def percent(share: float, digits: int = 2) -> str:
    """A relative deviation in percent, with its sign; without a sign where it rounds to 0."""
    text = f"{100 * share:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def span(shares: Sequence[float], digits: int = 1) -> str:
    """The range of some relative deviations, in words."""
    return f"{percent(min(shares), digits)} to {percent(max(shares), digits)} %"


def format_small(value: float) -> str:
    """A small number in two digits, rounded up: no claim becomes stronger by printing it."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    return f"{math.ceil(value / 10**exponent * 10) / 10:.1f}e{exponent:+03d}"


def _values(shares: Shares) -> list[float]:
    return list(shares.values() if isinstance(shares, Mapping) else shares)


def spread(shares: Shares) -> str:
    """The range of relative differences, or the only one, in words; says so where there are none."""
    values = _values(shares)
    if not values:
        return "no load in this range"
    if max(values) - min(values) < 5e-4:
        return f"{percent(values[0], 1)} %"
    return span(values)


def overlaps(shares: Shares, low: float, high: float) -> bool:
    """Whether the range of some relative differences overlaps a band."""
    values = _values(shares)
    return len(values) > 0 and min(values) <= high and max(values) >= low


def column_values(rows: Mapping[str, Sequence[Shares]], *columns: int) -> list[float]:
    """All relative differences in some columns of a table, by default in all."""
    return [
        value
        for row in rows.values()
        for column, shares in enumerate(row)
        if not columns or column in columns
        for value in _values(shares)
    ]


def all_above(shares: Shares, minimum: float = 0.0) -> bool:
    """Whether there are any, and all are above `minimum`."""
    values = _values(shares)
    return bool(values) and all(value > minimum for value in values)


def majority_above(shares: Shares, minimum: float = 0.0) -> bool:
    """Whether more than half are above `minimum`."""
    values = _values(shares)
    return 2 * sum(value > minimum for value in values) > len(values)


def excess(change: float) -> float:
    """By how much the greater of two values exceeds the less, from the relative difference between them.

    Examples:
        >>> excess(0.25), round(excess(-0.2), 6)
        (0.25, 0.25)
    """
    return max(1 + change, 1 / (1 + change)) - 1


def format_number(value: float, digits: int = 3) -> str:
    """A number in three significant digits.

    Examples:
        >>> [format_number(value) for value in (0.12345, 12.345, 12345.6)]
        ['0.123', '12.3', '12,346']
    """
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


FORMS: dict[str, Callable[[Any], str]] = {
    "spread": spread,
    "figure": format_number,
    "tiny": format_small,
    "upper": str.upper,
    ";": "; ".join,
    ",,": ", ".join,
}
"""Formats that may follow the colon of a place, besides those of Python."""


SHARE = re.compile(r"([-+]?)(?:(%)(\d)|(\d)%)")
"""`1%` for a share with its unit, `%1` without; `+1%` for a deviation, `-1%` for a reduction by that."""


class _TextFormatter(Formatter):
    def format_field(self, value: Any, format_name: str) -> str:
        if format_name in FORMS:
            return FORMS[format_name](value)
        if share := SHARE.fullmatch(format_name):
            sign, has_no_unit, digits = share[1], share[2], int(share[3] or share[4])
            number = (
                percent(-value if sign == "-" else value, digits) if sign else f"{100 * value:.{digits}f}"
            )
            return number if has_no_unit else f"{number} %"
        return str(super().format_field(value, format_name))


def format_text(template: str, /, *values: object, **values_by_name: object) -> str:
    """A sentence with its places filled.

    Examples:
        >>> format_text("{:upper} {change:+1%}, {share:0%}", "sptf", change=0.1234, share=0.5)
        'SPTF +12.3 %, 50 %'
    """
    return _TextFormatter().vformat(template, values, values_by_name)


def format_rows(template: str, rows: Iterable[object], separator: str = ", ") -> str:
    """A sentence for each of some rows.

    Examples:
        >>> format_rows("{:upper} {:g}", {"fcfs": 1.5, "sptf": 1.0}.items())
        'FCFS 1.5, SPTF 1'
    """
    return separator.join(format_text(template, *(row if isinstance(row, tuple) else (row,))) for row in rows)


def number_table(title: str, columns: str, rows: Iterable[Sequence[str]]) -> NumberTable:
    """A table of numbers behind a verdict.

    Args:
        title: What the numbers are, with their unit.
        columns: Heads of the columns, separated by ` | `.
        rows: The cells of each row, such as `cells` returns them.

    Examples:
        >>> number_table("Mean response, ms", "load | SPTF", [cells("{:g} | {:.1f}", 2, 1.25)]).rows
        (('2', '1.2'),)
    """
    return NumberTable(title, tuple(columns.split(" | ")), tuple(map(tuple, rows)))


def cells(template: str, /, *values: object) -> list[str]:
    """The cells of a row.

    Examples:
        >>> cells("`{}` | {:.1f} | {:+%2}", "fcfs", 1.25, 0.1)
        ['`fcfs`', '1.2', '+10.00']
    """
    return format_text(template, *values).split(" | ")


def spread_table(title: str, columns: str, rows: Mapping[str, Sequence[Shares]]) -> NumberTable:
    """A table of ranges of relative differences, by the name of each row."""
    return number_table(title, columns, ((name, *map(spread, shares)) for name, shares in rows.items()))
