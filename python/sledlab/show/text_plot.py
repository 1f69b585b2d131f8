"""Plots in characters, for terminals: a distribution of response times and curves over the load."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from sledlab.show.ticks import log_ticks
from sledlab.show.wording import short_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROWS = 5
"""Lines of a plot, without its title, axis and tick labels: eight lines in all."""

MAX_WIDTH = 72
"""Most characters of a line."""

MIN_WIDTH = 40
"""Narrower terminals have no plots."""

BLOCKS = " ▁▂▃▄▅▆▇█"
"""Heights of a bar within a line, in eighths."""

MARKERS = "ABCDEFGH"
"""Letters of the curves."""

TAIL = 1e-4
"""Share of the slowest requests that is beyond the right end of a distribution."""


def distribution(times_ms: Sequence[float], shares: Sequence[float], width: int) -> list[str]:
    """Return a histogram of response times over a logarithmic axis.

    Args:
        times_ms: Response times, rising.
        shares: Share of requests answered within each time, from 0 to 1.
        width: Width of the terminal in characters.

    Returns:
        Eight lines; none if all times are equal, or the terminal is too narrow.

    Examples:
        >>> times = [0.5, 1, 2, 4, 8]
        >>> for line in distribution(times, [0.1, 0.5, 0.8, 0.9, 1.0], 40):
        ...     print(line)
        share of requests by response time
                  █
                  █         ▆
                  █         █
        ▂         █         █         ▂        ▂
        █         █         █         █        █
        ────────────────────────────────────────
        0.5       1         2           5  ms
    """
    width = min(width, MAX_WIDTH)
    points = [(time, share) for time, share in zip(times_ms, shares, strict=True) if time > 0]
    if width < MIN_WIDTH or len({time for time, _ in points}) < 2:
        return []
    low = points[0][0]
    high = next((time for time, share in points if share >= 1 - TAIL and time > low), points[-1][0])
    times, portions_within = [time for time, _ in points], [share for _, share in points]

    def share_within(time: float) -> float:
        index = bisect_right(times, time * (1 + 1e-9))
        return portions_within[index - 1] if index else 0.0

    edges = [low * (high / low) ** (column / (width - 1)) for column in range(width)]
    shares_within = [share_within(edge) for edge in edges]
    shares_by_column = [shares_within[0], *(after - before for before, after in pairwise(shares_within))]
    ticks = {_column(tick, low, high, width): f"{tick:,g}" for tick in log_ticks(low, high, width // 8)}
    return [
        "share of requests by response time",
        *_bars(shares_by_column),
        "─" * width,
        _labels(ticks, width, "ms"),
    ]


def _bars(values: Sequence[float]) -> list[str]:
    """Return the lines of upright bars, from the top."""
    levels, largest = len(BLOCKS) - 1, max(values)
    heights = [0 if value <= 0 else max(1, round(value / largest * ROWS * levels)) for value in values]
    lines = []
    for row in reversed(range(ROWS)):
        filled = [min(max(height - row * levels, 0), levels) for height in heights]
        lines.append("".join(BLOCKS[part] for part in filled).rstrip())
    return lines


def curves(lines: Mapping[str, Sequence[tuple[float, float]]], label: str, width: int) -> list[str]:
    """Return curves over the load, each with a letter; both axes are logarithmic.

    Args:
        lines: Points of each curve, by its name: load and value. Overloaded points are omitted.
        label: Name of the values, with their unit.
        width: Width of the terminal in characters.

    Returns:
        Eight lines; none if there is only one load, or the terminal is too narrow.

    Examples:
        >>> lines = {"FCFS": [(10, 1.0), (100, 9.0)], "SPTF": [(10, 1.0), (100, 2.0)]}
        >>> for line in curves(lines, "ms", 40):
        ...     print(line)
        ms: A FCFS, B SPTF; * several
          9                                    A
        <BLANKLINE>
          3
                                               B
          1 *
            ────────────────────────────────────
            10        20           50        100  requests/s
    """
    width = min(width, MAX_WIDTH)
    lettered_lines = dict(list(lines.items())[: len(MARKERS)])
    points = [point for line in lettered_lines.values() for point in line if point[1] > 0]
    loads, values = [load for load, _ in points], [value for _, value in points]
    if width < MIN_WIDTH or len(set(loads)) < 2:
        return []
    low, high = min(values), max(values) if max(values) > min(values) else min(values) * 1.1
    label_width = max(len(short_figure(value)) for value in (low, high, math.sqrt(low * high))) + 3
    columns = width - label_width
    grid = [[" "] * columns for _ in range(ROWS)]
    for marker, line in zip(MARKERS, lettered_lines.values(), strict=False):
        for load, value in line:
            if value <= 0:
                continue
            row = ROWS - 1 - _column(value, low, high, ROWS)
            column = _column(load, min(loads), max(loads), columns)
            grid[row][column] = marker if grid[row][column] in (" ", marker) else "*"
    values_by_row = {0: high, ROWS // 2: math.sqrt(low * high), ROWS - 1: low}
    labels = {row: short_figure(value) for row, value in values_by_row.items()}
    rows = [
        f"{labels.get(row, ''):>{label_width - 1}} {''.join(cells)}".rstrip()
        for row, cells in enumerate(grid)
    ]
    names = ", ".join(f"{marker} {name}" for marker, name in zip(MARKERS, lettered_lines, strict=False))
    ticks = {
        _column(tick, min(loads), max(loads), columns): f"{tick:,g}"
        for tick in log_ticks(min(loads), max(loads), columns // 9)
    }
    return [
        f"{label}: {names}; * several",
        *rows,
        " " * label_width + "─" * columns,
        " " * label_width + _labels(ticks, columns, "requests/s"),
    ]


def _column(value: float, low: float, high: float, count: int) -> int:
    """Return the number of the cell of a value on a logarithmic axis of `count` cells."""
    return round(math.log(value / low) / math.log(high / low) * (count - 1))


def _labels(ticks: Mapping[int, str], width: int, unit: str) -> str:
    """Return the labels of an axis below their columns, where they do not overlap, and the unit."""
    line = ""
    for column, text in sorted(ticks.items()):
        begin = max(min(column - len(text) // 2, width - len(text)), 0)
        if not line or begin > len(line):
            line = f"{line:<{begin}}{text}"
    return f"{line}  {unit}"
