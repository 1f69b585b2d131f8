"""Throughput at equal mean response: tables of gains, with the levels that overload leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sledlab.reproduction.verdicts import NumberTable

from ..runs import LEVELS_MS, LoadCurves
from ..wording import number_table, percent

NOT_REACHED = "not reached"


def overloaded_levels(curves: LoadCurves, scheduler: str, weights: Sequence[str]) -> list[float]:
    """Levels of mean response, in ms, that a scheduler reaches only in overload."""
    return [
        level_ms
        for weight in weights
        for level_ms in LEVELS_MS[weight]
        if (row := curves.crossings.get((scheduler, level_ms))) and row.reached == "in overload"
    ]


def gains_table(
    comparisons: Mapping[str, tuple[LoadCurves, str, str]], weights: Sequence[str]
) -> NumberTable:
    """Gains in throughput of the first over the second scheduler of each comparison, by level.

    Levels that no comparison reaches are omitted.
    """
    texts_by_level = {
        f"{level_ms:g} ms": [_gain_text(*each, level_ms, weights) for each in comparisons.values()]
        for weight in weights
        for level_ms in LEVELS_MS[weight]
    }
    columns = {level: texts for level, texts in texts_by_level.items() if {*texts} != {NOT_REACHED}}
    head = " | ".join(("at equal mean response", *columns))
    return number_table("Gain in throughput, %", head, zip(comparisons, *columns.values(), strict=True))


def _gain_text(curves: LoadCurves, a: str, b: str, level_ms: float, weights: Sequence[str]) -> str:
    """The gain of `a` over `b` in percent, or who reaches the level only in overload with some seed."""
    gains = curves.gains(a, b, weights)
    if level_ms in gains:
        return percent(gains[level_ms], 1)
    names = [
        each.split(":")[0].upper() for each in (a, b) if level_ms in overloaded_levels(curves, each, weights)
    ]
    return f"{' and '.join(names)} overloaded with a seed" if names else NOT_REACHED
