"""Printed numbers and ranges, and how near measured values come to them.

A range is met if all values are inside. A number is met if all values round to it at its printed digits, or,
after *about* or *almost*, are within 10 % of it. *Up to* a number is met by the largest value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sledlab.reproduction.verdicts import NumberComparison

from .wording import format_number

PATTERN = re.compile(r"(?:(about|almost|over|below|up to|at most) )?([\d.,]+)(?: to ([\d.,]+))?(?: (.+))?")

ABOUT = 0.10
"""Relative distance from a number after *about* or *almost* that still meets it."""

NEAR = 0.05
"""Relative distance from a printed number that nearly meets it."""

MOST = 0.75
"""Share of values inside a printed range, together with their mean, from which on it is nearly met."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number or range as a paper prints it, such as `13 to 32 %`, `about 10 times` or `up to 0.5 ms`."""

    text: str

    @cached_property
    def _parts(self) -> tuple[str, float, float, float, str]:
        """Qualifier, minimum, maximum, half a unit of the last digit, and unit."""
        match = PATTERN.fullmatch(self.text)
        if match is None:
            raise ValueError(f"no printed number: `{self.text}`")
        qualifier, low, high, unit = match.groups(default="")
        decimals = max(len(each.partition(".")[2]) for each in (low, high))
        numbers = [float(each.replace(",", "")) for each in (low, high or low)]
        return qualifier, numbers[0], numbers[1], 0.5 * 10.0**-decimals, unit

    @property
    def is_range(self) -> bool:
        """Whether two numbers are printed."""
        return self._parts[1] != self._parts[2]

    def _bounds(self, margin: float) -> tuple[float, float]:
        """The minimum and the maximum that meet the printed number, or that are near it with a `margin`."""
        qualifier, low, high, half_unit, _ = self._parts
        qualifier_tolerance = ABOUT if qualifier in ("about", "almost") else 0.0
        tolerance = max(qualifier_tolerance, margin)
        minimum = (
            -float("inf") if qualifier in ("below", "at most") else low - max(half_unit, tolerance * abs(low))
        )
        maximum = float("inf") if qualifier == "over" else high + max(half_unit, tolerance * abs(high))
        if qualifier == "over":
            minimum = low * (1 - margin)
        if qualifier == "below":
            maximum = high * (1 + margin)
        return minimum, maximum

    def _scaled(self, values: Sequence[float]) -> list[float]:
        """Values in the unit of the printed number; shares become percent."""
        is_percent = self._parts[4].startswith("%")
        scaled_values = [100 * value if is_percent else value for value in values]
        return [max(scaled_values)] if self._parts[0] == "up to" else scaled_values

    def share_inside(self, values: Sequence[float], margin: float = 0.0) -> float:
        """The share of values that meet the printed number, widened by a relative margin."""
        minimum, maximum = self._bounds(margin)
        is_strict = self._parts[0] in ("over", "below")
        scaled_values = self._scaled(values)
        are_inside = [
            minimum < value < maximum if is_strict else minimum <= value <= maximum for value in scaled_values
        ]
        return sum(are_inside) / len(are_inside)

    def is_met(self, values: Sequence[float]) -> bool:
        """Whether values meet the printed number.

        Examples:
            >>> [PrintedNumber("13 to 32 %").is_met(values) for values in ([0.13, 0.2], [0.1, 0.2])]
            [True, False]
            >>> PrintedNumber("0.5 ms").is_met([0.4999]), PrintedNumber("over 50 %").is_met([0.57])
            (True, True)
        """
        return bool(values) and self.share_inside(values) == 1

    def is_nearly_met(self, values: Sequence[float]) -> bool:
        """Whether values are within 5 % of the printed number, or their mean and most of them meet it.

        Examples:
            >>> [PrintedNumber("30 %").is_nearly_met(values) for values in ([0.314], [0.32])]
            [True, False]
            >>> [PrintedNumber("7 to 12 %").is_nearly_met(each) for each in ([0.05, 0.08, 0.09, 0.1], [0.05])]
            [True, False]
        """
        if not values:
            return False
        mean = sum(values) / len(values)
        is_near = not self.is_range and self.share_inside(values, NEAR) == 1
        return is_near or (self.share_inside(values) >= MOST and self.share_inside([mean]) == 1)

    def ratio(self, values: Sequence[float]) -> float:
        """Our value over the printed number, or over the middle of the printed range.

        Ours is the mean; the least for `over` a number, the greatest for `below` and `at most`.
        """
        scaled_values = self._scaled(values)
        pick_bound = {"over": min, "below": max, "at most": max}.get(self._parts[0])
        value = pick_bound(scaled_values) if pick_bound else sum(scaled_values) / len(scaled_values)
        return value / ((self._parts[1] + self._parts[2]) / 2)

    def as_criterion(self) -> dict[str, Any]:
        """The rule by which values meet the number, as plain data for the pages that judge in a browser.

        Examples:
            >>> rule = PrintedNumber("7 to 10 %").as_criterion()
            >>> rule["within"], rule["near"], rule["scale"]
            ((6.5, 10.5), None, 100)
        """
        qualifier, *_, unit = self._parts
        return {
            "within": self._bounds(0.0),
            "near": None if self.is_range else self._bounds(NEAR),
            "scale": 100 if unit.startswith("%") else 1,
            "unit": unit,
            "is_strict": qualifier in ("over", "below"),
            "takes_largest": qualifier == "up to",
        }

    def format_values(self, values: Sequence[float]) -> str:
        """The values, or the least and the greatest, in the unit of the printed number.

        Examples:
            >>> PrintedNumber("13 to 32 %").format_values([-0.023, 0.098])
            '-2.3 to 9.8 %'
            >>> PrintedNumber("2.28 %").format_values([0.0226])
            '2.26 %'
        """
        scaled_values, unit = self._scaled(values), self._parts[4]
        bounds = min(scaled_values), max(scaled_values)
        decimals = max(1, round(-math.log10(2 * self._parts[3])))
        texts = [
            f"{round(each, decimals) + 0.0:.{decimals}f}" if unit.startswith("%") else format_number(each)
            for each in bounds
        ]
        return f"{' to '.join(dict.fromkeys(texts))} {unit}".strip()


def compare(
    printed_texts: Sequence[str],
    values_by_number: Sequence[Sequence[float]],
    predicted_texts: Sequence[str] = (),
) -> tuple[NumberComparison, ...]:
    """Compare the values with what was printed and predicted in the same place; none without print."""
    if not printed_texts:
        return ()
    predicted = predicted_texts or ("",) * len(printed_texts)
    return tuple(
        NumberComparison(
            text,
            PrintedNumber(text).format_values(our_values),
            round(PrintedNumber(text).ratio(our_values), 3),
            predicted_text,
            round(PrintedNumber(predicted_text).ratio(our_values), 3) if predicted_text else 0.0,
        )
        for text, predicted_text, our_values in zip(printed_texts, predicted, values_by_number, strict=True)
        if our_values
    )
