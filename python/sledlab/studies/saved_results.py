"""Open the results in a directory again, without running or importing anything that they name."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, Notice
from sledlab.lazy import later, load_object, resolve
from sledlab.model.settings import document
from sledlab.results import (
    OUTCOME,
    STUDY,
    UNFINISHED_RUNS,
    parse_saved_toml,
    read_errors,
    read_json,
    result_kind,
)
from sledlab.runs import cluster_outcome, recording
from sledlab.runs.file_names import resolve_study
from sledlab.runs.recording import TIMING
from sledlab.studies import LIST
from sledlab.studies.size.result import KIND as SIZE
from sledlab.study.partial import read_partial

if TYPE_CHECKING:
    from sledlab.display import DisplayedResult
    from sledlab.studies import ListedStudy

READERS = {
    recording.KIND: later("sledlab.runs.reading:read"),
    cluster_outcome.KIND: later("sledlab.runs.cluster_outcome:read"),
    SIZE: later("sledlab.studies.size.result:read"),
}
"""Functions that read results which are no studies of the framework, by kind."""


def open(directory: str | Path) -> Any:  # noqa: A001 - users call `sledlab.open`
    """Open the results in a directory that `out` wrote, finished or interrupted.

    Nothing is run, and neither traces nor plug-ins are opened: all numbers come from files of the directory.

    Args:
        directory: The directory.

    Returns:
        What the function that wrote it returned: a `Result`, `ClusterResult`, `Comparison`, `SideBySide`,
        `PowerStudy`, `HybridStudy`, `TunedHybrid`, `SmartStudy`, `SmartSize` or `Fleet`. A study that is not
        finished is a `PartialStudy` with the saved runs.

    Raises:
        Error: The directory holds no results of sledlab, or they are damaged or of a newer version.

    Examples:
        >>> import sledlab as sl, tempfile
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100, out=(out := tempfile.mkdtemp()))
        >>> sl.open(out).response_time == r.response_time
        True
    """
    path = Path(directory)
    kind = result_kind(path)
    if kind in READERS:
        return READERS[kind](path)
    listed = next((each for each in LIST if each.folder == kind.replace("-", "_")), None)
    if listed is None:
        raise Error(
            f"`{directory}` holds results of `{kind}`, which cannot be opened",
            remedy="read its files; each device of `serve --device A,B` has a directory in it",
        )
    return _study(path, kind, listed)


def _study(path: Path, kind: str, listed: ListedStudy) -> DisplayedResult:
    """Return the outcome of a study; the saved runs of one without an outcome."""
    finished = (path / OUTCOME).exists()
    if (path / UNFINISHED_RUNS).exists() and not (
        finished and _is_newer(path / OUTCOME, path / UNFINISHED_RUNS)
    ):
        study = load_object(f"sledlab.studies.{listed.folder}:STUDY")
        partial = read_partial(path, kind, resolve(study.subject.row))
        if not finished:
            return partial
        saved_runs = f"{partial.saved_runs:,} of {partial.total:,} runs are saved"
        warnings.warn(Notice(f"a later run of this study was interrupted: {saved_runs}"), stacklevel=3)
    saved = read_json(path / OUTCOME)
    costs = read_json(path / TIMING) if (path / TIMING).exists() else {}
    outcome = load_object(f"sledlab.studies.{listed.folder}.tables:{listed.names[1]}")
    with read_errors(path / OUTCOME):
        result: DisplayedResult = outcome.load(saved, costs, _file(path / STUDY))
    return result


def _is_newer(file: Path, other: Path) -> bool:
    """Return whether a file is newer than another: a study was interrupted after its outcome was written."""
    return file.stat().st_mtime_ns > other.stat().st_mtime_ns


def _file(file: Path) -> str:
    """Return a study file with names of files relative to the working directory.

    Raises:
        Error: The file is missing or damaged.
    """
    with read_errors(file):
        text = file.read_text(encoding="utf-8")
        tables = parse_saved_toml(text)
        changed = resolve_study(tables, file)
    return text if changed == tables else document(changed)
