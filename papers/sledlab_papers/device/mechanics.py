"""Claims on how a sled seeks (Hong 2006, section 3.2)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..claims import Judgment, judge_criterion, judge_definition
from ..simulator import random_pairs
from ..validation_results import chunk_errors, kinematic_errors
from ..wording import number_table

PAIRS = 100_000

NEAR = 1e-9
"""Relative error allowed, of seeks against integration and of the turning point against the printed one."""

NEAR_MS = 1e-6


def _move_parts_ns() -> dict[str, npt.NDArray[np.int64]]:
    """Parts in ns of moves between random places of a G2 sled."""
    requests = random_pairs("mems-g2", PAIRS).requests
    names = ("seek_x_ns", "settle_ns", "seek_y_ns", "turnaround_ns", "positioning_ns")
    return {name: requests[name].to_numpy().astype(np.int64) for name in names}


def h_21(_: Path) -> Judgment:
    """Positioning time is the longer of x and y."""
    parts_ns = _move_parts_ns()
    x_ns, y_ns = (
        parts_ns["seek_x_ns"] + parts_ns["settle_ns"],
        parts_ns["seek_y_ns"] + parts_ns["turnaround_ns"],
    )
    max_error_ns = np.abs(parts_ns["positioning_ns"] - np.maximum(x_ns, y_ns)).max()
    return judge_definition(bool(max_error_ns == 0)).with_numbers(pairs=PAIRS, off=int(max_error_ns))


def h_22(_: Path) -> Judgment:
    """Settling after every move in x and no other; turnarounds in y."""
    parts_ns = _move_parts_ns()
    moves_in_x, settle_ns = parts_ns["seek_x_ns"] > 0, parts_ns["settle_ns"]
    settle_times_ns = np.unique(settle_ns[moves_in_x])
    turnaround_share = float((parts_ns["turnaround_ns"] > 0).mean())
    return judge_definition(len(settle_times_ns) == 1 and not settle_ns[~moves_in_x].any()).with_numbers(
        settle_ms=float(settle_times_ns[0]) / 1e6, moved=float(moves_in_x.mean()), turned=turnaround_share
    )


def h_23(_: Path) -> Judgment:
    """The printed turning point, and integration to the end."""
    errors = kinematic_errors()
    integration_error, published_error = errors["integrated seek"], errors["published seek"]
    return judge_criterion(integration_error <= NEAR and published_error <= NEAR).with_numbers(
        off=integration_error, printed=published_error
    )


def h_24(_: Path) -> Judgment:
    """The closed form against integration."""
    errors = kinematic_errors()
    relative_error, turnaround_error = errors["integrated seek"], errors["integrated turnaround"]
    error_ms = relative_error * errors["longest seek (ms)"]
    return judge_criterion(error_ms <= NEAR_MS).with_numbers(
        off=relative_error, turnaround=turnaround_error, off_ms=error_ms
    )


def h_25(_: Path) -> Judgment:
    """The piecewise form by its chunks."""
    errors_by_chunks = chunk_errors()
    converges = all(fine < coarse for coarse, fine in pairwise(errors_by_chunks.values()))
    table = number_table(
        "Largest relative error of the piecewise form, by pieces a phase",
        " | ".join(("pieces", *map(str, errors_by_chunks))),
        [["error, %", *(f"{100 * error:.2g}" for error in errors_by_chunks.values())]],
    )
    return (
        judge_criterion(converges)
        .with_numbers(coarse=max(errors_by_chunks.values()), fine=min(errors_by_chunks.values()))
        .with_tables(table)
    )
