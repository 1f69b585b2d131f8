"""Whether energy adds up, and the idle timeouts of the reference simulator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from ... import reference
from ...markdown import table
from ...reference import RecordedRun
from ...simulator import replay
from ...validation.agreement import BANDS
from ...words import percent, tiny
from .singles import snake

WITHIN = 0.01
"""Allowed relative difference of a run's energy from that of the reference simulator."""


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
    result = snake(device, *settings)
    each = result.requests.select(pl.sum("seek_uj", "access_uj", "startup_uj")).row(0)
    energy = result.energy
    return abs(float((sum(each) * 1e-6 + energy.idle + energy.inactive) / energy.total - 1))


@dataclass(frozen=True)
class States:
    """Energy in J by state, of a replay and of the record."""

    ours: tuple[float, ...]
    recorded: tuple[float, ...]

    @property
    def total(self) -> float:
        """Relative difference of our total from that of the record."""
        return sum(self.ours) / sum(self.recorded) - 1


@cache
def states(name: str) -> States:
    """Servicing, start-up, idle and inactive energy; the record's with its uncharged idle energy."""
    run = reference.runs()[name]
    result = replay(
        run.trace, f"mems-{run.device.lower()}-disksim", scheduler=str(run.scheduler), **run.changes
    )
    energy, row = result.energy, run.row
    ours = (energy.seek + energy.access, energy.startup, energy.idle, energy.inactive)
    charged = tuple(float(row[f"{name}_energy_j"]) for name in ("servicing", "startup", "idle", "inactive"))
    servicing, startup, idle, inactive = charged
    return States(ours, (servicing, startup, idle + run.energy_j - run.charged_energy_j, inactive))


def sweep() -> list[RecordedRun]:
    """The reference runs over idle timeouts."""
    found = [run for run in reference.runs().values() if run.family == "sweep"]
    return sorted(found, key=lambda run: (run.device, run.row["trace"], run.parameters["inactive_after_ms"]))


def places() -> dict[str, str]:
    """Relative errors of sums, and a row for each reference run over idle timeouts."""
    rows = []
    for run in sweep():
        found = states(run.name)
        rows.append(
            [
                f"`{run.name}`",
                f"{run.parameters['inactive_after_ms']:g}",
                f"{sum(found.recorded):.4f}",
                percent(found.total, 4),
                *(_off(mine, theirs) for mine, theirs in zip(found.ours, found.recorded, strict=True)),
            ]
        )
    worst = max(abs(states(run.name).total) for run in sweep())
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
        "sums_worst": tiny(max(request_sums(device, *settings) for device, settings in RUNS)),
        "timeouts": table(head, rows),
        "timeouts_worst": tiny(100 * worst),
        "within": f"{100 * WITHIN:g}",
        "held_to": f"{100 * (BANDS['sweep'].energy or 0):g}",
    }


def _off(mine: float, theirs: float) -> str:
    return percent(mine / theirs - 1, 3) if theirs else ("none" if mine == 0 else f"{mine:.2g} J")
