"""Running a comparison: what is not kept yet, side by side, longest first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sledlab.comparison.kept import Kept, P, keys, written_in_python
from sledlab.comparison.measuring import measure
from sledlab.comparison.outcome import Comparison
from sledlab.comparison.plan import named
from sledlab.errors import Error, InternalError
from sledlab.progress import Progress
from sledlab.recording import make_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sledlab.comparison.kept import Planned, Runs
    from sledlab.comparison.plan import Plan
    from sledlab.comparison.workers import Measure
    from sledlab.traces import Trace


class Outcome(Protocol):
    """What was found out."""

    def write(self, directory: Path) -> None:
        """Writes all of it into a directory."""


Found = TypeVar("Found", bound=Outcome)


def run(plan: Plan, *, jobs: int | None = None, out: str | Path | None = None) -> Comparison:
    """Measures all points of a plan that `out` does not hold yet.

    Raises:
        Error: A point failed, named in the message; what was done before is kept.
        KeyboardInterrupt: The user stopped it; what was done is kept.
    """
    return carry_out(
        plan, measure, lambda found: Comparison.of(plan, found), jobs=jobs, out=out, doing="comparing"
    )


def carry_out(
    plan: Planned[P],
    measure: Measure,
    conclude: Callable[[dict[P, dict[str, Any]]], Found],
    *,
    jobs: int | None,
    out: str | Path | None,
    doing: str,
) -> Found:
    """Measures all points of a plan that `out` does not hold yet, and writes what they lead to.

    Raises:
        Error: As of `run`.
        KeyboardInterrupt: As of `run`.
    """
    directory = make_directory(Path(out)) if out is not None else None
    outcome = conclude(measure_all(plan, measure, jobs=jobs, directory=directory, doing=doing))
    if directory is not None:
        outcome.write(directory)
    return outcome


def measure_all(
    plan: Planned[P], measure: Measure, *, jobs: int | None, directory: Path | None, doing: str
) -> dict[P, dict[str, Any]]:
    """What `measure` finds at every point of a plan; only those run that the directory does not hold yet.

    Raises:
        Error: As of `run`.
        KeyboardInterrupt: As of `run`.
    """
    jobs = processors() if jobs is None else jobs
    if jobs < 1:
        raise Error(f"`{jobs}` is not a number of jobs", remedy="give a whole number, 1 or more")
    texts = {point: plan.text(point) for point in plan.points}
    known = keys(plan, texts, f"{measure.__module__}.{measure.__qualname__}")
    with Kept(directory) as kept:
        missing = [point for point in plan.points if known[point] not in kept.known]
        with Progress(doing, of="points") as progress:
            found_now = _measured(missing, texts, plan.trace, jobs, measure)
            for done, (point, found) in enumerate(found_now, start=1):
                kept.add(known[point], point, found)
                progress.update(done, done / len(missing))
        return {point: kept.known[known[point]] for point in plan.points}


def processors() -> int:
    """How many runs this process may have at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _measured(
    points: Sequence[P], texts: dict[P, str], trace: Trace | None, jobs: int, measure: Measure
) -> Iterator[tuple[P, dict[str, Any]]]:
    """The points as they are done; the first that fails ends it all."""
    from sledlab.comparison.workers import Workers

    # A module that was imported here may have been changed since: a fresh process reads it anew.
    fresh = any(written_in_python(texts[point]) for point in points)
    if not fresh and (jobs == 1 or len(points) < 2):
        for point in points:
            yield point, _here(point, texts[point], trace, measure)
        return
    with Workers(min(jobs, len(points)), trace, measure) as workers:
        for index, answer in workers.measured([texts[point] for point in points]):
            if isinstance(answer, Exception):
                raise _failed(answer, points[index])
            yield points[index], answer


def _here(point: P, text: str, trace: Trace | None, measure: Measure) -> dict[str, Any]:
    """A point measured in this process."""
    try:
        return measure(text, trace)
    except (Error, InternalError) as error:
        raise _failed(error, point) from error


def _failed(error: Exception, point: Runs) -> Exception:
    return named(error, point) if isinstance(error, Error) else InternalError(f"{point}: {error}")
