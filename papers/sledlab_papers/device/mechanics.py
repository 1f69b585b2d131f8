"""Claims on how a sled seeks (Hong 2006, section 3.2)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..claims import Judgment, judge_criterion, judge_definition
from ..simulator import random_pairs
from ..validated import chunk_errors, kinematic_errors

PAIRS = 100_000

NEAR = 1e-9
"""Relative error allowed, of seeks against integration and of the turning point against the printed one."""

NEAR_MS = 1e-6


def _parts() -> dict[str, npt.NDArray[np.int64]]:
    """Parts in ns of moves between random places of a G2 sled."""
    rows = random_pairs("mems-g2", PAIRS).requests
    names = ("seek_x_ns", "settle_ns", "seek_y_ns", "turnaround_ns", "positioning_ns")
    return {name: rows[name].to_numpy().astype(np.int64) for name in names}


def h_21(_: Path) -> Judgment:
    """Positioning time is the longer of x and y."""
    measured = _parts()
    x, y = measured["seek_x_ns"] + measured["settle_ns"], measured["seek_y_ns"] + measured["turnaround_ns"]
    off = np.abs(measured["positioning_ns"] - np.maximum(x, y)).max()
    return judge_definition(bool(off == 0)).with_numbers(pairs=PAIRS, off=int(off))


def h_22(_: Path) -> Judgment:
    """Settling after every move in x and no other; turnarounds in y."""
    measured = _parts()
    moved, settled = measured["seek_x_ns"] > 0, measured["settle_ns"]
    always = np.unique(settled[moved])
    turned = float((measured["turnaround_ns"] > 0).mean())
    return judge_definition(len(always) == 1 and not settled[~moved].any()).with_numbers(
        settle_ms=float(always[0]) / 1e6, moved=float(moved.mean()), turned=turned
    )


def h_23(_: Path) -> Judgment:
    """The printed turning point, and integration to the end."""
    measured = kinematic_errors()
    off, published = measured["integrated seek"], measured["published seek"]
    return judge_criterion(off <= NEAR and published <= NEAR).with_numbers(off=off, printed=published)


def h_24(_: Path) -> Judgment:
    """The closed form against integration."""
    measured = kinematic_errors()
    off, turnaround = measured["integrated seek"], measured["integrated turnaround"]
    off_ms = off * measured["longest seek (ms)"]
    return judge_criterion(off_ms <= NEAR_MS).with_numbers(off=off, turnaround=turnaround, off_ms=off_ms)


def h_25(_: Path) -> Judgment:
    """The piecewise form by its chunks."""
    measured = chunk_errors()
    errors = ", ".join(f"{100 * error:.2g} % with {chunks}" for chunks, error in measured.items())
    converges = all(fine < coarse for coarse, fine in pairwise(measured.values()))
    return judge_criterion(holds=False, direction=converges).with_numbers(errors=errors)
