"""What it costs ZSPTF that even and odd columns are zones of their own."""

from __future__ import annotations

from .runs import Runs

GRIDS = {320: "40x4", 80: "20x2", 20: "10x1"}
DEPTH = 1000


def note(runs: Runs) -> str:
    """The explanation of what comes out otherwise with columns by parity, with its numbers."""
    race = Runs(runs.directory).race("paper-000-saturation", f"closed:{DEPTH}")

    def throughput(name: str) -> str:
        return f"{race.at(name, 1.0, 'throughput_iops'):,.0f}"

    def each(rest: str) -> str:
        return ", ".join(throughput(f"zsptf:grid={grid}{rest}") for grid in GRIDS.values())

    return (
        "Columns by parity decide it. All requests of a zone are then read in one direction, and the sled has to go back "
        "over the zone after each pass, the farther the higher the zone; what larger zones gain in choice they lose "
        f"in this. With {DEPTH:,} outstanding (cello), 40x4, 20x2 and 10x1 cells complete {each('')} requests/s if even and "
        f"odd columns are zones of their own, and {each(':parity=false')} if they share zones; pyramiding "
        f"{throughput('zsptf-pyramid')} and {throughput('zsptf-pyramid:parity=false')}."
    )
