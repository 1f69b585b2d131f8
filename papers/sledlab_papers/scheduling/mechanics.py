"""Claims on seek times alone: figure 4, zone counts, which axis dominates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import sledlab as sl
from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_criterion, judge_printed
from ..published import GENERATIONS, MIN_X_DOMINANCE, x_dominance_share
from ..simulator import SeekMap
from ..wording import cells, number_table
from .plan import SchedulingRuns

PRINTED_RANGE = "0.3 and 0.4 ms"
"""Name of the thresholds of zones that section 4.2.2 prints."""

SHOWN_MS = (0.25, 0.3, 0.35, 0.4)
RANGES_MS = {
    PRINTED_RANGE: (0.3, 0.4),
    "0.3 to 0.35 ms": tuple(np.linspace(0.3, 0.35, 11)),
    "0.25 to 0.35 ms": tuple(np.linspace(0.25, 0.35, 21)),
    "0.3 to 0.4 ms": tuple(np.linspace(0.3, 0.4, 21)),
}
"""Thresholds whose regions can be meant by the average: the paper does not say which."""

GRIDS = {320: (40, 4), 80: (20, 2), 20: (10, 1)}
"""Cells in x and y by the number of zones: two zones a cell, cells ten times as many in x as in y."""
PUBLISHED_THRESHOLDS_MS = (0.3, 0.4, None)
"""Threshold of seeks within a zone, by number of zones; the largest zones have none."""


@cache
def _seek_map(x_bit: int = 0, y_bit: int = 0) -> SeekMap:
    return sl.seek_map(sl.device("mems-g2", direction="parity"), x_bit, y_bit)


def _aspect(threshold_ms: float) -> float:
    """Height over width of the region, of even columns, reached from the center within `threshold_ms`."""
    seek_map = _seek_map()
    is_even = np.arange(len(seek_map.x_bit)) % 2 == 0
    is_inside = seek_map.ms[:, is_even] <= threshold_ms
    x_bits, y_bits = seek_map.x_bit[is_even][is_inside.any(axis=0)], seek_map.y_bit[is_inside.any(axis=1)]
    row_bits = int(np.diff(seek_map.y_bit).max())
    return float((y_bits.max() - y_bits.min() + row_bits) / (x_bits.max() - x_bits.min() + 2))


def h_26(_: SchedulingRuns) -> Judgment:
    """The shape of seek-time equivalence regions."""
    means = {name: sum(map(_aspect, range_ms)) / len(range_ms) for name, range_ms in RANGES_MS.items()}
    average = means[PRINTED_RANGE]
    judgment = judge_printed([average], direction_holds=min(map(_aspect, SHOWN_MS)) > 1).with_numbers(
        average=average, lowest=min(means.values()), highest=max(means.values())
    )
    return judgment.with_tables(
        _shapes({f"{ms:g} ms": _aspect(ms) for ms in SHOWN_MS}, "Shape of a region"),
        _shapes(means, "Shape on average"),
    )


def _shapes(aspects: Mapping[str, float], title: str) -> NumberTable:
    """Ratios of x to y by the times within which regions are reached."""
    columns = " | ".join(("reached within", *aspects))
    return number_table(title, columns, [("x:y", *(f"1:{aspect:.1f}" for aspect in aspects.values()))])


def _seek_in_cell_ms(columns: int, rows: int) -> float:
    """Mean seek time between random places of one direction in a cell at the center of the medium."""
    rng = np.random.default_rng(1)
    width, height = 2500 // columns, 2430 // rows
    means_ms = []
    for _ in range(30):
        x_bit = int(rng.integers(-width // 2, width // 2))
        y_bit = int(rng.integers(-height // 2, height // 2))
        seek_map = _seek_map(x_bit, y_bit)
        is_same_direction = (np.arange(2500) % 2 == 0) & (np.abs(seek_map.x_bit) <= width / 2)
        means_ms.append(seek_map.ms[np.ix_(np.abs(seek_map.y_bit) <= height / 2, is_same_direction)].mean())
    return float(np.mean(means_ms))


def _longest_from_center_ms(columns: int, rows: int) -> float:
    """Longest seek time from the center of a cell at the center of the medium, in one direction."""
    seek_map = _seek_map()
    is_inside = (np.arange(2500) % 2 == 0) & (np.abs(seek_map.x_bit) <= 2500 / columns / 2)
    return float(seek_map.ms[np.ix_(np.abs(seek_map.y_bit) <= 2430 / rows / 2, is_inside)].max())


def h_40(_: SchedulingRuns) -> Judgment:
    """Number of zones that follows from a threshold of seek time."""
    longest_ms = [_longest_from_center_ms(*grid) for grid in GRIDS.values()]
    rows = [
        cells(
            "{} | {}x{} | {} | {:.2f} ms | {:.2f} ms",
            *(count, *grid, "none" if threshold_ms is None else f"{threshold_ms:g} ms"),
            *(longest, _seek_in_cell_ms(*grid)),
        )
        for (count, grid), threshold_ms, longest in zip(
            GRIDS.items(), PUBLISHED_THRESHOLDS_MS, longest_ms, strict=True
        )
    ]
    are_thresholds = [
        threshold_ms is None or round(longest, 1) == threshold_ms
        for threshold_ms, longest in zip(PUBLISHED_THRESHOLDS_MS, longest_ms, strict=True)
    ]
    columns = "zones | cells | published threshold | longest from the center | mean between places"
    return judge_criterion(all(are_thresholds)).with_tables(
        number_table("Seeks within a zone in the middle of the medium", columns, rows)
    )


def l_02(_: SchedulingRuns) -> Judgment:
    """How often x takes longer than y, with settling and without."""
    shares = {
        device[-2:].upper(): (x_dominance_share(device), x_dominance_share(device, has_settling=False))
        for device in GENERATIONS
    }
    judgment = judge_criterion(
        all(share > MIN_X_DOMINANCE > share_without for share, share_without in shares.values()),
        all(share > share_without for share, share_without in shares.values()),
    )
    rows = [cells("{} | {:%1} | {:%1}", generation, *both) for generation, both in shares.items()]
    least = min(share for share, _ in shares.values())
    most = max(share_without for _, share_without in shares.values())
    return judgment.with_numbers(least=least, most=most).with_tables(
        number_table(
            "Random moves in which x takes longer, %", "device | with settling | without settling", rows
        )
    )
