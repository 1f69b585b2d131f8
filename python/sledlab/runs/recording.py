"""Files that a run writes, planned and checked before the run starts."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.display import prepare_page
from sledlab.files import atomic_write, check_writable
from sledlab.lazy import polars
from sledlab.results import (
    MANIFEST,
    OUTCOME,
    REPORT,
    list_in_manifest,
    prepare_directory,
    record_digests,
    refuse_links,
)
from sledlab.runs.file_names import relativize_experiment
from sledlab.runs.perfetto import MAX_REQUESTS, check_name
from sledlab.runs.requests import MAX_ROWS, Memory, RequestsTable, Sink, Tee, to_file
from sledlab.runs.result import Result
from sledlab.traces.parquet import write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

SUMMARY = "summary.json"
REQUESTS = "requests.parquet"
TIMELINE = "timeline.parquet"
TIMING = "timing.json"
EXPERIMENT = "experiment.toml"
LATEX = "tables.tex"

KIND = "simulate"
"""Kind of the results that a run writes to a directory."""

RESULT_FILES = (SUMMARY, REQUESTS, TIMELINE, TIMING, EXPERIMENT, REPORT, LATEX, OUTCOME)
"""Files that a run writes to a directory."""


@dataclass
class Recording:
    """The sinks of a run's requests, and the directory that its other results are written to.

    A context: at its end the requests table is completed, also after an interrupt; after an error the table
    is not kept.
    """

    directory: Path | None = None
    sinks: Sequence[Sink] = field(default_factory=list)
    perfetto: Path | None = None

    @classmethod
    def plan(
        cls,
        *,
        out: str | Path | None,
        requests: bool | str | Path | None,
        perfetto: str | Path | None = None,
        keep_some: bool = False,
        replace: bool = False,
    ) -> Recording:
        """A recording whose directory and files have been checked: all can be written.

        Raises:
            Error: A directory cannot be made or holds other results, or a file cannot be written.
        """
        directory = prepare_directory(out, KIND, replace=replace)
        if directory is not None:
            refuse_links(directory, (MANIFEST, *RESULT_FILES))
        sinks: list[Sink] = []
        if isinstance(requests, (str, Path)):
            path = Path(requests)
            sink = to_file(path)
            check_writable(path)
            sinks.append(sink)
        elif requests or (requests is None and keep_some):
            sinks.append(Memory(None if requests else MAX_ROWS))
        if directory is not None:
            sinks.append(to_file(directory / REQUESTS))
        if perfetto is not None:
            check_name(Path(perfetto))
            check_writable(Path(perfetto))
            if not sinks:
                sinks.append(Memory(MAX_REQUESTS))
        return cls(directory, sinks, None if perfetto is None else Path(perfetto))

    @property
    def sink(self) -> Callable[[list[Any]], None] | None:
        """The function that takes chunks of the requests table; `None` where requests are not recorded."""
        if not self.sinks:
            return None
        return self.sinks[0].write if len(self.sinks) == 1 else Tee(self.sinks).write

    @property
    def table(self) -> RequestsTable | None:
        """The table to read the requests from after the run; `None` where none are recorded."""
        first = self.sinks[0] if self.sinks else None
        return first if isinstance(first, RequestsTable) else None

    def __enter__(self) -> Recording:
        """The recording; files are created with their first row."""
        if self.directory is not None:
            prepare_page(Result, "numpy", "polars")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the tables with the rows written so far, or drop them after an error."""
        keep = error is None or isinstance(error, KeyboardInterrupt)
        if keep and self.directory is not None:
            list_in_manifest(self.directory, KIND, RESULT_FILES)
        with ExitStack() as stack:  # all of them, even if one fails
            for sink in self.sinks:
                stack.callback(sink.close, keep=keep)

    def finish(self, result: Result, *, report: bool = True) -> None:
        """Write all results but the requests into the directory, and the Perfetto trace if requested.

        Args:
            result: The results.
            report: Whether to write the page, whose figures take seconds; if not, a former page is removed.
        """
        if self.perfetto is not None:
            result.perfetto(self.perfetto)
        if self.directory is None:
            return
        texts_by_file = {
            LATEX: result.latex(),
            SUMMARY: result.to_json() + "\n",
            TIMING: json.dumps(result.timing, indent=2, allow_nan=False) + "\n",
            EXPERIMENT: relativize_experiment(self.directory, result.experiment),
            OUTCOME: json.dumps({"cdf": dict(result.cdf)}, allow_nan=False) + "\n",
        }
        for name, text in texts_by_file.items():
            with atomic_write(self.directory / name) as draft:
                draft.write_text(text, encoding="utf-8")
        with atomic_write(self.directory / TIMELINE) as draft:
            write_table(polars.DataFrame(dict(result.series)), draft)
        if report:
            result.report(self.directory / REPORT)
        else:
            (self.directory / REPORT).unlink(missing_ok=True)
        record_digests(self.directory)
