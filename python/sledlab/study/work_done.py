"""Progress of a study by work: the share of the time that its runs take, and the run that takes longest."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.study.plan import RunSpec

SIMILAR = 4
"""Number of runs whose mean time is the estimate for the runs that follow: runs are sorted by weight."""


@dataclass
class WorkDone:
    """The work of a study, in seconds of wall-clock time of its runs.

    Attributes:
        names: Names of all runs.
        left: Number of runs that are not completed.
        at_once: Number of runs that execute at the same time.
    """

    names: Mapping[RunSpec, str]
    left: int
    at_once: int
    _spent: list[float] = field(default_factory=list)
    _begun: dict[RunSpec, float] = field(default_factory=dict)

    def completed(self, spec: RunSpec, wall_s: float) -> None:
        """Record a completed run and its wall-clock time."""
        self._begun.pop(spec, None)
        self._spent.append(wall_s)
        self.left -= 1

    def pending(self, specs: Sequence[RunSpec]) -> None:
        """Record runs that are submitted and not completed, in order: the first of them execute."""
        now = time.monotonic()
        self._begun = {spec: self._begun.get(spec, now) for spec in specs[: self.at_once]}

    @property
    def done(self) -> int:
        """Number of completed runs."""
        return len(self._spent)

    @property
    def fraction(self) -> float:
        """The share of the work that is done.

        Runs that wait are expected to take as long as the last ones completed. A run that has taken longer
        than that is expected to take as long again.
        """
        similar = self._spent[-SIMILAR:]
        each = sum(similar) / len(similar) if similar else 0.0
        running = [time.monotonic() - begun for begun in self._begun.values()]
        done = sum(self._spent) + sum(running)
        remaining = sum(max(each - spent, spent) for spent in running) + each * (self.left - len(running))
        return done / (done + remaining) if done + remaining > 0 else self.done / (self.done + self.left)

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The run that has executed longest of those that do, and for how many seconds; `None` if unknown."""
        if not self._begun:
            return None
        spec, begun = min(self._begun.items(), key=lambda item: item[1])
        return self.names[spec], time.monotonic() - begun
