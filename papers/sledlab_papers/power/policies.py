"""Claims on adaptive timeouts and on disks (Lin, section 3.2; Hong 2006, section 5.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..claims import Judgment, judge_criterion, judge_printed, judge_range
from ..runs import ExperimentRuns
from ..wording import format_rows, percent, span
from .plan import DISK, PowerRuns

SLED_EXPERIMENT = "lin-policies"
IMMEDIATE, NEVER, SHARE, ADAPTIVE, ORACLE = "immediate", "never", "share", "adaptive", "oracle"
WAITING = "fixed:timeout_ms=1000"
"""The timeout that the papers compare with."""

LEARNING_POLICIES = (SHARE, ADAPTIVE)

TOLERANCE = 0.15
"""Excess of the share algorithm over the best fixed timeout on a disk that is still allowed."""


def fixed_timeouts(experiment: ExperimentRuns) -> list[str]:
    """The fixed timeouts of an experiment, ascending, without the extremes."""
    return sorted(
        (v for v in experiment.axis_values if v.startswith("fixed")), key=lambda v: float(v.split("=")[1])
    )


def _seconds(policy: str) -> str:
    return f"{float(policy.split('=')[1]) / 1e3:g} s" if "=" in policy else policy


@dataclass(frozen=True)
class EnergyCurve:
    """Energy of a device at one speed-up, relative to that of parking at once."""

    best_timeout: str
    best_change: float
    never_parking_change: float
    share_excess: float

    @property
    def is_u_shaped(self) -> bool:
        """Whether a timeout between the extremes takes less energy than both."""
        return self.best_change < 0 and self.best_change < self.never_parking_change


def curve(experiment: ExperimentRuns, speedup: float) -> EnergyCurve:
    """The best fixed timeout compared with the extremes, and the share algorithm with the best of these."""
    changes = {
        name: experiment.change(name, IMMEDIATE, speedup, "energy_j") for name in experiment.axis_values
    }
    best_timeout = min(fixed_timeouts(experiment), key=lambda name: changes[name])
    min_change = min(changes[name] for name in (best_timeout, IMMEDIATE, NEVER))
    return EnergyCurve(
        best_timeout, changes[best_timeout], changes[NEVER], (1 + changes[SHARE]) / (1 + min_change) - 1
    )


def _disk_runs(runs: PowerRuns) -> dict[str, tuple[ExperimentRuns, list[float]]]:
    hplajw, snake = runs.experiment(DISK), runs.snake_disk_runs()
    return {"hplajw": (hplajw, hplajw.speedups), "Snake": (snake, snake.speedups)}


def h_67(runs: PowerRuns) -> Judgment:
    """Energy of a disk over its timeout."""
    details, shapes_by_name, ratios = [], {}, []
    for name, (experiment, speedups) in _disk_runs(runs).items():
        curves = {speedup: curve(experiment, speedup) for speedup in speedups}
        ratios += [1 + energy_curve.best_change for energy_curve in curves.values()]
        shapes_by_name[name] = {speedup: energy_curve.is_u_shaped for speedup, energy_curve in curves.items()}
        details.append(
            f"{name}: "
            + ", ".join(
                f"{_seconds(energy_curve.best_timeout)} takes {percent(energy_curve.best_change, 1)} %, "
                f"never parking {percent(energy_curve.never_parking_change, 1)} % at {speedup:g}"
                for speedup, energy_curve in curves.items()
            )
        )
    flat_speedups = [
        f"{speedup:g}" for speedup, is_u_shaped in shapes_by_name["Snake"].items() if not is_u_shaped
    ]
    no_u_text = (
        f" On Snake at {' and '.join(flat_speedups)} the curve is not U-shaped: idle periods between "
        "clusters are exponential there, and the time that one has lasted does not predict how long it will "
        "last."
        if flat_speedups
        else ""
    )
    are_u_shaped = [
        is_u_shaped for energy_curve in shapes_by_name.values() for is_u_shaped in energy_curve.values()
    ]
    judgment = judge_range(all(are_u_shaped), any(are_u_shaped)).with_values(ratios)
    return judgment.with_numbers(details=details, no_u=no_u_text)


def y_14(runs: PowerRuns) -> Judgment:
    """Every timeout of a disk between the extremes, against both."""
    changes = {
        (name, speedup): [
            experiment.change(timeout, extreme, speedup, "energy_j")
            for timeout in fixed_timeouts(experiment)
            for extreme in (IMMEDIATE, NEVER)
        ]
        for name, (experiment, speedups) in _disk_runs(runs).items()
        for speedup in speedups
    }
    are_u_shaped = [
        curve(experiment, speedup).is_u_shaped
        for experiment, speedups in _disk_runs(runs).values()
        for speedup in speedups
    ]
    ratios = [1 + max(each) for each in changes.values()]
    return judge_printed(ratios, direction_holds=any(are_u_shaped)).with_numbers(
        holding=sum(ratio < 1 for ratio in ratios),
        loads=len(ratios),
        u_shaped=sum(are_u_shaped),
        details=format_rows(
            "{1:+0%} on {0[0]} at {0[1]:g}", ((key, max(each)) for key, each in changes.items())
        ),
    )


def _sled_runs(runs: PowerRuns) -> dict[str, ExperimentRuns]:
    return {"Seagate": runs.seagate_runs(SLED_EXPERIMENT), "Snake": runs.experiment(SLED_EXPERIMENT)}


def _energy_changes(experiment: ExperimentRuns, policy: str) -> list[float]:
    """Energy of a policy relative to that of parking at once, at every speed-up."""
    return [experiment.change(policy, IMMEDIATE, speedup, "energy_j") for speedup in experiment.speedups]


def y_13(runs: PowerRuns) -> Judgment:
    """The share algorithm on sleds and on a disk."""
    changes_by_trace = {
        name: {policy: _energy_changes(experiment, policy) for policy in LEARNING_POLICIES}
        for name, experiment in _sled_runs(runs).items()
    }
    details = "; ".join(
        f"{name} {', '.join(f'{policy} {span(changes, 3)}' for policy, changes in changes_by_policy.items())}"
        for name, changes_by_policy in changes_by_trace.items()
    )
    gaps = [
        curve(experiment, speedup).share_excess
        for experiment, speedups in _disk_runs(runs).values()
        for speedup in speedups
    ]
    min_oracle_change = min(
        change for experiment in _sled_runs(runs).values() for change in _energy_changes(experiment, ORACLE)
    )
    never_saves = all(
        change >= 0
        for changes_by_policy in changes_by_trace.values()
        for changes in changes_by_policy.values()
        for change in changes
    )
    return judge_criterion(
        never_saves and max(gaps) <= TOLERANCE, never_saves or max(gaps) <= TOLERANCE
    ).with_numbers(details=details, gaps=gaps, maximum=100 * max(-min_oracle_change, 0.0))
