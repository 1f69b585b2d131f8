"""Claims on adaptive timeouts and on disks (Lin, section 3.2; Hong 2006, section 5.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..claims import Judgment, judge_criterion, judge_printed, judge_range
from ..runs import ExperimentRuns
from ..wording import cells, number_table, span
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
    worst_excess: float
    """Excess of the worst fixed timeout over the better extreme."""

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
        best_timeout,
        changes[best_timeout],
        changes[NEVER],
        (1 + changes[SHARE]) / (1 + min_change) - 1,
        max(
            experiment.change(timeout, extreme, speedup, "energy_j")
            for timeout in fixed_timeouts(experiment)
            for extreme in (IMMEDIATE, NEVER)
        ),
    )


def _disk_curves(runs: PowerRuns) -> dict[tuple[str, float], EnergyCurve]:
    """The energy of a disk by workload and speed-up."""
    return {
        (name, speedup): curve(experiment, speedup)
        for name, experiment in (("hplajw", runs.experiment(DISK)), ("Snake", runs.snake_disk_runs()))
        for speedup in experiment.speedups
    }


def _with_disk_numbers(judgment: Judgment, curves: Mapping[tuple[str, float], EnergyCurve]) -> Judgment:
    """The judgment, with the energy of a disk with the best timeout, without parking and with the worst."""
    table = number_table(
        "Energy of `mobile-disk`, %: against parking at once; worst timeout against the better extreme",
        "workload | speed | best timeout | it takes | never parking | worst timeout",
        (
            cells(
                "{} | {:g} | {} | {:+%1} | {:+%1} | {:+%0}",
                *load,
                _seconds(each.best_timeout),
                each.best_change,
                each.never_parking_change,
                each.worst_excess,
            )
            for load, each in curves.items()
        ),
    )
    return judgment.with_tables(table).with_numbers(
        loads=len(curves),
        holding=sum(each.worst_excess < 0 for each in curves.values()),
        u_shaped=sum(each.is_u_shaped for each in curves.values()),
    )


def h_67(runs: PowerRuns) -> Judgment:
    """Energy of a disk over its timeout."""
    curves = _disk_curves(runs)
    are_u_shaped = [each.is_u_shaped for each in curves.values()]
    return _with_disk_numbers(judge_range(all(are_u_shaped), any(are_u_shaped)), curves)


def y_14(runs: PowerRuns) -> Judgment:
    """Every timeout of a disk between the extremes, against both."""
    curves = _disk_curves(runs)
    judgment = judge_printed(
        [1 + each.worst_excess for each in curves.values()],
        direction_holds=any(each.is_u_shaped for each in curves.values()),
    )
    return _with_disk_numbers(judgment, curves)


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
    gaps = [each.share_excess for each in _disk_curves(runs).values()]
    min_oracle_change = min(
        change for experiment in _sled_runs(runs).values() for change in _energy_changes(experiment, ORACLE)
    )
    least_change = min(
        change
        for changes_by_policy in changes_by_trace.values()
        for changes in changes_by_policy.values()
        for change in changes
    )
    never_saves = least_change >= 0
    judgment = judge_criterion(never_saves and max(gaps) <= TOLERANCE, never_saves or max(gaps) <= TOLERANCE)
    table = number_table(
        "Energy on G2 against parking at once, over all speeds",
        " | ".join(("policy", *changes_by_trace)),
        (
            [policy, *(span(changes[policy], 3) for changes in changes_by_trace.values())]
            for policy in LEARNING_POLICIES
        ),
    )
    return judgment.with_tables(table).with_numbers(
        least=least_change, gaps=gaps, maximum=100 * max(-min_oracle_change, 0.0)
    )
