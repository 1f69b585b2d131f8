"""Results of the validation of sledlab that claims are judged by.

They come from tests of the Rust crates and from reference data that is not public. `validation.evidence`
saves them with the results, so that claims can be judged without either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import results

KINEMATICS = "kinematics"
"""Tables `errors` (of the closed form of a seek) and `chunks` (errors of the piecewise form, at rest)."""

SEAGATE = "seagate-trace"
"""Table `statistics`: the trace, and its replay on a second-generation sled that never parks."""

TIMEOUTS = "disksim-timeouts"
"""Table `energies`: runs of DiskSim over idle timeouts, and the same runs on sledlab."""

STATES = ("servicing", "startup", "idle", "inactive")


@dataclass(frozen=True)
class TimeoutRun:
    """A run of the reference simulator with an idle timeout: energy in J by state.

    Attributes:
        run: Name of the run.
        timeout_ms: The idle timeout.
        our_energies_j: Energies of the replay on sledlab, in the order of `STATES`.
        reference_energies_j: Energies of the reference simulator, including uncharged idle energy.
        max_total_deviation: Relative deviation of the total that the validation of sledlab allows.
        max_state_deviation: Relative deviation of the energy of a state that it allows.
    """

    run: str
    timeout_ms: float
    our_energies_j: tuple[float, ...]
    reference_energies_j: tuple[float, ...]
    max_total_deviation: float
    max_state_deviation: float

    @property
    def total_deviation(self) -> float:
        """Relative difference of the measured total from the recorded one."""
        return sum(self.our_energies_j) / sum(self.reference_energies_j) - 1

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> TimeoutRun:
        """Return the run in a row of the table."""
        return cls(
            row["run"],
            row["timeout_ms"],
            tuple(row[f"measured_{state}_j"] for state in STATES),
            tuple(row[f"recorded_{state}_j"] for state in STATES),
            row["max_total_deviation"],
            row["max_state_deviation"],
        )


def kinematic_errors() -> dict[str, float]:
    """Return the largest errors of the closed form of a seek, by what it is compared with."""
    return {row["name"]: row["value"] for row in results.rows(KINEMATICS, "errors")}


def chunk_errors() -> dict[int, float]:
    """Return the largest relative errors of the piecewise form of a seek, by its number of chunks."""
    return {row["chunks"]: row["error"] for row in results.rows(KINEMATICS, "chunks")}


def seagate_trace() -> dict[str, float]:
    """Return the statistics of the Seagate trace."""
    (row,) = results.rows(SEAGATE, "statistics")
    return row


def timeout_runs() -> list[TimeoutRun]:
    """Return the runs over idle timeouts."""
    return [TimeoutRun.from_row(row) for row in results.rows(TIMEOUTS, "energies")]
