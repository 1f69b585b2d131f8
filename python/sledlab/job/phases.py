"""The phases of a node: operations, memory, and measured time in each."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.log import Log, Step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

MEASURED_OPERATION = "measured-ns"
"""The kind of operation that the measured mode counts: one for every ns of this machine's processor."""


class Phases:
    """The phases of a job on a node.

    Attributes:
        memory: Bytes that the job may hold.
        log: Steps, files and groups of the node up to now.
        current_phase: The current phase; empty before the first.
    """

    def __init__(self, memory: int, *, measures_time: bool) -> None:
        self.memory = memory
        self.log = Log()
        self.current_phase = ""
        self._clock = Clock() if measures_time else None

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Begin a phase, which lasts until the next one begins; `with` before it only indents its code.

        Nodes wait for each other at the end of a phase.

        Raises:
            Error: The phase has ended before: another one came after it.
        """
        if name != self.current_phase:
            if name in self.log.steps:
                raise Error(
                    f"the phase `{name}` already ended before `{self.current_phase}` began",
                    remedy="number phases that repeat: `pass 1`, `pass 2`",
                )
            self.lap()
            self.log.steps[name] = Step()
            self.current_phase = name
        return nullcontext()

    @property
    def step(self) -> Step:
        """The node's step in the current phase.

        Raises:
            Error: No phase has begun.
        """
        if not self.current_phase:
            raise Error("no phase has begun", remedy='begin one first: node.phase("name")')
        return self.log.steps[self.current_phase]

    def count_operations(self, **operations: int) -> None:
        """Count operations by kind, such as `tuple=1000`; the cycles of each are decided by the replay.

        In the measured mode only `pack` and `unpack` are counted, and the processor's time stands for the
        rest.

        Raises:
            Error: A count is no whole number, or negative.
        """
        for kind, count in operations.items():
            whole_count = check_count(count, f"operations `{kind}`")
            if self._clock is None or kind in ("pack", "unpack"):
                self._count(kind.replace("_", "-"), whole_count)

    def _count(self, kind: str, count: int) -> None:
        """Count operations of a kind."""
        operations = self.step.operations
        operations[kind] = operations.get(kind, 0) + count

    def record_memory(self, memory: int) -> None:
        """Record that the job holds `memory` bytes at once in this phase, besides buffers.

        Raises:
            Error: The node has less memory, or `memory` is no whole number.
        """
        memory = check_count(memory, "bytes of memory")
        if memory > self.memory:
            raise Error(
                f"the job needs {memory:,} bytes of memory, and the node has {self.memory:,}",
                remedy="work in smaller pieces, or give nodes more memory: --memory-mb",
            )
        self.step.memory = max(self.step.memory, memory)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Exclude this context from measured time: a replay computes times of stores and networks."""
        self.lap()
        try:
            yield
        finally:
            self.resume()

    def lap(self) -> None:
        """Charge the processor's time since the last call to the current phase."""
        if self._clock is not None:
            spent_ns = self._clock.lap()
            if self.current_phase:
                self._count(MEASURED_OPERATION, spent_ns)

    def resume(self) -> None:
        """Restart the clock: processor time up to now is charged to no phase."""
        if self._clock is not None:
            self._clock.lap()


def check_count(count: Any, noun: str) -> int:
    """Return a count as an integer. Floats without a fraction and integers of numpy are accepted.

    Args:
        count: The count that a job gives.
        noun: The noun of the counted things, in messages.

    Raises:
        Error: The count has a fraction, is negative, or is no number.

    Examples:
        >>> check_count(2.0, "operations `tuple`")
        2
    """
    with suppress(TypeError, ValueError, OverflowError):
        if (number := int(count)) == count and number >= 0:
            return number
    raise Error(f"{count} {noun} cannot be counted", remedy="give a whole number, from 0")


class Clock:
    """The processor time of this process, in ns."""

    def __init__(self) -> None:
        self._last_ns = time.process_time_ns()

    def lap(self) -> int:
        """Nanoseconds of processor time since the last call."""
        now = time.process_time_ns()
        spent_ns, self._last_ns = now - self._last_ns, now
        return spent_ns
