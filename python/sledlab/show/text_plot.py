"""Plots in characters, for terminals: a distribution of response times and curves over the load."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from sledlab.show.columns import fold
from sledlab.show.ticks import log_ticks
from sledlab.show.wording import percent, short_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROWS = 5
"""Lines of a plot, without its title, axis and tick labels."""

MIN_WIDTH = 40
"""Narrower terminals have no plots."""

BLOCKS = " ▁▂▃▄▅▆▇█"
"""Heights of a bar within a line, in eighths."""

MARKERS = "ABCDEFGH"
"""Letters of the curves."""

OVERLOADED = "overload"
"""Label of the line of overloaded points, above the scale: their values depend on the length of the run."""

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
        ...     print(line.replace("\xa0", " "))
        share of requests in each column, by response time in ms
          40 %         █
                       █       ▆
          20 %         █       █
               ▂       █       █       ▂       ▂
               █       █       █       █       █
           0 % ─────────────────────────────────
               0.5     1       2          5
    """
    points = [(time, share) for time, share in zip(times_ms, shares, strict=True) if time > 0]
    if width < MIN_WIDTH or len({time for time, _ in points}) < 2:
        return []
    low = points[0][0]
    high = next((time for time, share in points if share >= 1 - TAIL and time > low), points[-1][0])
    columns = width - _LABEL_WIDTH
    shares_by_column = _histogram(points, low, high, columns)
    largest = max(shares_by_column)
    labels = {0: percent(largest), ROWS // 2: percent(largest / 2), ROWS: "0 %"}
    ticks = {_column(tick, low, high, columns): f"{tick:,g}" for tick in log_ticks(low, high, columns // 8)}
    lines = [*_bars(shares_by_column), "─" * columns]
    return [
        "share of requests in each column, by response time in ms",
        *(f"{labels.get(row, ''):>{_LABEL_WIDTH - 1}} {line}".rstrip() for row, line in enumerate(lines)),
        " " * _LABEL_WIDTH + _labels(ticks, columns),
    ]


_LABEL_WIDTH = 7
"""Characters before a distribution: `99.9 %` at most, and a space."""


def _histogram(points: Sequence[tuple[float, float]], low: float, high: float, columns: int) -> list[float]:
    """Return the share of requests in each column of a logarithmic axis."""
    times, shares = [time for time, _ in points], [share for _, share in points]

    def share_within(time: float) -> float:
        index = bisect_right(times, time * (1 + 1e-9))
        return shares[index - 1] if index else 0.0

    edges = [low * (high / low) ** (column / (columns - 1)) for column in range(columns)]
    shares_within = [share_within(edge) for edge in edges]
    return [shares_within[0], *(after - before for before, after in pairwise(shares_within))]


def _bars(values: Sequence[float]) -> list[str]:
    """Return the lines of upright bars, from the top."""
    levels, largest = len(BLOCKS) - 1, max(values)
    heights = [0 if value <= 0 else max(1, round(value / largest * ROWS * levels)) for value in values]
    lines = []
    for row in reversed(range(ROWS)):
        filled = [min(max(height - row * levels, 0), levels) for height in heights]
        lines.append("".join(BLOCKS[part] for part in filled).rstrip())
    return lines


def curves(lines: Mapping[str, Sequence[tuple[float, float | None]]], label: str, width: int) -> list[str]:
    """Return curves over the load, each with a letter; both axes are logarithmic.

    Args:
        lines: Points of each curve, by its name: load and value; the value of an overloaded point is `None`.
        label: Name of the values, with their unit.
        width: Width of the terminal in characters.

    Returns:
        The lines; none if there is only one load, or no value, or the terminal is too narrow.

    Examples:
        >>> lines = {"FCFS": [(10, 1.0), (100, 9.0), (200, None)], "SPTF": [(10, 1.0), (100, 2.0)]}
        >>> for line in curves(lines, "ms", 48):
        ...     print(line)
        ms over requests/s: A FCFS, B SPTF; * several
         overload                                     A
                                            A
                5
        <BLANKLINE>
                2                           B
                1 *
                  ─────────────────────────────────────
                  10      20        50       100    200
    """
    lettered_lines = dict(zip(MARKERS, list(lines.values())[: len(MARKERS)], strict=False))
    points = [point for line in lettered_lines.values() for point in line]
    loads, values = [load for load, _ in points], [value for _, value in points if value]
    if width < MIN_WIDTH or len(set(loads)) < 2 or not values:
        return []
    low, high = min(values), max(values) if max(values) > min(values) else min(values) * 1.1
    labels = {_row(tick, low, high): short_figure(tick) for tick in reversed(log_ticks(low, high, ROWS))}
    label_width = max(len(text) for text in (*labels.values(), OVERLOADED)) + 2
    columns = width - label_width - 1
    grid = [[" "] * columns for _ in range(ROWS + 1)]
    for marker, line in lettered_lines.items():
        for load, value in line:
            row = 0 if value is None else _row(value, low, high)
            column = _column(load, min(loads), max(loads), columns)
            grid[row][column] = marker if grid[row][column] in (" ", marker) else "*"
    labels[0] = OVERLOADED
    rows = [
        f"{labels.get(row, ''):>{label_width - 1}} {''.join(cells)}".rstrip()
        for row, cells in enumerate(grid)
    ]
    ticks = {
        _column(tick, min(loads), max(loads), columns): f"{tick:,g}"
        for tick in log_ticks(min(loads), max(loads), columns // 9)
    }
    names = ", ".join(f"{marker} {name}" for marker, name in zip(MARKERS, lines, strict=False))
    return [
        *fold(f"{label} over requests/s: {names}; * several", width).split("\n"),
        *rows[0 if any(value is None for _, value in points) else 1 :],
        " " * label_width + "─" * columns,
        " " * label_width + _labels(ticks, columns),
    ]


def _row(value: float, low: float, high: float) -> int:
    """Return the line of a value, counted from the line of overloaded points."""
    return ROWS - _column(value, low, high, ROWS)


def _column(value: float, low: float, high: float, count: int) -> int:
    """Return the number of the cell of a value on a logarithmic axis of `count` cells."""
    return round(math.log(value / low) / math.log(high / low) * (count - 1))


def _labels(ticks: Mapping[int, str], width: int) -> str:
    """Return the labels of an axis below their columns, where they do not overlap."""
    line = ""
    for column, text in sorted(ticks.items()):
        begin = max(min(column - len(text) // 2, width - len(text)), 0)
        if not line or begin > len(line):
            line = f"{line:<{begin}}{text}"
    return line
