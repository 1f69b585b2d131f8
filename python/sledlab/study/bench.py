"""Where plans are measured, one after the other: what is kept and the processes stay between them."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error
from sledlab.show.progress import Progress
from sledlab.study.executor import measured, processes, processors
from sledlab.study.kept import Kept, keys, plug_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor
    from pathlib import Path
    from types import TracebackType

    from sledlab.study.measure import FoundOf
    from sledlab.study.plan import Plan, Point


class Measure(Protocol):
    """Measures a plan."""

    def __call__(self, plan: Plan, doing: str) -> Mapping[Point, FoundOf[Any]]:
        """What is found at every point; `doing` says what for."""


def at_once(jobs: int | None) -> int:
    """How many runs there are at the same time: as many as there are processors, unless said.

    Raises:
        Error: It is no number of jobs.
    """
    found = processors() if jobs is None else jobs
    if found < 1:
        raise Error(f"`{jobs}` is not a number of jobs", remedy="give a whole number, 1 or more")
    return found


class Bench:
    """Measures plans, within a context."""

    def __init__(self, jobs: int, directory: Path | None, kind: Callable[..., Any]) -> None:
        """`jobs` at the same time; results are rows of that kind, kept in `directory`, if any."""
        self.jobs = jobs
        self._kept = Kept(directory, kind)
        self._open = ExitStack()
        self._pool: Executor | None = None
        self._workers = 0

    def __enter__(self) -> Bench:
        """Reads what is kept."""
        self._open.enter_context(self._kept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the processes, whatever they are at."""
        self._open.__exit__(kind, error, trace)

    def measure(self, plan: Plan, doing: str) -> Mapping[Point, FoundOf[Any]]:
        """What is found at every point of a plan; only those run that are not kept.

        Raises:
            Error: A point failed, named in the message.
            KeyboardInterrupt: The user stopped it; what was done is kept.
        """
        known = keys(plan, lasting=self._kept.path is not None)
        missing = [point for point in plan.points if known[point] not in self._kept.known]
        with (
            Progress(doing, of="points") as progress,
            closing(measured(plan, missing, self._where(plan, missing))) as runs,
        ):
            for done, (point, found) in enumerate(runs, start=1):
                self._kept.add(known[point], point, found)
                progress.update(done, done / len(missing))
                at_once = max(1, min(self.jobs, len(missing)))
                progress.expect(done, len(missing), at_once, getattr(found.row, "requests", None))
        return {point: self._kept.known[known[point]] for point in plan.points}

    def _where(self, plan: Plan, points: list[Point]) -> Executor | None:
        """Processes enough for some points; none where this one will do.

        A plug-in imported here may have been changed since, so that it needs others.
        """
        wanted = min(self.jobs, len(points))
        if wanted == 0 or (wanted == 1 and not any(plug_ins(plan.texts[point]) for point in points)):
            return None
        if self._workers < wanted:
            self._pool, self._workers = self._open.enter_context(processes(wanted)), wanted
        return self._pool
