"""Progress of a study by work: the share of the time that its runs take, and the run that takes longest.

Runs differ in their time by orders of magnitude. They are therefore sorted by kind, which is what they set,
and by weight, and a sample from all places of that order executes first. The time of a run that has not
executed is interpolated between those of its neighbors in the sample.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.study.plan import RunSpec

MIN_SAMPLE, MAX_SAMPLE = 6, 24
"""Fewest and most runs in the sample, which is a sixth of the runs between them."""

PATIENCE_S = 10.0
"""How long an estimate waits for a run of the sample that executes, once as many others are completed."""

MIN_EFFICIENCY = 0.2
"""Least share of the elapsed time that counts as executing; the rest opens traces and sends results."""

GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of this share, modulo 1, are spread evenly, and in step with no axis of a study."""


def _by_kind(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return runs sorted by what they set, and by weight where they set the same."""
    return sorted(specs, key=lambda spec: ([key for key, _ in spec.settings], -spec.weight))


def sample_first(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return runs in order of execution: a sample of all kinds, then all others in their order.

    Examples:
        >>> from sledlab.study.plan import RunSpec
        >>> specs = [RunSpec("", (), seed, weight=12 - seed) for seed in range(12)]
        >>> [spec.seed for spec in sample_first(specs)]
        [0, 7, 2, 10, 5, 1, 3, 4, 6, 8, 9, 11]
    """
    sample = dict.fromkeys(_sample(specs))
    return [*sample, *(spec for spec in specs if spec not in sample)]


def _sample(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return the runs of the sample; the same run twice where its places meet."""
    ordered = _by_kind(specs)
    size = min(len(ordered), max(MIN_SAMPLE, min(len(ordered) // 6, MAX_SAMPLE)))
    return [ordered[int(turn * GOLDEN % 1 * len(ordered))] for turn in range(size)]


@dataclass
class WorkProgress:
    """The work of a study, in seconds of wall-clock time of its runs.

    Attributes:
        names: Names of all runs.
        specs: The runs.
        concurrency: Number of runs that execute at the same time.
    """

    names: Mapping[RunSpec, str]
    specs: Sequence[RunSpec]
    concurrency: int
    _wall_times_s: dict[RunSpec, float] = field(default_factory=dict)
    _start_times_s: dict[RunSpec, float] = field(default_factory=dict)
    _expected_s: dict[RunSpec, float] = field(default_factory=dict)
    _done_s: float = 0.0
    _first_end: tuple[float, float] | None = None
    _done_expected_s: float = 0.0
    _total_expected_s: float = 0.0

    def complete(self, spec: RunSpec, wall_s: float | None) -> None:
        """Record a completed run and its wall-clock time, by default that since it was seen to execute."""
        now = time.monotonic()
        executed_s = now - self._start_times_s.pop(spec, now)
        self._wall_times_s[spec] = executed_s if wall_s is None else wall_s
        self._done_s += self._wall_times_s[spec]
        self._first_end = self._first_end or (now, self._executed_s)
        self._done_expected_s += self._expected_s.get(spec, 0.0)
        if not self._expected_s and self._has_sample():
            running_s = {each: 2 * run_s for each, run_s in self._running_s.items()}
            self._expected_s = _interpolate(_by_kind(self.specs), {**running_s, **self._wall_times_s})
            self._total_expected_s = math.fsum(self._expected_s.values())
            self._done_expected_s = math.fsum(self._expected_s[each] for each in self._wall_times_s)

    def update_pending(self, specs: Sequence[RunSpec]) -> None:
        """Record runs that are submitted and not completed, in order: the first of them execute."""
        now = time.monotonic()
        self._start_times_s = {spec: self._start_times_s.get(spec, now) for spec in specs[: self.concurrency]}

    def _has_sample(self) -> bool:
        """Return whether the runs of the sample are completed, or have executed long enough."""
        times_s = {**self._running_s, **dict.fromkeys(self._wall_times_s, math.inf)}
        return self.completed_count >= len(self._sample_specs) and all(
            times_s.get(spec, 0.0) >= PATIENCE_S for spec in self._sample_specs
        )

    @cached_property
    def _sample_specs(self) -> list[RunSpec]:
        return _sample(self.specs)

    @property
    def completed_count(self) -> int:
        """Number of completed runs."""
        return len(self._wall_times_s)

    @property
    def is_sampled(self) -> bool:
        """Whether the sample is completed or has long executed: `remaining_s` counts all kinds of runs."""
        return bool(self._expected_s)

    @property
    def remaining_s(self) -> float:
        """The expected time of all runs that are not completed, without what they have executed, in seconds.

        A run that has taken longer than expected is expected to take as long again.
        """
        mean_s = self._done_s / self.completed_count if self.completed_count else 0.0
        remaining_count = len(self.specs) - self.completed_count
        expected_s = (
            self._total_expected_s - self._done_expected_s if self.is_sampled else mean_s * remaining_count
        )
        scale = self._done_s / self._done_expected_s if self._done_expected_s > 0 else 1.0
        remaining_s = max(expected_s, 0.0) * scale
        for spec, run_s in self._running_s.items():
            run_expected_s = self._expected_s.get(spec, mean_s) * scale
            remaining_s += max(run_expected_s - run_s, run_s) - run_expected_s
        return max(remaining_s, 0.0)

    @property
    def remaining_wall_s(self) -> float:
        """The expected wall-clock time until all runs are completed, in seconds.

        Processes execute runs in a part of the time only. This share is measured from the first completed run
        on, so that the start of processes has no effect.
        """
        efficiency = 1.0
        if self._first_end is not None:
            first_end_s, first_executed_s = self._first_end
            elapsed_s = (time.monotonic() - first_end_s) * self.concurrency
            efficiency = (self._executed_s - first_executed_s) / elapsed_s if elapsed_s > 0 else 1.0
        return self.remaining_s / (self.concurrency * min(1.0, max(efficiency, MIN_EFFICIENCY)))

    @property
    def fraction(self) -> float:
        """The share of the work that is done."""
        executed_s, remaining_s = self._executed_s, self.remaining_s
        return (
            executed_s / (executed_s + remaining_s)
            if executed_s + remaining_s > 0
            else self.completed_count / len(self.specs)
        )

    @property
    def _executed_s(self) -> float:
        """For how many seconds all runs have executed, completed or not."""
        return self._done_s + sum(self._running_s.values())

    @property
    def _running_s(self) -> dict[RunSpec, float]:
        """For how many seconds each of the runs executes that do."""
        now = time.monotonic()
        return {spec: now - start_s for spec, start_s in self._start_times_s.items()}

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The run that has executed longest of those that do, and for how many seconds; `None` if unknown."""
        if not self._start_times_s:
            return None
        spec, start_s = min(self._start_times_s.items(), key=lambda item: item[1])
        return self.names[spec], time.monotonic() - start_s


def _interpolate(order: Sequence[RunSpec], times_s: Mapping[RunSpec, float]) -> dict[RunSpec, float]:
    """Return an expected time for each run: between two completed ones in the order, on a straight line.

    Examples:
        >>> _interpolate("abcde", {"b": 1.0, "d": 3.0})
        {'a': 1.0, 'b': 1.0, 'c': 2.0, 'd': 3.0, 'e': 3.0}
    """
    known = [index for index, spec in enumerate(order) if spec in times_s]
    expected_s = [times_s[order[known[0]]]] * known[0]
    for first, last in pairwise(known):
        begin_s, end_s = times_s[order[first]], times_s[order[last]]
        steps = last - first
        expected_s += [begin_s + (end_s - begin_s) * step / steps for step in range(steps)]
    expected_s += [times_s[order[known[-1]]]] * (len(order) - known[-1])
    return dict(zip(order, expected_s, strict=True))
