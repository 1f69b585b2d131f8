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
class WorkProgress:
    """The work of a study, in seconds of wall-clock time of its runs.

    Attributes:
        names: Names of all runs.
        remaining: Number of runs that are not completed.
        concurrency: Number of runs that execute at the same time.
    """

    names: Mapping[RunSpec, str]
    remaining: int
    concurrency: int
    _wall_times_s: list[float] = field(default_factory=list)
    _start_times_s: dict[RunSpec, float] = field(default_factory=dict)

    def complete(self, spec: RunSpec, wall_s: float | None) -> None:
        """Record a completed run and its wall-clock time, by default that since it was seen to execute."""
        now = time.monotonic()
        executed_s = now - self._start_times_s.pop(spec, now)
        self._wall_times_s.append(executed_s if wall_s is None else wall_s)
        self.remaining -= 1

    def update_pending(self, specs: Sequence[RunSpec]) -> None:
        """Record runs that are submitted and not completed, in order: the first of them execute."""
        now = time.monotonic()
        self._start_times_s = {spec: self._start_times_s.get(spec, now) for spec in specs[: self.concurrency]}

    @property
    def completed_count(self) -> int:
        """Number of completed runs."""
        return len(self._wall_times_s)

    @property
    def fraction(self) -> float:
        """The share of the work that is done.

        Runs that wait are expected to take as long as the last ones completed. A run that has taken longer
        than that is expected to take as long again.
        """
        recent_s = self._wall_times_s[-SIMILAR:]
        mean_s = sum(recent_s) / len(recent_s) if recent_s else 0.0
        running_s = [time.monotonic() - start_s for start_s in self._start_times_s.values()]
        done_s = sum(self._wall_times_s) + sum(running_s)
        remaining_s = sum(max(mean_s - run_s, run_s) for run_s in running_s) + mean_s * (
            self.remaining - len(running_s)
        )
        return (
            done_s / (done_s + remaining_s)
            if done_s + remaining_s > 0
            else self.completed_count / (self.completed_count + self.remaining)
        )

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The run that has executed longest of those that do, and for how many seconds; `None` if unknown."""
        if not self._start_times_s:
            return None
        spec, start_s = min(self._start_times_s.items(), key=lambda item: item[1])
        return self.names[spec], time.monotonic() - start_s
