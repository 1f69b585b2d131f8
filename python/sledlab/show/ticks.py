"""Ticks of axes: multiples of 1, 2 or 5 times a power of ten, by the same rules as `web/charts/ticks.ts`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_TICKS = 3
"""Fewest labels of an axis: two ends and a value between them show the scale."""


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Return multiples of a step of 1, 2 or 5 times a power of ten: at most `count`, but at least three.

    Examples:
        >>> linear_ticks(34, 44, 6)
        [34.0, 36.0, 38.0, 40.0, 42.0, 44.0]
    """
    if not high > low:
        return [low]
    ticks: list[float] = []
    power = math.ceil(math.log10(high - low)) + 1
    while True:
        for digit in (5, 2, 1):
            finer = _multiples(digit, power, low, high)
            if len(ticks) >= MIN_TICKS and len(finer) > count:
                return ticks
            ticks = finer
        power -= 1


def _multiples(digit: int, power: int, low: float, high: float) -> list[float]:
    step, slack = float(f"{digit}e{power}"), (high - low) * 1e-9
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [float(f"{index * digit}e{power}") for index in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten times 1, 2 and 5: at most `count`, but at least three.

    Where fewer than three lie between `low` and `high`, the ticks are those of a linear axis.

    Examples:
        >>> log_ticks(0.5, 20, 6)
        [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
        >>> log_ticks(0.1, 1e4, 6)
        [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
    """
    if not high > low or low <= 0:
        return [low]
    ticks = _decades((1, 2, 5), 1, low, high)
    if len(ticks) < MIN_TICKS:
        return linear_ticks(low, high, count)
    stride = 1
    while len(ticks) > count:
        fewer = _decades((1,), stride, low, high)
        if len(fewer) < MIN_TICKS:
            break
        ticks, stride = fewer, stride + 1
    return ticks


def _decades(digits: Sequence[int], stride: int, low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers if power % stride == 0 for digit in digits]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def tick_text(value: float) -> str:
    """Return a number as ticks show it: never as a power of ten, and with separators of thousands.

    Examples:
        >>> tick_text(1e6), tick_text(0.1 + 0.2), tick_text(-5)
        ('1,000,000', '0.3', '-5')
    """
    text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def round_down(value: float) -> float:
    """Return the largest value of 1, 2 or 5 times a power of ten that is at most `value`."""
    power = math.floor(math.log10(value) + 1e-9)
    digit = next((each for each in (5, 2, 1) if each * 10.0**power <= value * (1 + 1e-9)), 1)
    return float(f"{digit}e{power}")


def round_up(value: float) -> float:
    """Return the smallest value of 1, 2 or 5 times a power of ten that is at least `value`."""
    power = math.floor(math.log10(value) + 1e-9)
    digit = next((each for each in (1, 2, 5) if each * 10.0**power >= value * (1 - 1e-9)), 10)
    return float(f"{digit}e{power}")
