"""One of the two runs that are compared: its requests, its energy and its experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import correlated_requests
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.results import read_errors, read_json
from sledlab.runs.recording import REQUESTS, SUMMARY
from sledlab.runs.requests import column_types

if TYPE_CHECKING:
    import numpy.typing as npt

    from sledlab.runs.result import Result

COLUMNS = ("id", "lbn", "blocks", "op", "response_ns")
"""Columns that are read: the requests, and how long each took."""


@dataclass(frozen=True)
class Side:
    """One run.

    Attributes:
        name: Its name in sentences.
        frame: Its requests by id: `id`, `lbn`, `blocks`, `op`, `response_ns`.
        energy_j: Its energy, where that is known.
        config: Its experiment as plain data, where that is known.
        saturated: Whether its queue kept growing.
        correlated_requests: Successive requests that are worth one independent request.
    """

    name: str
    frame: polars.DataFrame = field(repr=False)
    energy_j: float | None = None
    config: dict[str, Any] = field(default_factory=dict, repr=False)
    saturated: bool = False
    correlated_requests: float = math.inf

    def with_name(self, name: str) -> Side:
        """The run under another name."""
        return replace(self, name=name)

    @property
    def response_ms(self) -> npt.NDArray[np.float64]:
        """Response times in ms, by id."""
        return self.frame["response_ns"].to_numpy() / 1e6

    def statistics(self) -> dict[str, float]:
        """Mean, percentiles and maximum of the response times, in ms."""
        times = self.response_ms
        percentiles = {f"p{name}": float(np.percentile(times, share)) for name, share in SHARES.items()}
        return {"mean": float(times.mean()), **percentiles, "max": float(times.max())}

    def to_dict(self) -> dict[str, Any]:
        """Statistics and energy as plain data."""
        return {"name": self.name, "response_time_ms": self.statistics(), "energy_j": self.energy_j}


ARRIVAL_INTERVALS = 48
"""Intervals in which arrivals are counted, for their dispersion."""

SHARES = {"50": 50.0, "90": 90.0, "99": 99.0, "999": 99.9}
"""Percentiles of response times, by the ending of their names."""


def side(run: Result | str | Path, name: str) -> Side:
    """A run, from its result, the directory it left, or a table of its requests.

    Raises:
        Error: The path does not exist, or holds no requests.
    """
    if not isinstance(run, (str, Path)):
        return _side(name, run.requests, run.summary)
    path = Path(run)
    if not path.is_dir():
        return _side(_name(path), _read(path), None)
    table, summary = path / REQUESTS, path / SUMMARY
    if not table.exists():
        raise Error(
            f"`{run}` is not the result of a run: there is no {table.name}",
            remedy="give a directory that `sledlab simulate --out` wrote, or a table of requests",
        )
    summary_data = read_json(summary) if summary.exists() else None
    with read_errors(summary):
        return _side(_name(path), _read(table), summary_data)


def _name(path: Path) -> str:
    """The last part of a path, which is usually enough to distinguish two runs."""
    return path.resolve().name


def _side(name: str, frame: polars.DataFrame, summary: Any) -> Side:
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise Error(
            f"{name}: the column `{missing[0]}` is missing",
            remedy=f"a table of requests has {', '.join(COLUMNS)}; `--requests FILE` writes one",
        )
    ordered = frame.select(COLUMNS).sort("id")
    if ordered["id"].n_unique() != ordered.height:
        raise Error(f"{name}: an id occurs twice", remedy="give the table of a single run")
    if summary is None:
        return Side(name, ordered, correlated_requests=_correlated_requests(frame))
    energy, times = float(summary["energy_j"]["total"]), summary["response_time_ms"]
    is_saturated, correlated = bool(summary["saturated"]), float(times["correlated_requests"])
    return Side(name, ordered, energy, dict(summary["config"]), is_saturated, correlated)


def _correlated_requests(frame: polars.DataFrame) -> float:
    """Estimate how many successive requests of a table are correlated; infinite without arrival times.

    The load is the share of time in which a request is in the system. Replays with a fixed number of
    outstanding requests therefore count as overloaded.
    """
    if "arrival_ns" not in frame.columns or frame.height < 2:
        return math.inf
    sorted_frame = frame.sort("arrival_ns")
    arrivals = sorted_frame["arrival_ns"].to_numpy().astype(np.float64)
    ends = np.maximum.accumulate(arrivals + sorted_frame["response_ns"].to_numpy())
    idle_ns = np.maximum(arrivals[1:] - ends[:-1], 0).sum()
    counts, _ = np.histogram(arrivals, bins=min(ARRIVAL_INTERVALS, frame.height))
    elapsed_ns = ends[-1] - arrivals[0]
    load = 1 - float(idle_ns / elapsed_ns) if elapsed_ns > 0 else 1.0
    return correlated_requests(load, float(counts.var(ddof=1) / counts.mean()))


def _read(path: Path) -> polars.DataFrame:
    read_csv = partial(polars.read_csv, schema_overrides=column_types(COLUMNS), infer_schema_length=None)
    readers: dict[str, Any] = {".parquet": polars.read_parquet, ".csv": read_csv}
    if path.suffix.lower() not in readers:
        raise Error(
            f"`{path}` is not a table of requests", remedy="give a .parquet or .csv file, or a directory"
        )
    try:
        frame: polars.DataFrame = readers[path.suffix.lower()](path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise Error(f"cannot read the requests `{path}`: {error}") from error
    return frame


def paired_responses(a: Side, b: Side) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Response times in ns of the requests of both runs, pair by pair.

    Raises:
        Error: The requests of the runs are not the same.
    """
    for this, other in ((a, b), (b, a)):
        unmatched = this.frame.join(other.frame, on="id", how="anti")
        if unmatched.height:
            raise Error(
                f"{this.name} has {unmatched.height:,} requests that {other.name} has not, "
                f"the first with id {unmatched['id'][0]}",
                remedy="run both over the same trace or workload, seed, warm-up and limit",
            )
    for column in COLUMNS[1:-1]:
        is_different = a.frame[column].cast(str) != b.frame[column].cast(str)
        if is_different.any():
            index = int(is_different.arg_true()[0])
            first, second = a.frame.row(index, named=True), b.frame.row(index, named=True)
            raise Error(
                f"request {first['id']} is not the same in both: {column} is {first[column]} in {a.name} "
                f"and {second[column]} in {b.name}",
                remedy="run both over the same trace or workload, with the same seed and device size",
            )
    return a.frame["response_ns"].to_numpy(), b.frame["response_ns"].to_numpy()
