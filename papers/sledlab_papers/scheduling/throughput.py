"""Throughput at equal mean response: gains in words, with the levels that overload leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from ..runs import LEVELS_MS, LoadCurves
from ..wording import format_rows, levels


def overloaded_levels(curves: LoadCurves, scheduler: str, weights: Sequence[str]) -> list[float]:
    """Levels of mean response, in ms, that a scheduler reaches only in overload."""
    return [
        level_ms
        for weight in weights
        for level_ms in LEVELS_MS[weight]
        if (row := curves.crossings.get((scheduler, level_ms))) and row.reached == "in overload"
    ]


def gains_text(curves: LoadCurves, a: str, b: str, weights: Sequence[str]) -> str:
    """Gains in throughput of `a` over `b` by level, and which of them is overloaded at the other levels."""
    overloads = [
        f"{name.split(':')[0].upper()} overloaded at {format_rows('{:g}', levels_ms)} ms"
        for name in (a, b)
        if (levels_ms := overloaded_levels(curves, name, weights))
    ]
    return ", ".join((levels(curves.gains(a, b, weights)), *overloads))
