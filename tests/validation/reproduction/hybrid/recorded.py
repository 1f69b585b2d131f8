"""Recorded applications through the experiments of figures 4 and 6: no claim, but what users have."""

from __future__ import annotations

from ...markdown import table
from .baselines import LABELS
from .runs import (
    ALL,
    BASELINES,
    DISK,
    DISK_RAM,
    IREPORT,
    MEMS,
    MWB,
    NONE,
    PWRITE,
    RECORDED,
    RECORDED_SPEED,
    SHORTCUT,
    TECHNIQUES,
    Runs,
)

SYSTEMS = {
    **dict.fromkeys((DISK, MEMS, DISK_RAM, MWB), BASELINES),
    **dict.fromkeys((NONE, SHORTCUT, IREPORT, PWRITE, ALL), TECHNIQUES),
}
"""What is compared, and in which experiment."""

TEXT = """\
## Recorded applications

The traces in `sample/traces`, four times as slow as they were recorded, for at their own speed most would
overload a single disk. Segments are the least power of two that holds a mean request. These applications have
caches of their own, send their writes in bursts, and flush them.

{means}"""


def means(runs: Runs) -> str:
    """Mean responses by application."""
    rows = []
    for system, experiment in SYSTEMS.items():
        cells = []
        for trace in RECORDED:
            row = runs.points(experiment, trace).rows[system, RECORDED_SPEED][0]
            cells.append("overload" if row["saturated"] else f"{row['mean_ms']:,.2f}")
        label = LABELS.get(system, f"MCD {system}" if experiment == TECHNIQUES else system)
        rows.append([label, *cells])
    return TEXT.format(means=table(["mean response, ms", *RECORDED], rows))
