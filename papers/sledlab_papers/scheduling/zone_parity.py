"""The loss of ZSPTF from even and odd columns being zones of their own."""

from __future__ import annotations

from ..wording import format_rows
from .plan import SchedulingRuns

GRIDS = ("40x4", "20x2", "10x1")
"""Grids of 320, 80 and 20 zones."""

SHARED_ZONES = ":parity=false"
EXPERIMENT, DEPTH = "hong2006-saturation", 1000


def parity_explanation(runs: SchedulingRuns) -> str:
    """The explanation of results that differ with columns by parity, with its numbers."""

    def grid_values(suffix: str, measure: str, number_format: str) -> str:
        schedulers = (f"zsptf:grid={grid}{suffix}" for grid in GRIDS)
        return format_rows(
            f"{{:{number_format}}}", (run_mean(scheduler, measure) for scheduler in schedulers)
        )

    def run_mean(scheduler: str, measure: str) -> float:
        return runs.mean_of_runs(EXPERIMENT, f"closed:{DEPTH}", scheduler, measure)

    rates, turnarounds_ms = (
        [grid_values(suffix, measure, number_format) for suffix in ("", SHARED_ZONES)]
        for measure, number_format in (("throughput_iops", ",.0f"), ("turnaround_ms", ".3f"))
    )
    pyramid_rates = [
        f"{run_mean(f'zsptf-pyramid{suffix}', 'throughput_iops'):,.0f}" for suffix in ("", SHARED_ZONES)
    ]
    return (
        "Columns by parity matter here. All requests of a zone are then read in one direction, and the sled "
        "has to turn twice to go back after a pass; what larger zones gain in choice they lose in "
        f"turnarounds. With {DEPTH:,} outstanding (cello), 40x4, 20x2 and 10x1 cells complete {rates[0]} "
        f"requests/s if even and odd columns are zones of their own, with {turnarounds_ms[0]} ms of "
        f"turnarounds for each, and {rates[1]} requests/s with {turnarounds_ms[1]} ms if they share zones; "
        f"pyramiding {pyramid_rates[0]} and {pyramid_rates[1]}."
    )
