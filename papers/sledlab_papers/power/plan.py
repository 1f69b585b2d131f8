"""The experiments on power, on generated requests and on a recorded trace."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import AJW_TRACE, SEAGATE_TRACE
from ..runs import ExperimentRuns, PlannedExperiment, Runs

DISK = "lin-mobile-disk"

GENERATED_EXPERIMENTS = (
    "hong2006-figure-10",
    "hong2006-idle-share",
    "hong2006-figure-12",
    "hong2006-metadata",
    "hong2006-delayed-spinup",
    "lin-figure-9",
    "lin-smarter-merging",
    "lin-subsector",
    "lin-small-requests",
    "lin-policies",
    DISK,
)

SNAKE, SEAGATE = "-snake", "-seagate"
"""Endings of the directories of runs on Snake and on Seagate."""

AJW = "-ajw"
"""Ending of the directory of runs on a trace recorded by HP."""

TIMEOUTS = "hong2006-figure-11"
TRACE_SPEEDUPS = "1,10,100"
"""Speed-ups of Snake and of the HP trace in the experiment on timeouts."""

SEAGATE_EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "hong2006-figure-10": ("--speedup", "1", "--seed", "1"),
    TIMEOUTS: (),
    "lin-figure-7": (),
    "lin-policies": ("--speedup", "1,5,10,20", "--seed", "1"),
}
"""Experiments on the Seagate trace, with their options."""

IDLE_POWERS = ("servo-loop", "sled-only", "full")
"""Readings of an idle sled's power: the model, the sled alone, or as much as while transferring."""

PLAN = (
    *map(PlannedExperiment, GENERATED_EXPERIMENTS),
    PlannedExperiment(
        DISK, ("--workload", "snake", "--speedup", "0.2,0.5,1,2"), SNAKE, f"`{DISK}`, on `snake`"
    ),
    PlannedExperiment(
        TIMEOUTS,
        ("--workload", "snake", "--speedup", TRACE_SPEEDUPS, "--seed", "1..5"),
        SNAKE,
        f"`{TIMEOUTS}`, on `snake`",
    ),
    PlannedExperiment(
        TIMEOUTS,
        ("--trace", str(AJW_TRACE), "--speedup", TRACE_SPEEDUPS),
        AJW,
        f"`{TIMEOUTS}`, on HP `ajw`",
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

    def timeout_runs(self) -> tuple[ExperimentRuns, float]:
        """Runs of the experiment on timeouts on the trace of the reading, and the speed-up of the trace."""
        trace, _, speedup = self.mark_value("trace").partition(" ")
        return self.experiment(f"{TIMEOUTS}-{trace or SEAGATE[1:]}"), float(speedup or 1)

    def seagate_runs(self, name: str) -> ExperimentRuns:
        """Runs of an experiment on the Seagate trace."""
        return self.experiment(f"{name}{SEAGATE}")
