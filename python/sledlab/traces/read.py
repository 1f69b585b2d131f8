"""Traces: files in any known format, Parquet, data frames and arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sledlab import _native
from sledlab.errors import Error
from sledlab.lazy import numpy, polars
from sledlab.traces import table as tables
from sledlab.traces.columns import PARQUET, check_columns, is_parquet
from sledlab.traces.openers import BATCH_ROWS, Part, read_rows


class Opener(Protocol):
    """Opens the requests of a trace, as often as they are needed."""

    def open(self) -> _native.Source:
        """Opens the requests at the first."""


@runtime_checkable
class SeededOpener(Opener, Protocol):
    """An opener of requests that are generated from a seed."""

    def with_seed(self, seed: int) -> Opener:
        """The opener of the requests generated from another seed, where they are generated."""


@runtime_checkable
class IdentifiedOpener(Opener, Protocol):
    """An opener that identifies its requests without reading them."""

    def identity(self) -> str:
        """A text that differs for different requests; for local files it follows from their content."""


@dataclass(frozen=True)
class File:
    """A trace file that the simulator reads by itself."""

    path: str
    format: str | None
    sort_window: int = 0

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        return self.open_named(_native.Continuation())

    def open_named(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests; `continuation` collects the names of devices as they are read."""
        return _native.Source.open(self.path, self.format, self.sort_window, continuation=continuation)


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file with the columns of a trace, read a row group at a time."""

    path: str
    sort_window: int = 0

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        with Part(self.path) as part:
            columns, schema = part.columns("device"), part.schema
        return tables.from_batches(self.path, schema, read_rows((self.path,), columns), self.sort_window)


@dataclass(frozen=True)
class Table:
    """A trace in memory."""

    table: polars.DataFrame
    sort_window: int = 0

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        batches = self.table.iter_slices(BATCH_ROWS)
        return tables.from_batches("table", self.table.schema, batches, self.sort_window)


@dataclass(frozen=True)
class GeneratedRequests:
    """The requests of a workload generator, for a device of some capacity.

    Attributes:
        kind: The generator.
        parameters: Its parameters as TOML.
        seed: Root of its random numbers.
        capacity_blocks: Capacity of the device, in blocks.
        plugins: Plug-ins that may run; the generator may be one of them.
    """

    kind: str
    parameters: str
    seed: int
    capacity_blocks: int
    plugins: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        return _native.Source.generate(
            self.kind, self.parameters, self.seed, self.capacity_blocks, self.plugins
        )

    def with_seed(self, seed: int) -> GeneratedRequests:
        """This generator with another seed."""
        return replace(self, seed=seed)


@dataclass(frozen=True)
class Trace:
    """A trace: requests with arrival times, in order of arrival.

    Holds an opener of the requests, not the requests; every use reads them again.

    Attributes:
        name: The file, or `table` for data in memory.
        format: The format of the file.
        opener: Opens the requests.

    Examples:
        >>> import sledlab as sl
        >>> columns = {"time_us": [0, 5], "op": ["R", "W"], "offset_bytes": [0, 512]}
        >>> trace = sl.trace({**columns, "length_bytes": [512, 512]})
        >>> trace.info()["sequentiality"]["one_stream_share"]
        0.5
        >>> trace.head(1).row(0)
        (0.0, 'R', 0, 512, 0)
        >>> trace.frame().height, len(trace)
        (2, 2)
        >>> trace.write("/dev/null", format="csv")
        2
    """

    name: str
    format: str
    opener: Opener

    def open(self) -> _native.Source:
        """Opens the requests at the first."""
        return self.opener.open()

    def with_seed(self, seed: int) -> Trace:
        """The trace generated from another seed; a recorded trace stays as it is."""
        opener = self.opener
        return replace(self, opener=opener.with_seed(seed)) if isinstance(opener, SeededOpener) else self

    def info(self) -> dict[str, Any]:
        """The characterization of the trace: rate, sizes, working set, sequentiality, bursts, reuse.

        Returns:
            Plain data; units are in the names. `devices` has the number and the count of requests of each
            device, and its name where the format has names.

        Raises:
            Error: The trace is invalid; the error has the location.
        """
        continuation = _native.Continuation()
        source = self.opener.open_named(continuation) if isinstance(self.opener, File) else self.open()
        result: dict[str, Any] = json.loads(_native.characterize(source))
        names = [name.decode(errors="replace") for name in continuation.names()]
        for device in result["devices"]:
            if device["device"] < len(names):
                device["name"] = names[device["device"]]
        return result

    def __len__(self) -> int:
        """Return the number of operations. The trace is read completely to count them."""
        return _native.survey(self.open())[0]

    def __bool__(self) -> bool:
        """Return `True`, without reading the trace."""
        return True

    def head(self, rows: int = 10) -> polars.DataFrame:
        """The first operations, one row each; columns as in `read_trace`, and `device`."""
        return tables.to_frame(_native.limit(self.open(), operations=rows))

    def frame(self) -> polars.DataFrame:
        """All requests, one row each; columns as in `read_trace`, and `device`."""
        return tables.to_frame(self.open())

    def write(self, path: str | Path, format: str | None = None) -> int:
        """Writes the trace to a file and returns the number of operations written.

        Args:
            path: The file; `.csv`, `.csv.gz`, `.csv.zst`, `.txt` (DiskSim ascii) or `.parquet`.
            format: One of those of `sledlab trace convert --to`; by default as the name of the file ends.

        Raises:
            Error: The format is unknown or cannot express a request.
        """
        return tables.write(self.open(), str(path), format)


def read_trace(path: str | Path, format: str | None = None, *, sort_window: int = 0) -> Trace:
    """The trace in a file.

    The file may be plain or compressed (gzip, zstd, bzip2, xz), as detected from its content. Parquet files
    and the project's own CSV have the columns `time_us` (from the start of the trace), `op` (`R`, `W`, `T`
    trim, `F` flush), `offset_bytes` and `length_bytes`, and may have `device`.

    Args:
        path: The file.
        format: Its format; by default detected from its content.
        sort_window: Puts requests in order of arrival if each stands at most this many requests too late in
            the file; 0 refuses a trace that is not in order.

    Raises:
        Error: The file cannot be read, or its format is not known.

    Examples:
        >>> import tempfile, pathlib, sledlab as sl
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
        >>> _ = path.write_text("time_us,op,offset_bytes,length_bytes\\n0,R,0,4096\\n250,W,8192,512\\n")
        >>> sl.read_trace(path).info()["requests"]
        2
    """
    path = str(path)
    if is_parquet(path, format):
        opener: Opener = ParquetFile(path, sort_window)
        opener.open()
        return Trace(path, PARQUET, opener)
    if path == "-":
        return Trace(path, format or "", File(path, format, sort_window))
    opened = _native.Source.open(path, format, sort_window)
    return Trace(path, opened.format, File(path, opened.format, sort_window))


def trace(data: Any, *, sort_window: int = 0) -> Trace:
    """A trace from data in memory.

    Args:
        data: A polars, pandas or Arrow table, or a mapping from column names to arrays of equal
            length: `time_us`, `op`, `offset_bytes`, `length_bytes` and maybe `device`, as in `read_trace`.
        sort_window: As in `read_trace`.

    Raises:
        Error: A column is missing. Wrong values in rows raise an error when the trace is used.

    Examples:
        >>> import numpy as np, sledlab as sl
        >>> n = 1000
        >>> data = {
        ...     "time_us": np.arange(n) * 2000,
        ...     "op": ["R"] * n,
        ...     "offset_bytes": np.arange(n) * 4096,
        ...     "length_bytes": np.full(n, 4096),
        ... }
        >>> sl.simulate(sl.trace(data), "mems-g2").count
        1000
    """
    table = _to_frame(data)
    columns = check_columns(table.columns, "table")
    return Trace("table", "table", Table(table.select(columns), sort_window))


def file_opener(path: str, format: str | None, sort_window: int) -> File | ParquetFile:
    """The opener of a trace file."""
    return ParquetFile(path, sort_window) if is_parquet(path, format) else File(path, format, sort_window)


def as_trace(source: Any) -> Trace:
    """`source` as a trace: a trace itself, the trace in a file, or a trace from data in memory."""
    if isinstance(source, Trace):
        return source
    if isinstance(source, (str, Path)):
        return read_trace(source)
    return trace(source)


def _to_frame(data: Any) -> polars.DataFrame:
    if isinstance(data, polars.DataFrame):
        return data
    try:
        if hasattr(data, "columns") and hasattr(data, "iloc"):
            return polars.DataFrame({name: _column(data[name]) for name in data.columns}, nan_to_null=True)
        if isinstance(data, Mapping):
            return polars.DataFrame({name: _column(values) for name, values in data.items()})
        if hasattr(data, "__arrow_c_stream__"):
            return polars.DataFrame(data)
    except (polars.exceptions.PolarsError, TypeError, ValueError) as error:
        raise Error(f"the columns cannot be read: {str(error).splitlines()[0]}") from error
    raise Error(
        f"cannot make a trace of {type(data).__name__}",
        remedy="give a path, a polars, pandas or Arrow table, or a mapping of columns",
    )


def _column(values: Any) -> Any:
    """Return a column as polars reads it: without pyarrow, and numbers of one type."""
    if isinstance(values, (list, tuple)):
        array = numpy.array(values)
        return array if array.dtype.kind in "iuf" else values
    if not hasattr(values, "iloc"):
        return values
    array = values.to_numpy()
    if array.dtype != numpy.object_:
        return array
    return [None if value is None or value != value else value for value in array]  # noqa: PLR0124 - NaN
