"""The experiments on power, on generated requests and on a recorded trace."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import SEAGATE_TRACE
from ..runs import Planned, Points, Runs

DISK = "lin-mobile-disk"

GENERATED = (
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

ON_SEAGATE: dict[str, tuple[str, ...]] = {
    "hong2006-figure-10": ("--speedup", "1", "--seed", "1"),
    "hong2006-figure-11": (),
    "lin-figure-7": (),
    "lin-policies": ("--speedup", "1,5,10,20", "--seed", "1"),
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
