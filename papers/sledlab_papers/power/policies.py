"""Claims on adaptive timeouts and on disks (Lin, section 3.2; Hong 2006, section 5.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..claims import Judgment, judge_criterion, judge_range
from ..runs import ExperimentRuns
from ..wording import cells, majority_above, number_table
from .plan import DISK, PowerRuns

SLED_EXPERIMENT = "lin-policies"
IMMEDIATE, NEVER, SHARE, ADAPTIVE, ORACLE = "immediate", "never", "share", "adaptive", "oracle"
WAITING = "fixed:timeout_ms=1000"
"""The timeout that the papers compare with."""

LEARNING_POLICIES = (SHARE, ADAPTIVE)

PUBLISHED_SPEEDS = {"Seagate": (1.0,), "Snake": (10.0, 100.0)}
"""Speeds of the traces in Lin: that of figure 4, and those of the table in section 5.3."""


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
    share_change: float
    adaptive_change: float
    fixed_changes: Mapping[str, float]
    """Change of energy with each fixed timeout, ascending; the first is parking at once."""
    always_takes_more: bool
    """Whether every fixed timeout takes more than parking at once."""

    @property
    def u_shape_ends(self) -> list[str]:
        """The fixed timeouts that, like parking at once, take more than every timeout between."""
        timeouts, changes = list(self.fixed_changes), list(self.fixed_changes.values())
        return [
            timeouts[end]
            for end in range(2, len(timeouts))
            if max(changes[1:end]) < min(changes[0], changes[end])
        ]

    @property
    def is_u_shaped(self) -> bool:
        """Whether a timeout between the extremes takes less energy than both."""
        return self.best_change < 0 and self.best_change < self.never_parking_change


def curve(experiment: ExperimentRuns, speedup: float) -> EnergyCurve:
    """The policies and the best fixed timeout, compared with parking at once."""
    changes = {
        name: experiment.change(name, IMMEDIATE, speedup, "energy_j") for name in experiment.axis_values
    }
    best_timeout = min(fixed_timeouts(experiment), key=lambda name: changes[name])
    return EnergyCurve(
        best_timeout,
        changes[best_timeout],
        changes[NEVER],
        changes[SHARE],
        changes[ADAPTIVE],
        {timeout: changes[timeout] for timeout in (IMMEDIATE, *fixed_timeouts(experiment))},
        changes[best_timeout] > 0,
    )


def _disk_curves(runs: PowerRuns) -> dict[tuple[str, float], EnergyCurve]:
    """The energy of a disk by workload and speed-up."""
    return {
        (name, speedup): curve(experiment, speedup)
        for name, experiment in (("hplajw", runs.experiment(DISK)), ("Snake", runs.snake_disk_runs()))
        for speedup in experiment.speedups
    }


def y_14(runs: PowerRuns) -> Judgment:
    """Every fixed timeout of a disk between parking at once and a longest one, whose length is open."""
    curves = _disk_curves(runs)
    timeouts = fixed_timeouts(runs.experiment(DISK))
    ends_by_load = {load: each.u_shape_ends for load, each in curves.items()}
    judgment = judge_range(
        all(ends == timeouts[1:] for ends in ends_by_load.values()),  # one timeout at least is between
        any(ends_by_load.values()),
        direction_holds=majority_above(float(each.is_u_shaped) for each in curves.values()),
    )
    table = number_table(
        "Energy of `mobile-disk`, %: against parking at once; longest timeouts up to which the claim holds",
        "workload | speed | best timeout | it takes | never parking | holds up to",
        (
            cells(
                "{} | {:g} | {} | {:+%1} | {:+%1} | {}",
                *load,
                _seconds(each.best_timeout),
                each.best_change,
                each.never_parking_change,
                ", ".join(map(_seconds, ends_by_load[load])) or "none",
            )
            for load, each in curves.items()
        ),
    )
    return judgment.with_tables(table).with_numbers(
        loads=len(curves),
        holding=sum(map(bool, ends_by_load.values())),
        above=sum(each.always_takes_more for each in curves.values()),
        shortest=_seconds(timeouts[0]),
    )


def _sled_runs(runs: PowerRuns) -> dict[str, ExperimentRuns]:
    return {"Seagate": runs.seagate_runs(SLED_EXPERIMENT), "Snake": runs.experiment(SLED_EXPERIMENT)}


def y_13(runs: PowerRuns) -> Judgment:
    """Learning policies against parking at once, on sleds and on a disk."""
    changes_by_load = {
        (name, speedup): {
            policy: experiment.change(policy, IMMEDIATE, speedup, "energy_j")
            for policy in (*LEARNING_POLICIES, ORACLE)
        }
        for name, experiment in _sled_runs(runs).items()
        for speedup in experiment.speedups
    }
    learning_changes = {
        (*load, policy): changes[policy]
        for load, changes in changes_by_load.items()
        for policy in LEARNING_POLICIES
    }
    least_change = min(
        change for (name, speedup, _), change in learning_changes.items() if speedup in PUBLISHED_SPEEDS[name]
    )
    best_run = min(learning_changes, key=learning_changes.__getitem__)
    curves = _disk_curves(runs).values()
    saving_speeds = sum(min(each.share_change, each.adaptive_change) < 0 for each in curves)
    judgment = judge_criterion(least_change >= 0 and saving_speeds > 0, saving_speeds > 0)
    table = number_table(
        "Energy on G2 against parking at once, %, by trace and speed",
        " | ".join(("trace | speed", *LEARNING_POLICIES, ORACLE)),
        (
            cells("{0} | {1:g} | {2:+%3} | {3:+%3} | {4:+%3}", *load, *changes.values())
            for load, changes in changes_by_load.items()
        ),
    )
    return judgment.with_tables(table).with_numbers(
        least=least_change,
        saving=saving_speeds,
        loads=len(curves),
        best=best_run,
        best_change=learning_changes[best_run],
    )
