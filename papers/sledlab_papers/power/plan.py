"""The experiments on power, on generated requests and on a recorded trace."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import SEAGATE_TRACE
from ..runs import Planned, Points, Runs

DISK = "paper-003-mobile-disk"

GENERATED = (
    "paper-000-figure-10",
    "paper-000-idle-share",
    "paper-000-figure-12",
    "paper-000-metadata",
    "paper-000-delayed-spinup",
    "paper-003-figure-9",
    "paper-003-smarter-merging",
    "paper-003-subsector",
    "paper-003-small-requests",
    "paper-003-policies",
    DISK,
)

SNAKE, SEAGATE = "-snake", "-seagate"
"""Endings of the directories of runs on Snake and on Seagate."""

ON_SEAGATE: dict[str, tuple[str, ...]] = {
    "paper-000-figure-10": ("--speedup", "1", "--seed", "1"),
    "paper-000-figure-11": (),
    "paper-003-figure-7": (),
    "paper-003-policies": ("--speedup", "1,5,10,20", "--seed", "1"),
}
"""Experiments on the Seagate trace, with their options."""

IDLE_POWERS = ("servo-loop", "sled-only", "full")
"""Readings of an idle sled's power: the model, the sled alone, or as much as while transferring."""

PLAN = (
    *map(Planned, GENERATED),
    Planned(DISK, ("--workload", "snake", "--speedup", "0.2,0.5,1,2"), SNAKE, f"`{DISK}`, on `snake`"),
    *(
        Planned(
            name,
            ("--trace", str(SEAGATE_TRACE), *options),
            SEAGATE,
            f"`{name}`, on `Seagate`",
        )
        for name, options in ON_SEAGATE.items()
    ),
)


@dataclass(frozen=True)
class PowerRuns(Runs):
    """The experiments on power in a directory."""

    @property
    def idle_power(self) -> str:
        """The reading of an idle sled's power, by its name in experiments."""
        return self.marked("idle") or IDLE_POWERS[0]

    def disk_on_snake(self) -> Points:
        """Points of the disk on the stand-in for Snake."""
        return self.points(f"{DISK}{SNAKE}")

    def on_seagate(self, name: str) -> Points:
        """Points of an experiment on the Seagate trace."""
        return self.points(f"{name}{SEAGATE}")
