"""Tables of numbers behind the verdicts on power."""

from __future__ import annotations

from collections.abc import Mapping

from sledlab.reproduction.verdicts import NumberTable

from ..wording import format_text, number_table


def speed_table(title: str, *rows: tuple[str, str, Mapping[float, float]]) -> NumberTable:
    """A table with a column for each speed of the trace.

    Args:
        title: What the numbers are.
        rows: Name with the unit, format of a cell, and numbers by speed, without those in overload.
    """
    speeds = sorted({speed for _, _, numbers in rows for speed in numbers})

    def row(name: str, cell: str, numbers: Mapping[float, float]) -> list[str]:
        return [name, *(format_text(cell, numbers[s]) if s in numbers else "overloaded" for s in speeds)]

    head = " | ".join(("speed", *(f"{speed:g}" for speed in speeds)))
    return number_table(title, head, (row(*each) for each in rows))
