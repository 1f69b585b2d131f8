"""Claims on adaptive timeouts and on disks (Lin, section 3.2; Hong 2006, section 5.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..claims import Judgment, judge_criterion, judge_range
from ..runs import ExperimentRuns
from ..wording import percent, span
from .plan import DISK, PowerRuns

SLED_EXPERIMENT = "lin-policies"
IMMEDIATE, NEVER, SHARE, ADAPTIVE, ORACLE = "immediate", "never", "share", "adaptive", "oracle"
LEARNING_POLICIES = (SHARE, ADAPTIVE)

TOLERANCE = 0.15
"""Excess of the share algorithm over the best fixed timeout on a disk that is still allowed."""


def fixed_timeouts(points: ExperimentRuns) -> list[str]:
    """The fixed timeouts of an experiment, ascending, without the extremes."""
    return sorted(
        (v for v in points.axis_values if v.startswith("fixed")), key=lambda v: float(v.split("=")[1])
    )


def _seconds(policy: str) -> str:
    return f"{float(policy.split('=')[1]) / 1e3:g} s" if "=" in policy else policy


@dataclass(frozen=True)
class EnergyCurve:
    """Energy of a device at one speed-up, relative to that of parking at once."""

    best: str
    best_change: float
    never_parking_change: float
    share_to_best: float

    @property
    def is_u_shaped(self) -> bool:
        """Whether a timeout between the extremes takes less energy than both."""
        return self.best_change < 0 and self.best_change < self.never_parking_change


def curve(points: ExperimentRuns, speedup: float) -> EnergyCurve:
    """The best fixed timeout compared with the extremes, and the share algorithm with the best of these."""
    changes = {name: points.change(name, IMMEDIATE, speedup, "energy_j") for name in points.axis_values}
    best = min(fixed_timeouts(points), key=lambda name: changes[name])
    minimum = min(changes[name] for name in (best, IMMEDIATE, NEVER))
    return EnergyCurve(best, changes[best], changes[NEVER], (1 + changes[SHARE]) / (1 + minimum) - 1)


def _disk_runs(runs: PowerRuns) -> dict[str, tuple[ExperimentRuns, list[float]]]:
    bursts, snake = runs.experiment(DISK), runs.snake_disk_runs()
    return {"hplajw": (bursts, bursts.speedups), "Snake": (snake, snake.speedups)}


def h_67(runs: PowerRuns) -> Judgment:
    """Energy of a disk over its timeout."""
    details, shaped, ratios = [], {}, []
    for name, (points, speedups) in _disk_runs(runs).items():
        curves = {speedup: curve(points, speedup) for speedup in speedups}
        ratios += [1 + measured.best_change for measured in curves.values()]
        shaped[name] = {speedup: measured.is_u_shaped for speedup, measured in curves.items()}
        details.append(
            f"{name}: "
            + ", ".join(
                f"{_seconds(measured.best)} takes {percent(measured.best_change, 1)} %, never parking "
                f"{percent(measured.never_parking_change, 1)} % at {speedup:g}"
                for speedup, measured in curves.items()
            )
        )
    flat = [f"{speedup:g}" for speedup, shape in shaped["Snake"].items() if not shape]
    no_u = (
        f" On Snake at {' and '.join(flat)} it is no U: rests between clusters are exponential there, and "
        "how long one has lasted says nothing about how long it will."
        if flat
        else ""
    )
    shapes = [shape for measured in shaped.values() for shape in measured.values()]
    judged = judge_range(all(shapes), any(shapes)).with_values(ratios)
    return judged.with_numbers(details=details, no_u=no_u)


def _sled_runs(runs: PowerRuns) -> dict[str, ExperimentRuns]:
    return {"Seagate": runs.seagate_runs(SLED_EXPERIMENT), "Snake": runs.experiment(SLED_EXPERIMENT)}


def _energy_changes(points: ExperimentRuns, policy: str) -> list[float]:
    """Energy of a policy relative to that of parking at once, at every speed-up."""
    return [points.change(policy, IMMEDIATE, speedup, "energy_j") for speedup in points.speedups]


def y_13(runs: PowerRuns) -> Judgment:
    """The share algorithm on sleds and on a disk."""
    sleds = {
        name: {policy: _energy_changes(points, policy) for policy in LEARNING_POLICIES}
        for name, points in _sled_runs(runs).items()
    }
    details = "; ".join(
        f"{name} {', '.join(f'{policy} {span(changes, 3)}' for policy, changes in measured.items())}"
        for name, measured in sleds.items()
    )
    gaps = [
        curve(points, speedup).share_to_best
        for points, speedups in _disk_runs(runs).values()
        for speedup in speedups
    ]
    oracle = min(change for points in _sled_runs(runs).values() for change in _energy_changes(points, ORACLE))
    above = all(
        change >= 0 for measured in sleds.values() for changes in measured.values() for change in changes
    )
    return judge_criterion(above and max(gaps) <= TOLERANCE, above or max(gaps) <= TOLERANCE).with_numbers(
        details=details, gaps=gaps, maximum=100 * max(-oracle, 0.0)
    )
