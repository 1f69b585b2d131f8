"""Results of the validation that claims of the papers are judged by, as tables of their results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import polars
from sledlab_papers.results import ResultTable
from sledlab_papers.validated import KINEMATICS, SEAGATE, STATES, TIMEOUTS

from ..validation.agreement import BANDS
from ..validation.mechanics import KINEMATICS as SECTION
from ..validation.power import MAX_STATE_DEVIATION, seagate_trace, state_energies, timeout_runs


def kinematics() -> list[ResultTable]:
    """Return the largest errors of the closed form of a seek, and of the piecewise form by its chunks."""
    result = SECTION.load_or_measure()
    errors = {
        "integrated seek": result.errors["seek"],
        "integrated turnaround": result.errors["turnaround"],
        "published seek": result.published["worst"],
        "longest seek (ms)": result.seeks["longest_ms"],
    }
    at_rest = next(one for one in result.convergence if one.speed_m_s == 0)
    chunks = zip(at_rest.chunks, at_rest.errors, strict=True)
    return [
        _table(KINEMATICS, "chunks", [{"chunks": count, "error": error} for count, error in chunks]),
        _table(KINEMATICS, "errors", [{"name": name, "value": value} for name, value in errors.items()]),
    ]


def power() -> list[ResultTable]:
    """Return the statistics of the Seagate trace, and energies over idle timeouts."""
    rows = []
    for run in timeout_runs():
        result = state_energies(run.name)
        energies = {"measured": result.measured, "recorded": result.recorded}
        rows.append(
            {
                "run": run.name,
                "timeout_ms": run.parameters["inactive_after_ms"],
                **{
                    f"{name}_{state}_j": joules
                    for name, states in energies.items()
                    for state, joules in zip(STATES, states, strict=True)
                },
                "max_total_deviation": BANDS["sweep"].energy,
                "max_state_deviation": MAX_STATE_DEVIATION,
            }
        )
    return [_table(SEAGATE, "statistics", [asdict(seagate_trace())]), _table(TIMEOUTS, "energies", rows)]


TABLES: Mapping[str, Callable[[], list[ResultTable]]] = {"device": kinematics, "power": power}
"""The results of the validation by topic."""


def fingerprint(tables: Iterable[ResultTable]) -> str:
    """Return the hash of some tables."""
    return hashlib.sha256("\0".join(table.csv for table in tables).encode()).hexdigest()[:12]


def _table(experiment: str, name: str, rows: list[dict[str, Any]]) -> ResultTable:
    return ResultTable(experiment, name, polars.DataFrame(rows).write_csv())
