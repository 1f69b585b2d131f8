"""Claims on seek times alone: figure 4, zone counts, which axis dominates."""

from __future__ import annotations

from functools import cache

import numpy as np
import sledlab as sl
from sledlab.seek_maps import SeekMap

from ...markdown import percent
from ...published import GENERATIONS, X_DOMINATES, x_dominates
from ..claims import Verdict, verdict
from .runs import Runs

THRESHOLDS_MS = (0.30, 0.325, 0.35)
GRIDS = {320: (40, 4), 80: (20, 2), 20: (10, 1)}
"""Cells in x and y by the number of zones: two zones a cell, cells ten times as many in x as in y."""


@cache
def _map(x_bit: int = 0, y_bit: int = 0) -> SeekMap:
    return sl.seek_map(sl.device("mems-g2", direction="parity"), x_bit, y_bit)


def _aspect(threshold_ms: float) -> float:
    """Height over width of the region of even columns reached from the centre within a time."""
    found = _map()
    even = np.arange(len(found.x_bit)) % 2 == 0
    inside = found.ms[:, even] <= threshold_ms
    x, y = found.x_bit[even][inside.any(axis=0)], found.y_bit[inside.any(axis=1)]
    row_bits = int(np.diff(found.y_bit).max())
    return float((y.max() - y.min() + row_bits) / (x.max() - x.min() + 2))


def _shapes() -> str:
    shapes = ", ".join(f"1:{_aspect(ms):.1f} within {ms:g} ms" for ms in (*THRESHOLDS_MS, 0.4))
    return f"x:y is {shapes}"


def h_26(_: Runs) -> Verdict:
    """The shape of seek-time equivalence regions."""
    aspects = [_aspect(ms) for ms in THRESHOLDS_MS]
    return verdict(f"{_shapes()}.", holds=all(7 <= aspect <= 14 for aspect in aspects))


def h_27(_: Runs) -> Verdict:
    """What a unit in x is worth in y."""
    aspects = [_aspect(ms) for ms in THRESHOLDS_MS]
    ours = (
        f"{_shapes()}: ten lies within. It holds once settling is paid; a move in x always costs 0.215 ms "
        "of it."
    )
    return verdict(ours, holds=min(aspects) <= 10 <= max(aspects))


def _seek_in_cell_ms(columns: int, rows: int) -> float:
    """Mean seek time between random places of one direction in a cell at the centre of the medium."""
    rng = np.random.default_rng(1)
    width, height = 2500 // columns, 2430 // rows
    times = []
    for _ in range(30):
        x_bit = int(rng.integers(-width // 2, width // 2))
        y_bit = int(rng.integers(-height // 2, height // 2))
        found = _map(x_bit, y_bit)
        same = (np.arange(2500) % 2 == 0) & (np.abs(found.x_bit) <= width / 2)
        times.append(found.ms[np.ix_(np.abs(found.y_bit) <= height / 2, same)].mean())
    return float(np.mean(times))


def h_40(_: Runs) -> Verdict:
    """How many zones follow from a threshold."""
    counts = [2 * x * y for x, y in GRIDS.values()]
    seeks = [_seek_in_cell_ms(*grid) for grid in GRIDS.values()]
    cells = ", ".join(f"{x}x{y} cells" for x, y in GRIDS.values())
    times = ", ".join(f"{ms:.2f}" for ms in seeks)
    ours = (
        f"Cells of 1:10 on a square, for two directions each: {cells} make {counts[0]}, {counts[1]} and "
        f"{counts[2]} zones. Seeks within a central cell take {times} ms on average, near the thresholds "
        "of 0.3 and 0.4 ms. Held by `zones_of_the_paper_number_320_80_and_20` and "
        "`zones_of_the_paper_are_visited_once_each`."
    )
    return verdict(ours, holds=counts == list(GRIDS) and seeks == sorted(seeks))


def l_02(_: Runs) -> Verdict:
    """How often x takes longer than y."""
    shares = {device: x_dominates(device) for device in GENERATIONS}
    ours = ", ".join(
        f"{percent(share, 1)[1:]} % on {device[-2:].upper()}" for device, share in shares.items()
    )
    return verdict(f"{ours} of random moves.", holds=shares["mems-g2"] > X_DOMINATES)


CLAIMS = {"H-26": h_26, "H-27": h_27, "H-40": h_40, "L-02": l_02}
