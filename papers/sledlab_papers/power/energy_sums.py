"""Whether energy adds up, and the energies of the reference simulator over idle timeouts."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..markdown import table
from ..validation_results import timeout_runs
from ..wording import format_small, percent
from .singles import simulate_snake

RUNS: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = (
    ("mems-g2", (("power.kind", "immediate"),)),
    ("mems-g2", (("power.kind", "fixed:timeout_ms=1000"),)),
    ("mems-g3", (("power.kind", "share"), ("merge.kind", "chains"))),
    (
        "mems-g3",
        (
            ("power.kind", "delayed-spinup"),
            ("replay.last_block", "random"),
            ("device.subsector_access", True),
        ),
    ),
    ("mobile-disk", (("power.kind", "adaptive"),)),
)
"""Devices and settings of the runs whose sums are on the page."""


def request_sums(device: str, *settings: tuple[str, Any]) -> float:
    """Relative difference of the summed energies of requests, idling and parking from the total.

    The total comes from the times of the states; the energies of requests are summed up one by one.
    """
    result = simulate_snake(device, *settings)
    energies_uj = result.requests.select(pl.sum("seek_uj", "access_uj", "startup_uj")).row(0)
    energy = result.energy
    return abs(float((sum(energies_uj) * 1e-6 + energy.idle + energy.inactive) / energy.total - 1))


def page_texts() -> dict[str, str]:
    """Relative errors of sums, and a row for each reference run over idle timeouts."""
    runs = timeout_runs()
    rows = [
        [
            f"`{run.run}`",
            f"{run.timeout_ms:g}",
            f"{sum(run.reference_energies_j):.4f}",
            percent(run.total_deviation, 4),
            *(
                _deviation_text(ours_j, reference_j)
                for ours_j, reference_j in zip(run.our_energies_j, run.reference_energies_j, strict=True)
            ),
        ]
        for run in runs
    ]
    worst = max(abs(run.total_deviation) for run in runs)
    head = [
        "run",
        "timeout, ms",
        "recorded, J",
        "total, %",
        "servicing, %",
        "start-up, %",
        "idle, %",
        "inactive, %",
    ]
    return {
        "sums_runs": str(len(RUNS)),
        "sums_worst": format_small(max(request_sums(device, *settings) for device, settings in RUNS)),
        "timeouts": table(head, rows),
        "timeouts_worst": format_small(100 * worst),
        "within": f"{100 * runs[0].max_state_deviation:g}",
        "tolerance": f"{100 * runs[0].max_total_deviation:g}",
    }


def _deviation_text(ours_j: float, reference_j: float) -> str:
    return (
        percent(ours_j / reference_j - 1, 3)
        if reference_j
        else ("none" if ours_j == 0 else f"{ours_j:.2g} J")
    )
