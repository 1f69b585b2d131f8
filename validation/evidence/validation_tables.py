"""Results of the validation that claims of the papers are judged by, as tables of their results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import polars
from sledlab_papers.results import ResultTable
from sledlab_papers.validation_results import KINEMATICS, SEAGATE, STATES, TIMEOUTS

from ..sections.agreement import BANDS
from ..sections.mechanics import KINEMATICS as SECTION
from ..sections.power import MAX_STATE_DEVIATION, seagate_trace, state_energies, timeout_runs


def kinematics_tables() -> list[ResultTable]:
    """Return the largest errors of the closed form of a seek, and of the piecewise form by its chunks."""
    kinematics = SECTION.load_or_measure()
    errors = {
        "integrated seek": kinematics.errors["seek"],
        "integrated turnaround": kinematics.errors["turnaround"],
        "published seek": kinematics.published["worst"],
        "longest seek (ms)": kinematics.seeks["longest_ms"],
    }
    at_rest = next(row for row in kinematics.convergence if row.speed_m_s == 0)
    chunks = zip(at_rest.chunks, at_rest.errors, strict=True)
    return [
        _table(KINEMATICS, "chunks", [{"chunks": count, "error": error} for count, error in chunks]),
        _table(KINEMATICS, "errors", [{"name": name, "value": value} for name, value in errors.items()]),
    ]


def power_tables() -> list[ResultTable]:
    """Return the statistics of the Seagate trace, and energies over idle timeouts."""
    rows = []
    for run in timeout_runs():
        energies = state_energies(run.name)
        energies_by_source = {"measured": energies.measured, "recorded": energies.recorded}
        rows.append(
            {
                "run": run.name,
                "timeout_ms": run.parameters["inactive_after_ms"],
                **{
                    f"{name}_{state}_j": joules
                    for name, state_energies_j in energies_by_source.items()
                    for state, joules in zip(STATES, state_energies_j, strict=True)
                },
                "max_total_deviation": BANDS["sweep"].energy,
                "max_state_deviation": MAX_STATE_DEVIATION,
            }
        )
    return [_table(SEAGATE, "statistics", [asdict(seagate_trace())]), _table(TIMEOUTS, "energies", rows)]


TABLES: Mapping[str, Callable[[], list[ResultTable]]] = {"device": kinematics_tables, "power": power_tables}
"""The results of the validation by topic."""


def fingerprint(tables: Iterable[ResultTable]) -> str:
    """Return the hash of some tables."""
    return hashlib.sha256("\0".join(table.csv for table in tables).encode()).hexdigest()[:12]


def _table(experiment: str, name: str, rows: list[dict[str, Any]]) -> ResultTable:
    return ResultTable(experiment, name, polars.DataFrame(rows).write_csv())
