"""Closing the loop: recorded requests are replayed, and the replay is compared with what the server answered.

After a power failure the device restarts, and so do its time and the numbers of operations; so there is
one replay for each start. The replay of the first start is that of the run: its tables are left in the
directory, and its trace is that of the experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.emulation.recording import write
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
    from sledlab.emulation.recording import RecordedOperations
    from sledlab.runs.requests import Column
    from sledlab.runs.result import Result

TRACE = "trace.parquet"


def trace_name(start: int) -> str:
    """The file name of the trace of requests since a start; `start` power failures came before it.

    Examples:
        >>> trace_name(0), trace_name(1)
        ('trace.parquet', 'trace-2.parquet')
    """
    return f"trace-{start + 1}.parquet" if start else TRACE


@dataclass(frozen=True)
class SpanReport:
    """What the server reports of the span from a start to a power failure, or to the end.

    Attributes:
        digest: Digest of the per-request table up to the end of the span.
        rows: Rows of that table; `None` where they are all rows that a replay has.
        summary: Summary of the results; `None` where a power failure cut the span short.
    """

    digest: int
    rows: int | None
    summary: dict[str, Any] | None


def span_reports(report: dict[str, Any], failures: Sequence[dict[str, Any]]) -> list[SpanReport | None]:
    """How the span after each start ended; `None` for the last if its model failed or no request came."""
    outcome = report["outcome"]
    last_report = None if outcome is None else SpanReport(report["digest_of_rows"], None, outcome["summary"])
    return [*(SpanReport(each["digest_of_rows"], each["rows"], None) for each in failures), last_report]


def close(
    experiment: Experiment,
    spans: Sequence[RecordedOperations],
    ends: Sequence[SpanReport | None],
    directory: Path,
    recording: Recording,
) -> tuple[Result | None, ClosedLoop | None]:
    """Write a trace of the requests after each start into a directory, replay it, and compare.

    Returns:
        The result of the replay of the first start, and the comparison of all starts; `None` where nothing
        was read or written.
    """
    first_result, loops = None, []
    for start, (span, end) in enumerate(zip(spans, ends, strict=True)):
        trace_path = directory / trace_name(start)
        if len(span):
            write(span.trace(), trace_path)
        if end is None or not span.has_media:
            continue
        comparison = CompletionComparison(span, end.rows)
        sinks = [*recording.sinks, comparison] if start == 0 else [comparison]
        replay_experiment = experiment.with_trace(str(trace_path), PARQUET).with_setting(
            "trace.start", "zero"
        )
        replay_result = execute(replay_experiment, Recording(None, sinks))
        is_same = comparison.digest.value() == end.digest and (
            end.summary is None
            or _without_trace_name(end.summary) == _without_trace_name(replay_result.summary)
        )
        loops.append(ClosedLoop(comparison.rows, comparison.different, same_results=is_same))
        if start == 0:
            first_result = replay_result
    return first_result, _combine_loops(loops)


def _without_trace_name(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary without the name of its trace, which differs from start to start."""
    config = {key: value for key, value in summary["config"].items() if key != "trace"}
    return {**summary, "config": config}


def _combine_loops(loops: Sequence[ClosedLoop]) -> ClosedLoop | None:
    if not loops:
        return None
    return ClosedLoop(
        sum(loop.operations for loop in loops),
        sum(loop.different for loop in loops),
        same_results=all(loop.same_results for loop in loops),
    )


class CompletionComparison:
    """Compares completions of a replay with those that the server planned, and digests its first rows."""

    def __init__(self, span: RecordedOperations, max_rows: int | None) -> None:
        self.digest = _native.RowsDigest()
        self.rows = self.different = 0
        self._planned: numpy.ndarray = span.planned_ns
        self._was_completed: numpy.ndarray = ~span.is_lost
        self._rows_left = max_rows

    def write(self, columns: list[Column]) -> None:
        """Take one chunk of the per-request table."""
        bytes_by_column = dict(columns)
        ids, completion_ns = (
            np.frombuffer(bytes_by_column[name], dtype="<u8") for name in ("id", "completion_ns")
        )
        was_completed = self._was_completed[ids]
        self.rows += int(np.count_nonzero(was_completed))
        self.different += int(
            np.count_nonzero(self._planned[ids][was_completed] != completion_ns[was_completed])
        )
        if self._rows_left is not None:
            digested_rows = min(self._rows_left, len(ids))
            self._rows_left -= digested_rows
            columns = [(name, column[: len(column) // len(ids) * digested_rows]) for name, column in columns]
        self.digest.update(columns)

    def close(self, *, keep: bool = True) -> None:
        """Nothing to complete."""
