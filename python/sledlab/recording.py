"""What a run leaves on disk, planned and checked before the work starts."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.requests_table import KEPT_ROWS, Memory, Tee, to_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from sledlab.requests_table import RequestsTable
    from sledlab.result import Result

SUMMARY = "summary.json"
REQUESTS = "requests.parquet"
TIMELINE = "timeline.parquet"
TIMING = "timing.json"
EXPERIMENT = "experiment.toml"
REPORT = "report.html"


@dataclass
class Recording:
    """Where the requests of a run go, and the directory that the rest is written to.

    A context: on the way out the requests table is completed, also after an interrupt.
    """

    directory: Path | None = None
    sinks: list[Any] = field(default_factory=list)

    @classmethod
    def planned(
        cls, *, out: str | Path | None, requests: bool | str | Path | None, keep_some: bool = False
    ) -> Recording:
        """Checks that everything can be written.

        Raises:
            Error: A directory cannot be made or a file cannot be written.
        """
        directory = make_directory(Path(out)) if out is not None else None
        sinks: list[Any] = []
        if isinstance(requests, (str, Path)):
            path = Path(requests)
            sink = to_file(path)
            check_writable(path)
            sinks.append(sink)
        elif requests or (requests is None and keep_some):
            sinks.append(Memory(None if requests else KEPT_ROWS))
        if directory is not None:
            sinks.append(to_file(directory / REQUESTS))
        return cls(directory, sinks)

    @property
    def sink(self) -> Callable[[list[Any]], None] | None:
        """Takes the chunks of the requests table; `None` where nobody wants them."""
        if not self.sinks:
            return None
        return self.sinks[0].write if len(self.sinks) == 1 else Tee(self.sinks).write

    @property
    def table(self) -> RequestsTable | None:
        """Where the requests can be found afterwards."""
        return self.sinks[0] if self.sinks else None

    def __enter__(self) -> Recording:
        """Nothing to begin with: files are created with their first row."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Completes the tables with what has come."""
        for sink in self.sinks:
            sink.close()

    def finish(self, result: Result) -> None:
        """Writes everything but the requests into the directory."""
        if self.directory is None:
            return
        place = self.directory
        (place / SUMMARY).write_text(result.to_json() + "\n", encoding="utf-8")
        (place / TIMING).write_text(json.dumps(result.timing, indent=2) + "\n", encoding="utf-8")
        (place / EXPERIMENT).write_text(result.experiment, encoding="utf-8")
        _write_timeline(result, place / TIMELINE)
        result.report(place / REPORT)


def _write_timeline(result: Result, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(result.series)), path, compression="zstd")


def make_directory(path: Path) -> Path:
    """Makes a directory for results, if there is none.

    Raises:
        Error: It cannot be made, or nothing can be written there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(
            f"cannot make the directory `{path}`: {error.strerror}", remedy="choose another --out"
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise Error(f"cannot write into the directory `{path}`", remedy="choose another --out")
    return path


def check_writable(path: Path) -> None:
    """Checks that a file can be written, without touching what may be there.

    Raises:
        Error: It is a directory, or its directory is missing or not writable.
    """
    if path.is_dir():
        raise Error(f"`{path}` is a directory", remedy="give the name of a file")
    if not path.parent.is_dir():
        raise Error(f"there is no directory `{path.parent}` for `{path.name}`", remedy="make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Error(f"cannot write `{path}`", remedy="choose another name or directory")
