"""Where plans are measured, one after the other: what is kept and the workers stay between them."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.errors import Error, InternalError, Unfinished
from sledlab.show.progress import Progress
from sledlab.show.wording import counted, joined, listed
from sledlab.study.executor.borrowed import Borrowed
from sledlab.study.executor.dask import cluster
from sledlab.study.executor.local import processes
from sledlab.study.executor.measured import measured
from sledlab.study.inputs import plug_ins
from sledlab.study.kept import Kept, keys
from sledlab.study.plan import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from sledlab.study.executor.pool import Pool
    from sledlab.study.executor.where import Where
    from sledlab.study.measure import FoundOf
    from sledlab.study.plan import Plan, Point

NAMED = 5
"""Points that failed of which a message has the names, at most."""


class Measure(Protocol):
    """Measures a plan."""

    def __call__(self, plan: Plan, doing: str) -> Mapping[Point, FoundOf[Any]]:
        """What is found at every point; `doing` says what for."""


class Bench:
    """Measures plans, within a context.

    Attributes:
        failed: Points without results, with what was wrong, where the study concludes in spite of them.
    """

    def __init__(
        self,
        where: Where,
        directory: Path | None,
        kind: Callable[..., Any],
        *,
        reuse: Iterable[str | Path] = (),
        despite_failures: bool = False,
    ) -> None:
        """Results are rows of that kind, kept in `directory`, if any, and taken from those to reuse.

        Raises:
            Error: One of these holds no points.
        """
        self.where = where
        self.failed: dict[Point, str] = {}
        self._despite_failures = despite_failures
        self._kept = Kept(directory, kind, reuse)
        self._open = ExitStack()
        self._pool: Pool | None = None
        self._workers = 0
        self._hosts: Counter[str] = Counter()

    def __enter__(self) -> Bench:
        """Reads what is kept."""
        self._open.enter_context(self._kept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the processes, whatever they are at; a cluster stays."""
        self._open.__exit__(kind, error, trace)

    def measure(self, plan: Plan, doing: str) -> Mapping[Point, FoundOf[Any]]:
        """What is found at every point of a plan; only those run that are not kept.

        Raises:
            Error: Points failed, named in the message, or workers cannot be used.
            Unfinished: This was a share of the points, and others are still missing.
            KeyboardInterrupt: The user stopped it; what was done is kept.
        """
        known = keys(plan, lasting=self._kept.place is not None)
        share = self.where.share
        # Points that are kept under one key, since they run the same, are in one share.
        places = {key: place for place, key in enumerate(dict.fromkeys(known[each] for each in plan.points))}
        missing = [
            point
            for point in plan.points
            if not self._kept.knows(known[point], point)
            and (share is None or share.has(places[known[point]]))
        ]
        failed = self._run(plan, missing, known, doing)
        if failed and not self._despite_failures:
            raise of_points(failed, plan, len(missing))
        if share is not None:
            self._kept.recall()
            there = {*failed, *(each for each in plan.points if known[each] in self._kept.known)}
            left = [point for point in plan.points if point not in there]
            if left:
                raise Unfinished(str(share), len(missing) - len(failed), len(left), len(plan.points))
        self.failed |= {point: str(error) for point, error in failed.items()}
        return {point: self._kept.known[known[point]] for point in plan.points if point not in failed}

    def _run(
        self, plan: Plan, points: list[Point], known: Mapping[Point, str], doing: str
    ) -> dict[Point, Error | InternalError]:
        """Measures points and keeps what is found; those that failed, with what was wrong."""
        failed: dict[Point, Error | InternalError] = {}
        workers: set[str] = set()
        pool = self._where(plan, points)
        at_once = max(1, min(pool.at_once if pool else 1, len(points)))
        with (
            Progress(doing, of="points") as progress,
            closing(measured(plan, points, pool)) as runs,
        ):
            for count, done in enumerate(runs, start=1):
                if isinstance(done.found, (Error, InternalError)):
                    failed[done.point] = done.found
                    self._kept.add_failed(known[done.point], done.point, done.found)
                else:
                    self._kept.add(known[done.point], done.point, done.found)
                    progress.expect(count, len(points), at_once, getattr(done.found.row, "requests", None))
                workers.add(done.worker)
                self._hosts[done.host] += 1
                progress.workers = len(workers)
                progress.update(count, count / len(points))
        return failed

    def tell_hosts(self) -> None:
        """Says where points ran, where that was on more than one machine."""
        if len(self._hosts) > 1:
            said = [f"{host} ({points:,})" for host, points in sorted(self._hosts.items())]
            Progress("").tell(f"{counted(self._hosts.total(), 'point')} ran on {joined(said)}")

    def _where(self, plan: Plan, points: list[Point]) -> Pool | None:
        """Workers enough for some points; none where this process will do.

        A plug-in imported here may have been changed since, so that it needs others.
        """
        if not points:
            return None
        if self.where.executor is not None:
            self._pool = self._pool or Borrowed(self.where.executor)
            return self._pool
        if self.where.cluster is not None:
            if self._pool is None:
                self._pool = self._open.enter_context(cluster(self.where.cluster, send=self.where.send))
            return self._pool
        wanted = min(self.where.jobs, len(points))
        if wanted == 1 and not any(plug_ins(plan.texts[point]) for point in points):
            return None
        if self._workers < wanted:
            self._pool, self._workers = self._open.enter_context(processes(wanted)), wanted
        return self._pool


def of_points(
    failed: Mapping[Point, Error | InternalError], plan: Plan, points: int
) -> Error | InternalError:
    """The error about points that failed, out of so many that ran: the first by what was wrong, all by name.

    It is ours to mend where one of them is.
    """
    names = [plan.names[point] for point in plan.points if point in failed]
    errors = [failed[point] for point in plan.points if point in failed]
    ours = [each for each in errors if isinstance(each, InternalError)]
    worst: Error | InternalError = ours[0] if ours else errors[0]
    name = names[errors.index(worst)]
    if len(names) > 1:
        name = f"{len(names):,} of {points:,} points failed: {listed(names, NAMED)}; {name}"
    return InternalError(f"{name}: {worst}") if isinstance(worst, InternalError) else named(worst, name)
