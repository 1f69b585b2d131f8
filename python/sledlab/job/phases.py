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
        begun: The current phase; empty before the first.
    """

    def __init__(self, memory: int, *, measured: bool) -> None:
        self.memory = memory
        self.log = Log()
        self.begun = ""
        self._clock = Clock() if measured else None

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Begins a phase, which lasts until the next one begins; `with` before it only indents its code.

        Nodes wait for each other at the end of a phase.

        Raises:
            Error: The phase has ended before: another one came after it.
        """
        if name != self.begun:
            if name in self.log.steps:
                raise Error(
                    f"the phase `{name}` already ended before `{self.begun}` began",
                    remedy="number phases that repeat: `pass 1`, `pass 2`",
                )
            self.lap()
            self.log.steps[name] = Step()
            self.begun = name
        return nullcontext()

    @property
    def step(self) -> Step:
        """The node's step in the current phase.

        Raises:
            Error: No phase has begun.
        """
        if not self.begun:
            raise Error("no phase has begun", remedy='begin one first: node.phase("name")')
        return self.log.steps[self.begun]

    def count_operations(self, **operations: int) -> None:
        """Counts operations by kind, such as `tuple=1000`; the cycles of each are decided by the replay.

        In the measured mode only `pack` and `unpack` are counted, and the processor's time stands for the
        rest.

        Raises:
            Error: A count is no whole number, or negative.
        """
        for kind, count in operations.items():
            counted = check_count(count, f"operations `{kind}`")
            if self._clock is None or kind in ("pack", "unpack"):
                self._count(kind.replace("_", "-"), counted)

    def _count(self, kind: str, count: int) -> None:
        """Counts operations of a kind."""
        operations = self.step.operations
        operations[kind] = operations.get(kind, 0) + count

    def record_memory(self, memory: int) -> None:
        """Records that the job holds `memory` bytes at once in this phase, besides buffers.

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
        """Charges the processor's time since the last call to the current phase."""
        if self._clock is not None:
            spent = self._clock.lap()
            if self.begun:
                self._count(MEASURED_OPERATION, spent)

    def resume(self) -> None:
        """Restarts the clock: processor time up to now is charged to no phase."""
        if self._clock is not None:
            self._clock.lap()


def check_count(count: Any, what: str) -> int:
    """Return a count as an integer. Floats without a fraction and integers of numpy are accepted.

    Args:
        count: The count that a job gives.
        what: The noun of the counted things, in messages.

    Raises:
        Error: The count has a fraction, is negative, or is no number.

    Examples:
        >>> check_count(2.0, "operations `tuple`")
        2
    """
    with suppress(TypeError, ValueError, OverflowError):
        if (result := int(count)) == count and result >= 0:
            return result
    raise Error(f"{count} {what} cannot be counted", remedy="give a whole number, from 0")


class Clock:
    """The processor time of this process, in ns."""

    def __init__(self) -> None:
        self._last = time.process_time_ns()

    def lap(self) -> int:
        """Nanoseconds of processor time since the last call."""
        now = time.process_time_ns()
        spent, self._last = now - self._last, now
        return spent
