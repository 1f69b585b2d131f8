"""Closing the loop: what was asked is replayed, and what the replay says compared with what was answered.

After a power failure the device begins anew, and so do its time and the numbers of operations; so there are
as many replays as there were starts. The first one's is the run's: its tables are left, and its trace is that
of the experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.emulation.recorded import write
from sledlab.lazy import numpy as np
from sledlab.runs.emulation import ClosedLoop
from sledlab.runs.execute import execute
from sledlab.runs.recording import Recording
from sledlab.traces.columns import PARQUET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy

    from sledlab._native import Experiment
    from sledlab.emulation.recorded import Recorded
    from sledlab.runs.requests import Column
    from sledlab.runs.result import Result

TRACE = "trace.parquet"


def trace_name(start: int) -> str:
    """The file of what was asked after so many power failures.

    Examples:
        >>> trace_name(0), trace_name(1)
        ('trace.parquet', 'trace-2.parquet')
    """
    return f"trace-{start + 1}.parquet" if start else TRACE


@dataclass(frozen=True)
class Ending:
    """What the server says of the time from a start to a power failure, or to the end.

    Attributes:
        digest: Stands for the per-request table up to then.
        rows: Of that table; none for all that a replay has.
        summary: Of the results, where they are complete.
    """

    digest: int
    rows: int | None
    summary: dict[str, Any] | None


def endings(report: dict[str, Any], failures: Sequence[dict[str, Any]]) -> list[Ending | None]:
    """How each start ended; nothing of one whose model has given up, or after which nothing was asked."""
    outcome = report["outcome"]
    last = None if outcome is None else Ending(report["digest_of_rows"], None, outcome["summary"])
    return [*(Ending(each["digest_of_rows"], each["rows"], None) for each in failures), last]


def close(
    experiment: Experiment,
    spans: Sequence[Recorded],
    ends: Sequence[Ending | None],
    directory: Path,
    recording: Recording,
) -> tuple[Result | None, ClosedLoop | None]:
    """Leaves what was asked after each start in a directory, replays it, and compares.

    Returns:
        What the replay of the first start says, and the comparison of all; none where nothing was read or
        written.
    """
    result, loops = None, []
    for start, (span, end) in enumerate(zip(spans, ends, strict=True)):
        place = directory / trace_name(start)
        if len(span):
            write(span.trace(), place)
        if end is None or not span.has_media:
            continue
        comparing = Comparing(span, end.rows)
        sinks = [*recording.sinks, comparing] if start == 0 else [comparing]
        said = execute(experiment.with_trace(str(place), PARQUET), Recording(None, sinks))
        same = comparing.digest.value() == end.digest and (
            end.summary is None or _results(end.summary) == _results(said.summary)
        )
        loops.append(ClosedLoop(comparing.rows, comparing.different, same_results=same))
        if start == 0:
            result = said
    return result, _all_of(loops)


def _results(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary without the name of its trace, which is another for each start."""
    config = {key: value for key, value in summary["config"].items() if key != "trace"}
    return {**summary, "config": config}


def _all_of(loops: Sequence[ClosedLoop]) -> ClosedLoop | None:
    if not loops:
        return None
    return ClosedLoop(
        sum(loop.operations for loop in loops),
        sum(loop.different for loop in loops),
        same_results=all(loop.same_results for loop in loops),
    )


class Comparing:
    """Compares, of a replay, completions with those that were planned, and adds up columns of first rows."""

    def __init__(self, span: Recorded, most_rows: int | None) -> None:
        self.digest = _native.RowsDigest()
        self.rows = self.different = 0
        self._planned: numpy.ndarray = span.planned
        self._known: numpy.ndarray = ~span.lost
        self._left = most_rows

    def write(self, columns: list[Column]) -> None:
        """Takes one chunk of the per-request table."""
        data = dict(columns)
        ids, completed = (np.frombuffer(data[name], dtype="<u8") for name in ("id", "completion_ns"))
        known = self._known[ids]
        self.rows += int(np.count_nonzero(known))
        self.different += int(np.count_nonzero(self._planned[ids][known] != completed[known]))
        if self._left is not None:
            taken = min(self._left, len(ids))
            self._left -= taken
            columns = [(name, column[: len(column) // len(ids) * taken]) for name, column in columns]
        self.digest.update(columns)

    def close(self, *, keep: bool = True) -> None:
        """Nothing to complete."""
