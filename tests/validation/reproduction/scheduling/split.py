"""What it costs ZSPTF that even and odd columns are zones of their own."""

from __future__ import annotations

from .runs import Runs

GRIDS = ("40x4", "20x2", "10x1")
"""320, 80 and 20 zones."""

SHARED = ":parity=false"
RACE, DEPTH = "paper-000-saturation", 1000


def note(runs: Runs) -> str:
    """The explanation of what comes out otherwise with columns by parity, with its numbers."""
    parity = Runs(runs.directory)

    def measured(name: str, measure: str) -> float:
        return parity.parts(RACE, f"closed:{DEPTH}", name, measure)

    def each(rest: str, measure: str, form: str) -> str:
        return ", ".join(format(measured(f"zsptf:grid={grid}{rest}", measure), form) for grid in GRIDS)

    rates, turns = (
        [each(rest, measure, form) for rest in ("", SHARED)]
        for measure, form in (("throughput_iops", ",.0f"), ("turnaround_ms", ".3f"))
    )
    pyramids = [f"{measured(f'zsptf-pyramid{rest}', 'throughput_iops'):,.0f}" for rest in ("", SHARED)]
    return (
        "Columns by parity matter here. All requests of a zone are then read in one direction, and the "
        "sled has to turn twice to go back after a pass; what larger zones gain in choice they lose in "
        f"turnarounds. With {DEPTH:,} outstanding (cello), 40x4, 20x2 and 10x1 cells complete {rates[0]} "
        f"requests/s if even and odd columns are zones of their own, with {turns[0]} ms of turnarounds for "
        f"each, and {rates[1]} requests/s with {turns[1]} ms if they share zones; pyramiding {pyramids[0]} "
        f"and {pyramids[1]}."
    )
