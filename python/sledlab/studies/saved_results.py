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
from sledlab.studies.miss_ratio.result import KIND as MISS_RATIO
from sledlab.studies.size.result import KIND as SIZE
from sledlab.study.partial import read_partial

if TYPE_CHECKING:
    from sledlab.display import DisplayedResult
    from sledlab.studies import ListedStudy

READERS = {
    recording.KIND: later("sledlab.runs.reading:read"),
    cluster_outcome.KIND: later("sledlab.runs.cluster_outcome:read"),
    SIZE: later("sledlab.studies.size.result:read"),
    MISS_RATIO: later("sledlab.studies.miss_ratio.result:read"),
}
"""Functions that read results which are no studies of the framework, by kind."""


def open(directory: str | Path) -> Any:  # noqa: A001 - users call `sledlab.open`
    """Open the results in a directory that `out` wrote, finished or interrupted.

    Nothing is run, and neither traces nor plug-ins are opened: all numbers come from files of the directory.

    Args:
        directory: The directory.

    Returns:
        What the function that wrote it returned: a `Result`, `ClusterResult`, `Comparison`, `SideBySide`,
        `PowerStudy`, `HybridStudy`, `TunedHybrid`, `SmartStudy`, `SmartSize`, `Fleet` or `MissRatioCurves`. A
        study that is not finished is a `PartialStudy` with the saved runs.

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
    study_entry = next((each for each in LIST if each.folder == kind.replace("-", "_")), None)
    if study_entry is None:
        raise Error(
            f"`{directory}` holds results of `{kind}`, which cannot be opened",
            remedy="read its files; each device of `serve --device A,B` has a directory in it",
        )
    return _study(path, kind, study_entry)


def _study(path: Path, kind: str, study_entry: ListedStudy) -> DisplayedResult:
    """Return the outcome of a study; the saved runs of one without an outcome."""
    is_finished = (path / OUTCOME).exists()
    if (path / UNFINISHED_RUNS).exists() and not (
        is_finished and _is_newer(path / OUTCOME, path / UNFINISHED_RUNS)
    ):
        study = load_object(f"sledlab.studies.{study_entry.folder}:STUDY")
        partial = read_partial(path, kind, resolve(study.subject.row))
        if not is_finished:
            return partial
        saved_runs = f"{partial.saved_runs:,} of {partial.total:,} runs are saved"
        warnings.warn(Notice(f"a later run of this study was interrupted: {saved_runs}"), stacklevel=3)
    outcome_data = read_json(path / OUTCOME)
    costs = read_json(path / TIMING) if (path / TIMING).exists() else {}
    outcome_class = load_object(f"sledlab.studies.{study_entry.folder}.tables:{study_entry.names[1]}")
    with read_errors(path / OUTCOME):
        outcome: DisplayedResult = outcome_class.load(outcome_data, costs, _study_text(path / STUDY))
    return outcome


def _is_newer(file: Path, other: Path) -> bool:
    """Return whether a file is newer than another: a study was interrupted after its outcome was written."""
    return file.stat().st_mtime_ns > other.stat().st_mtime_ns


def _study_text(path: Path) -> str:
    """Return a study file with names of files relative to the working directory.

    Raises:
        Error: The file is missing or damaged.
    """
    with read_errors(path):
        text = path.read_text(encoding="utf-8")
        tables = parse_saved_toml(text)
        resolved = resolve_study(tables, path)
    return text if resolved == tables else document(resolved)
