"""The experiments on power, run and read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import reference
from ..experiments import compare
from ..points import Points, read_points

NAMES = (
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
    "paper-003-mobile-disk",
)
"""What the claims are judged by, on generated requests."""

ON_SEAGATE: dict[str, tuple[str, ...]] = {
    "paper-000-figure-10": ("--speedups", "1", "--seeds", "1"),
    "paper-000-figure-11": (),
    "paper-003-figure-7": (),
    "paper-003-policies": ("--speedups", "1,5,10,20", "--seeds", "1"),
}
"""What is run on the Seagate trace, and with which options."""

SEAGATE = "-seagate"
"""What the directory of such a run ends in."""

DISK, ON_SNAKE = "paper-003-mobile-disk", ("--workload", "snake", "--speedups", "0.2,0.5,1,2")
"""Run a second time on another workload."""

SNAKE = "-snake"
"""What the directory of that ends in."""


def run(
    directory: Path,
    names: Iterable[str] = NAMES,
    on_seagate: Iterable[str] = tuple(ON_SEAGATE),
    extra: Sequence[str] = (),
) -> None:
    """Runs experiments that `directory` does not hold yet, each in a directory of its own."""
    for name in names:
        compare(name, directory / name, extra)
        if name == DISK:
            compare(name, directory / f"{name}{SNAKE}", [*extra, *ON_SNAKE])
    trace = ["--trace", str(reference.trace("seagate_gap"))]
    for name in on_seagate:
        compare(name, directory / f"{name}{SEAGATE}", [*trace, *extra, *ON_SEAGATE[name]])


@dataclass(frozen=True)
class Runs:
    """All experiments of a directory."""

    directory: Path

    def points(self, name: str, scheduler: str = "fcfs") -> Points:
        """The results of an experiment under one of its schedulers."""
        return read_points(self.directory / name, scheduler)

    def disk_on_snake(self) -> Points:
        """The disk's on the stand-in for Snake."""
        return read_points(self.directory / f"{DISK}{SNAKE}", "fcfs")

    def on_seagate(self, name: str) -> Points:
        """Those on the Seagate trace."""
        return read_points(self.directory / f"{name}{SEAGATE}", "fcfs")
