"""Stand-ins for traces that are not public, compared with the numbers published of those traces.

A stand-in is a workload generator with a list of targets. It must meet published numbers of a trace within
3 %, and published results of simulations of the trace within the tolerance of the target. Parameters that
nothing was published about are reported as choices.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.catalog import workload
from sledlab.model.device import describe
from sledlab.studies.calibration.statistics import RUNS, STATISTICS, TARGETED_STATISTICS
from sledlab.studies.calibration.targets import AJW, CALIBRATIONS, TOLERANCE, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.studies.calibration.statistics import Statistic
    from sledlab.studies.calibration.targets import Calibration

__all__ = [
    "AJW",
    "CALIBRATIONS",
    "RUNS",
    "STATISTICS",
    "TARGETED_STATISTICS",
    "TOLERANCE",
    "CalibrationResult",
    "StatisticRow",
    "Target",
    "calibrate",
]

DEVICE = "mems-g2"
"""The device whose capacity the workloads are characterized for; all of them fit on it."""

OPEN_PREFIX = "Open: "
"""Beginning of the meaning of a parameter that is a choice."""

Verdict = Literal["pass", "fitted", "fail", "choice", "not fitted", ""]


@dataclass(frozen=True)
class StatisticRow:
    """One statistic of a stand-in.

    Attributes:
        statistic: The statistic.
        achieved: The value of the stand-in; None where it has no request of a kind.
        target: The value that it should have; None where there is no target.
    """

    statistic: Statistic
    achieved: float | None
    target: Target | None

    @property
    def deviation(self) -> float | None:
        """Relative deviation from the target; None without both, or if it is only a least or most value."""
        if self.achieved is None or self.target is None or self.target.kind in ("least", "most"):
            return None
        return self.achieved / self.target.value - 1

    @property
    def verdict(self) -> Verdict:
        """`pass`, `fitted` or `fail` for published targets, `choice`, `not fitted`; empty without one."""
        if self.target is None:
            return ""
        if self.target.kind == "choice":
            return "choice"
        if self.target.kind == "unfitted":
            return "not fitted"
        if self.achieved is None:
            is_met = False
        elif self.deviation is not None:
            is_met = abs(self.deviation) <= self.target.tolerance
        elif self.target.kind == "least":
            is_met = self.achieved >= self.target.value
        else:
            is_met = self.achieved <= self.target.value
        return "fail" if not is_met else "fitted" if self.target.fitted else "pass"

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "statistic": self.statistic.name,
            "unit": self.statistic.unit,
            "target": self.target and self.target.value,
            "achieved": self.achieved,
            "deviation": self.deviation,
            "verdict": self.verdict,
            "source": self.target.source if self.target else "",
        }


@dataclass(frozen=True)
class CalibrationResult:
    """The outcome of a calibration.

    Attributes:
        name: Name of the stand-in.
        seed: The root of its random numbers.
        rows: All statistics.
        choices: Parameters of the generator that are choices, with their values.
    """

    name: str
    seed: int
    rows: tuple[StatisticRow, ...]
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether all published targets are met."""
        return all(row.verdict != "fail" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as plain data; the verdict of a statistic without a target is empty."""
        return {
            "name": self.name,
            "seed": self.seed,
            "passes": self.passes,
            "rows": [row.to_dict() for row in self.rows],
            "choices": dict(self.choices),
        }


def calibration(name: str) -> Calibration:
    """The stand-in called `name`.

    Raises:
        Error: No stand-in has the name.
    """
    stand_in = CALIBRATIONS.get(name)
    if stand_in is None:
        raise Error(f"unknown stand-in `{name}`", remedy=f"choose one of {', '.join(CALIBRATIONS)}")
    return stand_in


def choices(name: str) -> dict[str, Any]:
    """The parameters of a generator about which nothing was published, with their defaults."""
    specs = workload.show(name).parameters
    return {spec.name: spec.default for spec in specs if spec.meaning.startswith(OPEN_PREFIX)}


def calibrate(name: str, seed: int = 1) -> CalibrationResult:
    """Generate a stand-in and compare its statistics with published numbers.

    Args:
        name: A key of `CALIBRATIONS`.
        seed: The root of all random numbers.

    Raises:
        Error: No stand-in has the name.

    Examples:
        >>> calibrate("cello").passes
        True
    """
    stand_in = calibration(name)
    parameters_toml = "\n".join(f"{key} = {value}" for key, value in stand_in.parameters.items())
    capacity = describe(_native.Experiment().with_device(DEVICE))["capacity_blocks"]
    source = _native.Source.generate(stand_in.workload, parameters_toml, seed, capacity)
    report = json.loads(_native.characterize(source))
    report["runs"] = {
        run: RUNS[run].run(stand_in.workload, stand_in.parameters, seed) for run in stand_in.runs
    }
    targeted = {key: statistic for key, statistic in TARGETED_STATISTICS.items() if key in stand_in.targets}
    rows = tuple(
        StatisticRow(statistic, None if value is None else float(value), stand_in.targets.get(key))
        for key, statistic in {**STATISTICS, **targeted}.items()
        for value in (statistic.compute(report),)
    )
    return CalibrationResult(name, seed, rows, choices(stand_in.workload))
