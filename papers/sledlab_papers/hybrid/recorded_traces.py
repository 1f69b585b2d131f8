"""Recorded applications in the experiments of figures 4 and 6: no claim, but workloads of users."""

from __future__ import annotations

from ..markdown import table
from .baselines import LABELS
from .names import ALL, DISK, DISK_RAM, IREPORT, MEMS, MWB, NONE, PWRITE, SHORTCUT
from .systems import BASELINES, RECORDED_SPEEDUP, RECORDED_TRACES, RECORDED_WEEK, TECHNIQUES, HybridRuns

SYSTEMS = {
    **dict.fromkeys((DISK, MEMS, DISK_RAM, MWB), BASELINES),
    **dict.fromkeys((NONE, SHORTCUT, IREPORT, PWRITE, ALL), TECHNIQUES),
}
"""The systems compared, with the experiment of each."""


def means_table(runs: HybridRuns) -> str:
    """Mean responses by application."""
    rows = []
    for system, experiment in SYSTEMS.items():
        cells = []
        for trace in RECORDED_TRACES:
            row = runs.workload_runs(experiment, trace).rows[system, RECORDED_SPEEDUP][0]
            cells.append("overload" if row.saturated else f"{row.mean_ms:,.2f}")
        label = LABELS.get(system, f"MCD {system}" if experiment == TECHNIQUES else system)
        rows.append([label, *cells])
    return table(["mean response, ms", *RECORDED_TRACES], rows)


def week_table(runs: HybridRuns) -> str:
    """Mean responses by system on the week of a workstation, at its speed and faster."""
    week_runs = runs.experiment(RECORDED_WEEK)
    rows = []
    for system in week_runs.axis_values:
        cells = [
            "overload" if row.saturated else f"{row.mean_ms:,.2f}"
            for row in (week_runs.rows[system, speedup][0] for speedup in week_runs.speedups)
        ]
        rows.append([system, *cells])
    return table(["mean response, ms", *(f"speed-up {speedup:g}" for speedup in week_runs.speedups)], rows)
