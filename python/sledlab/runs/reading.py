"""Read the result of a run from the directory that it was written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import polars
from sledlab.results import OUTCOME, read_errors, read_json
from sledlab.runs.emulation import EMULATION, REPLIES, Emulation
from sledlab.runs.file_names import read_experiment
from sledlab.runs.recording import EXPERIMENT, REQUESTS, SUMMARY, TIMELINE, TIMING
from sledlab.runs.requests import RequestsParquet
from sledlab.runs.result import Result

if TYPE_CHECKING:
    from pathlib import Path


def read(directory: Path) -> Result:
    """Read a result from the directory that it was written to.

    Raises:
        Error: A file is missing or damaged.
    """
    summary = read_json(directory / SUMMARY)
    summary.pop("warnings", None)
    with read_errors(directory / TIMELINE) as path:
        series = polars.read_parquet(path).to_dict(as_series=False)
    with read_errors(directory / EXPERIMENT) as path:
        experiment = read_experiment(path)
    with read_errors(directory / OUTCOME) as path:
        cdf = read_json(path)["cdf"]
    requests_path = directory / REQUESTS
    return Result(
        summary=summary,
        series=series,
        cdf=cdf,
        timing=read_json(directory / TIMING),
        experiment=experiment,
        table=RequestsParquet(requests_path) if requests_path.exists() else None,
        emulation=_read_emulation(directory),
    )


def _read_emulation(directory: Path) -> Emulation | None:
    """Read the lateness of replies; `None` for a run that served no programs."""
    if not (directory / EMULATION).exists():
        return None
    emulation_data = read_json(directory / EMULATION)
    with read_errors(directory / REPLIES) as path:
        return Emulation.read(emulation_data, polars.read_parquet(path))
