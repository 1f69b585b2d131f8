"""Traces: files in any known format, Parquet, data frames and arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.model_choice import ModelChoice
from sledlab.traces import table as tables
from sledlab.traces.columns import PARQUET, is_parquet
from sledlab.traces.frames import to_frame
from sledlab.traces.openers import BATCH_ROWS, Part, read_rows
from sledlab.traces.reading import ReadingOptions, check_table_options, column_map
from sledlab.traces.table_reader import check_types, from_batches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.lazy import polars


class Opener(Protocol):
    """Opens the requests of a trace, as often as they are needed."""

    def open(self) -> _native.Source:
        """Open the requests at the first."""


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
    reading: ReadingOptions = field(default=ReadingOptions())

    def open(self) -> _native.Source:
        """Open the requests at the first."""
        return self.open_shared(_native.Continuation())

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests, with device names, clock and notes in `continuation`."""
        return self.reading.open(self.path, continuation)


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file with the columns of a trace, read a row group at a time."""

    path: str
    reading: ReadingOptions = field(default=ReadingOptions())

    def open(self) -> _native.Source:
        """Open the requests at the first."""
        return self.open_shared(_native.Continuation())

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests, with clock and notes in `continuation`."""
        check_table_options(self.reading, self.path)
        with Part(self.path) as part:
            columns, schema = part.columns(), part.schema
        batches = read_rows((self.path,), columns)
        return from_batches(self.path, schema, batches, self.reading, continuation)


@dataclass(frozen=True)
class Table:
    """A trace in memory."""

    table: polars.DataFrame
    reading: ReadingOptions = field(default=ReadingOptions())

    def open(self) -> _native.Source:
        """Open the requests at the first."""
        return self.open_shared(_native.Continuation())

    def open_shared(self, continuation: _native.Continuation) -> _native.Source:
        """Open the requests, with clock and notes in `continuation`."""
        batches = self.table.iter_slices(BATCH_ROWS)
        return from_batches("table", self.table.schema, batches, self.reading, continuation)


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
        """Open the requests at the first."""
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
        """Open the requests at the first."""
        return self.opener.open()

    def with_seed(self, seed: int) -> Trace:
        """The trace generated from another seed; a recorded trace stays as it is."""
        opener = self.opener
        return replace(self, opener=opener.with_seed(seed)) if isinstance(opener, SeededOpener) else self

    def info(
        self,
        *,
        cache_mb: Sequence[int] | None = None,
        device: _native.Experiment | ModelChoice | str | None = None,
    ) -> dict[str, Any]:
        """The characterization of the trace: rate, sizes, working set, sequentiality, bursts, reuse.

        Args:
            cache_mb: Sizes of the caches of `cache_hits` and `written_reuse`, in 2^20 bytes; whole numbers in
                rising order. Default: 64, 256 and 512.
            device: A device of which the cylinders that requests use are counted, hour by hour.

        Returns:
            Plain data; units are in the names. `devices` has the number, the name in the trace and the count
            of requests of each device; `notes` has what the reader omitted and noticed, as sentences.

        Raises:
            Error: The trace is invalid; the error has the location.
        """
        source = self.open()
        if isinstance(device, str | ModelChoice):
            device = _native.Experiment().with_device(str(device))
        result: dict[str, Any] = json.loads(
            _native.characterize(source, cache_sizes_mb=cache_mb, device=device)
        )
        for row in result["devices"]:
            row["name"] = source.device_name(row["device"]).decode(errors="replace")
        return {**result, "notes": source.continuation.notes()}

    def notes(self) -> list[str]:
        """What the reader omits and notices, as sentences. The trace is read completely.

        Examples:
            >>> import sledlab as sl
            >>> columns = {"time_us": [0, 5], "op": ["R", "W"], "offset_bytes": [0, 512]}
            >>> sl.trace({**columns, "length_bytes": [512, 0]}).notes()
            ['omitted 1 request of length 0']
        """
        source = self.open()
        _native.survey(source)
        return source.continuation.notes()

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
        """Write the trace to a file and return the number of operations written.

        Args:
            path: The file; `.csv`, `.csv.gz`, `.csv.zst`, `.txt` (DiskSim ascii) or `.parquet`.
            format: One of those of `sledlab trace convert --to`; by default as the name of the file ends.

        Raises:
            Error: The format is unknown or cannot express a request.
        """
        return tables.write(self.open(), str(path), format)


