"""The experiments on power, on generated requests and on a recorded trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..paths import SEAGATE_TRACE
from ..runs import ExperimentRuns, PlannedExperiment, Runs
from ..simulator import experiment

DISK = "lin-mobile-disk"

GENERATED_EXPERIMENTS = (
    "hong2006-figure-10",
    "hong2006-figure-12",
    "hong2006-metadata",
    "hong2006-small-requests",
    "hong2006-delayed-spinup",
    "lin-figure-2",
    "lin-figure-9",
    "lin-smarter-merging",
    "lin-subsector",
    "lin-small-requests",
    "lin-policies",
    DISK,
)

SNAKE, SEAGATE = "-snake", "-seagate"
"""Endings of the directories of runs on Snake and on Seagate."""

CLOSED = ("--set", "replay.mode=gaps")
"""Options of a replay in which the next request comes the recorded gap after the last one completes."""

SEAGATE_EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "hong2006-figure-10": ("--speedup", "1", "--seed", "1", *CLOSED),
    "hong2006-figure-11": (),
    "lin-figure-2": ("--speedup", "1", "--seed", "1", *CLOSED),
    "lin-figure-4": (),
    "lin-figure-7": (),
    "lin-policies": ("--speedup", "1,5,10,20,30", "--seed", "1", *CLOSED),
}
"""Experiments on the Seagate trace, with their options."""

IDLE_POWERS = ("servo-loop", "sled-only", "full")
"""Readings of an idle sled's power: the model, the sled alone, or as much as while transferring."""


def snake_settings() -> dict[str, Any]:
    """The parameters of the stand-in for Snake, which all experiments share, by key."""
    workload = experiment("lin-subsector")["workload"]
    return {f"workload.{key}": value for key, value in workload.items() if key != "kind"}


SNAKE_OPTIONS = tuple(
    word for item in snake_settings().items() for word in ("--set", "{}={:g}".format(*item))
)

PLAN = (
    *map(PlannedExperiment, GENERATED_EXPERIMENTS),
    PlannedExperiment(
        DISK,
        ("--workload", "snake", *SNAKE_OPTIONS, "--speedup", "0.2,0.5,1,2"),
        SNAKE,
        f"`{DISK}`, on `snake`",
    ),
    *(
        PlannedExperiment(
            name,
            ("--trace", str(SEAGATE_TRACE), *options),
            SEAGATE,
            f"`{name}`, on `Seagate`",
        )
        for name, options in SEAGATE_EXPERIMENTS.items()
    ),
)


@dataclass(frozen=True)
class PowerRuns(Runs):
    """The experiments on power in a directory."""

    @property
    def idle_power(self) -> str:
        """The reading of an idle sled's power, by its name in experiments."""
        return self.mark_value("idle") or IDLE_POWERS[0]

    def snake_disk_runs(self) -> ExperimentRuns:
        """Runs of the disk on the stand-in for Snake."""
        return self.experiment(f"{DISK}{SNAKE}")

    def seagate_runs(self, name: str) -> ExperimentRuns:
        """Runs of an experiment on the Seagate trace."""
        return self.experiment(f"{name}{SEAGATE}")