def read_trace(
    path: str | Path,
    format: str | None = None,
    *,
    sort_window: int = 0,
    columns: str | Mapping[str, str] | None = None,
    start: str = "first",
    spread_s: float = 0.0,
    sector_bytes: int = 0,
    from_s: float = 0.0,
    until_s: float = 0.0,
) -> Trace:
    """The trace in a file.

    The file may be plain or compressed (gzip, zstd, bzip2, xz), or the only file in a tar or zip archive.
    Parquet files and the project's own CSV have the columns `time_us`, `op` (`R`, `W`, `T` trim, `F` flush),
    `offset_bytes` and `length_bytes`, and may have `device` and `metadata`. Requests of length 0 are omitted.

    In Parquet and tables, numbers in `time_us` are microseconds. A Duration has its own unit.

    Args:
        path: The file.
        format: Its format; by default detected from its content.
        sort_window: Puts requests in order of arrival if each stands at most this many requests too late in
            the file; 0 refuses a trace that is not in order.
        columns: The columns of a table in text: `time=epoch_s:s,op=verb,offset=lba:sectors,length=bytes`, or
            a mapping. A column is a name or a number from 1. Units of `time` are `ns`, `100ns`, `us`, `ms`,
            `s` and `datetime`; of `offset` and `length` `bytes`, `sectors` or a number of bytes.
        start: The instant that becomes time 0: the first request (`first`), or the zero of the times in the
            file (`zero`) for formats whose times count from the start of the trace.
        spread_s: Resolution of the times in s: requests with equal times are distributed evenly over it.
        sector_bytes: Bytes of a sector in the format `srt`; 0 for those that the trace states.
        from_s: Start of the part to read, in s from the first request; times then count from it.
        until_s: End of the part to read; 0 for the end of the trace.

    Raises:
        Error: The file cannot be read, or its format is not known.

    Examples:
        >>> import tempfile, pathlib, sledlab as sl
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
        >>> _ = path.write_text("time_us,op,offset_bytes,length_bytes\\n0,R,0,4096\\n250,W,8192,512\\n")
        >>> sl.read_trace(path).info()["requests"]
        2
    """
    if not isinstance(path, str | PathLike):
        raise Error(
            f"expected the path of a trace, found {type(path).__name__}",
            remedy="sl.trace reads tables in memory",
        )
    reading = ReadingOptions(
        format or "", column_map(columns), sort_window, start, spread_s, sector_bytes, from_s, until_s
    )
    return trace_in_file(str(path), reading)


def trace_in_file(path: str, reading: ReadingOptions) -> Trace:
    """The trace in a file, as `read_trace`.

    Raises:
        Error: The file cannot be read, or its format is not known.
    """
    if is_parquet(path, reading.format or None):
        opener = ParquetFile(path, reading)
        opener.open()
        return Trace(path, PARQUET, opener)
    if path == "-":
        return Trace(path, reading.format, File(path, reading))
    detected_format = reading.open(path, _native.Continuation()).format
    # Columns that a user describes are no format that is found again.
    return Trace(
        path,
        detected_format,
        File(path, reading if reading.columns else replace(reading, format=detected_format)),
    )


def trace(data: Any, *, sort_window: int = 0, start: str = "first", spread_s: float = 0.0) -> Trace:
    """A trace from data in memory.

    Args:
        data: A polars, pandas or Arrow table, or a mapping from column names to arrays of equal
            length: `time_us`, `op`, `offset_bytes`, `length_bytes` and maybe `device` and `metadata`, as in
            `read_trace`.
        sort_window: As in `read_trace`.
        start: As in `read_trace`.
        spread_s: As in `read_trace`.

    Raises:
        Error: A column is missing or of a wrong type. Wrong values in rows raise an error when the trace is
            used.

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
    table = to_frame(data)
    check_types(table.schema, "table")
    reading = ReadingOptions(sort_window=sort_window, start=start, spread_s=spread_s)
    return Trace("table", "table", Table(table, reading))


def file_opener(table: Mapping[str, Any]) -> File | ParquetFile:
    """The opener of the file that the table `[trace]` of an experiment names."""
    path, reading = str(table["file"]), ReadingOptions.from_table(table)
    return ParquetFile(path, reading) if is_parquet(path, reading.format or None) else File(path, reading)


def as_trace(source: Trace | str | Path | Any) -> Trace:
    """`source` as a trace: a trace itself, the trace in a file, or a trace from data in memory.

    Raises:
        Error: The file cannot be read, or `source` is none of these.
    """
    if isinstance(source, Trace):
        return source
    if isinstance(source, (str, Path)):
        return read_trace(source)
    if isinstance(source, ModelChoice):
        raise Error(
            f"`{source.name}` is a {source.kind}, and a trace is required",
            remedy="write the requests of a workload to a file with `sledlab trace generate`",
        )
    return trace(source)
