"""Traces that hold many volumes, taken apart into a Parquet dataset with a directory for each volume.

The trace is read once. Its requests are sorted by volume into `PARTS` files as they are read, and each of
these files then into the files of its volumes: the number of open files and of requests in memory does not
grow with the number of volumes.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error, Place
from sledlab.files import atomic_directory, write_errors
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.traces import table as tables
from sledlab.traces.columns import BLOCK_BYTES, PARQUET
from sledlab.traces.openers import Part, TextTrace, read_rows, starts_as_parquet
from sledlab.traces.parquet import ParquetWriter
from sledlab.traces.reading import ReadingOptions
from sledlab.traces.table_reader import TraceClock, check_types, from_batches
from sledlab.traces.volume_sources import volume_directory
from sledlab.traces.volumes import Volume, read_volumes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy

    Tell = Callable[[int, float | None], Any]

PARTS = 128
"""Files into which requests are sorted first."""

MAX_VOLUMES = 2**16
"""Most volumes of a trace: device numbers have 16 bits."""

BLOCK_RECORDS = 2**20
"""Requests of a part that are sorted together."""

GROUP_ROWS = 2**16
"""Rows of a row group, for volumes with at least as many requests."""

MAX_BUFFERED_REQUESTS = 2**21
"""Most requests of a part kept in memory, over all of its volumes, to write larger row groups."""

RECORD = [("arrival", "<u8"), ("lbn", "<u8"), ("blocks", "<u4"), ("device", "<u2"), ("kind", "<u2")]
"""A request as `_native.Sorter` writes it."""

READING_SHARE = 0.6
"""Share of the time that reading takes, about, for the progress bar."""


def split_volumes(
    files: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    format: str | None = None,
    sort_window: int = 0,
    progress: Tell | None = None,
) -> list[Volume]:
    """Split a trace of many volumes into Parquet files: a directory `volume=NAME` for each volume.

    Volumes keep the names that they have in the trace, and all share its clock. `out` appears only when it
    is complete; the next split removes temporary files of a killed one.

    Args:
        files: The trace: a file, or several of which each continues the one before, such as one for each
            day. Text in a format that names devices (`alibaba`, `tencent`, `msr`, `spc`, `blkparse`) or
            numbers them (`csv`), plain or compressed, or Parquet with a column `volume` or `device`; on
            paths or at addresses.
        out: The directory to make; it may exist if it is empty.
        format: The format of the files; by default detected from their content.
        sort_window: As in `read_trace`.
        progress: Called now and then with the requests read and the completed share where known.

    Returns:
        The volumes, sorted by name, as `read_volumes(out)` reads them.

    Raises:
        Error: A file cannot be read, or does not continue the one before; a volume has a name that cannot
            be that of a directory; there are more than 65,536 volumes; or `out` is not empty.

    Examples:
        >>> import pathlib, tempfile, sledlab as sl
        >>> directory = pathlib.Path(tempfile.mkdtemp())
        >>> day = directory / "day.csv"
        >>> _ = day.write_text("12,R,0,4096,1577808000000000\\n138,W,8192,512,1577808000000250\\n")
        >>> volumes = sl.split_volumes(day, directory / "fleet")
        >>> [(volume.name, volume.trace.frame()["time_us"].item()) for volume in volumes]
        [('12', 0.0), ('138', 250.0)]
    """
    paths = [files] if isinstance(files, (str, Path)) else list(files)
    if not paths:
        raise Error("no file was given", remedy="name one")
    out_directory = Path(out)
    with atomic_directory(out_directory) as draft, ExitStack() as stack:
        scratch_directory = Path(stack.enter_context(TemporaryDirectory(prefix=".sorting-", dir=draft)))
        sorter = _native.Sorter(str(scratch_directory), PARTS)
        reading = _VolumeReader(format, sort_window)
        for index, file in enumerate(paths):
            sorter.take(reading.source(str(file)), progress and _file_progress(progress, index, len(paths)))
        total = sorter.finish()
        if total == 0:
            raise Error("the trace holds no requests", Place(str(paths[0]), 0, 0, ""), "check the file")
        written = 0
        for part in range(PARTS):
            file = scratch_directory / str(part)
            with write_errors(out_directory):
                for row_count in _write_volumes(file, draft, reading.name):
                    written += row_count
                    if progress:
                        progress(total, READING_SHARE + (1 - READING_SHARE) * written / total)
                file.unlink()
    return read_volumes(out_directory)


def _file_progress(progress: Tell, index: int, file_count: int) -> Tell:
    """The progress function for one of several files, which reports the progress over all files."""

    def tell(count: int, share: float | None) -> None:
        progress(count, None if share is None else READING_SHARE * (index + share) / file_count)

    return tell


class _VolumeReader:
    """Opens files that continue one another, and keeps the names of their volumes."""

    def __init__(self, format_name: str | None, sort_window: int) -> None:
        self.format_name = format_name
        self.sort_window = sort_window
        self._continuation = _native.Continuation()
        self._numbers_by_name: dict[str, int] = {}
        self._names: list[bytes] = []
        self._devices_by_volume: dict[str, object] = {}
        self._clock: TraceClock | None = None
        self._first_format = ""

    def source(self, file: str) -> _native.Source:
        """Open the requests of a file, whose device numbers stand for volumes."""
        if self.format_name == PARQUET or (self.format_name is None and starts_as_parquet(file)):
            self._check(file, PARQUET)
            return self._open_parquet(file)
        reading = ReadingOptions(self.format_name or "", sort_window=self.sort_window)
        source = TextTrace(file, reading).open_shared(self._continuation)
        self._check(file, source.format)
        return source

    def name(self, number: int) -> bytes:
        """The name of the volume with a number."""
        if len(self._names) <= number:
            self._names = self._continuation.names() or [name.encode() for name in self._numbers_by_name]
        if not self._names:
            return b"%d" % number
        return self._names[number]

    def _check(self, file: str, format_name: str) -> None:
        self._first_format = self._first_format or format_name
        if format_name != self._first_format:
            raise Error(
                f"the file is `{format_name}`, and those before it are `{self._first_format}`",
                Place(file, 0, 0, ""),
                "split files of different formats separately",
            )

    def _open_parquet(self, file: str) -> _native.Source:
        with Part(file) as part:
            schema = part.schema
            columns = part.columns()
        has_names = "volume" in schema
        if not has_names and "device" not in schema:
            raise Error(
                "the trace has no column for the volume",
                Place(file, 0, 0, ""),
                "a trace of many volumes has the column `volume` or `device`",
            )
        self._check_clock(file, check_types(schema, file))
        if has_names:
            columns.append("volume")
        batches = self._batches(file, columns, has_names=has_names)
        reading = ReadingOptions(sort_window=self.sort_window)
        return from_batches(file, schema, batches, reading, self._continuation)

    def _check_clock(self, file: str, clock: TraceClock) -> None:
        self._clock = self._clock or clock
        if clock is not self._clock:
            raise Error(
                f"the times are {clock.value}, and those of the files before it are {self._clock.value}",
                Place(file, 0, 0, ""),
                "give all files the same type of times",
            )

    def _batches(self, file: str, columns: list[str], *, has_names: bool) -> Iterator[polars.DataFrame]:
        rows_before = 0
        for batch in read_rows((file,), columns):
            if has_names and "device" in batch.columns:
                self._check_devices(batch, file, rows_before)
            yield self._number_volumes(batch, file, rows_before) if has_names else batch
            rows_before += batch.height

    def _check_devices(self, batch: polars.DataFrame, file: str, rows_before: int) -> None:
        """Refuse a volume with several devices, whose addresses would be laid over each other.

        Raises:
            Error: A volume has requests to several devices.
        """
        pairs = batch.select("volume", "device").unique(maintain_order=True)
        for volume, device in pairs.iter_rows():
            if self._devices_by_volume.setdefault(str(volume), device) != device:
                raise Error(
                    f"the volume `{volume}` has several devices",
                    Place(file, rows_before + 1, 0, ""),
                    "name each device in the column `volume`, or remove the column `device`",
                )

    def _number_volumes(self, batch: polars.DataFrame, file: str, rows_before: int) -> polars.DataFrame:
        """The batch with volume numbers, as `device`, in the place of volume names."""
        names = batch["volume"]
        if names.null_count():
            row = rows_before + (names.is_null().arg_max() or 0) + 1
            raise Error("volume: the value is missing", Place(file, row, 0, ""), "every request has a volume")
        names_as_text = names.cast(polars.String)
        numbers_by_name = {
            name: self._volume_number(name, file, rows_before)
            for name in names_as_text.unique(maintain_order=True)
        }
        volume_numbers = names_as_text.replace_strict(
            list(numbers_by_name), list(numbers_by_name.values()), return_dtype=polars.Int64
        )
        # The number takes the place of a column `device`.
        return batch.drop("volume").with_columns(volume_numbers.alias("device"))

    def _volume_number(self, name: str, file: str, rows_before: int) -> int:
        number = self._numbers_by_name.setdefault(name, len(self._numbers_by_name))
        if number >= MAX_VOLUMES:
            raise Error(
                f"more than {MAX_VOLUMES:,} volumes",
                Place(file, rows_before + 1, 0, ""),
                "split the file by volume first",
            )
        return number


def _write_volumes(file: Path, directory: Path, volume_name: Callable[[int], bytes]) -> Iterator[int]:
    """Write the volumes of a part; yield the number of requests after each block written."""
    with _Writers(directory, volume_name) as writers, file.open("rb") as records:
        while len(block := np.fromfile(records, dtype=RECORD, count=BLOCK_RECORDS)):
            writers.take(block)
            yield len(block)


class _Writers:
    """The Parquet files of the volumes of a part, while they are written."""

    def __init__(self, directory: Path, volume_name: Callable[[int], bytes]) -> None:
        self._directory = directory
        self._volume_name = volume_name
        self._blocks_by_volume: dict[int, list[numpy.ndarray]] = {}
        self._rows_by_volume: dict[int, int] = {}
        self._writers_by_volume: dict[int, ParquetWriter] = {}

    def __enter__(self) -> _Writers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for number in list(self._blocks_by_volume):
                self._write_buffer(number)
            for writer in self._writers_by_volume.values():
                writer.close()
        for writer in self._writers_by_volume.values():
            writer.drop()

    def take(self, block: numpy.ndarray) -> None:
        """Add requests, in order of arrival, to the buffers of their volumes, and write large groups."""
        order = np.argsort(block["device"], kind="stable")
        ordered = block[order]
        bounds = np.flatnonzero(np.diff(ordered["device"])) + 1
        for run in np.split(ordered, bounds):
            number = int(run["device"][0])
            self._blocks_by_volume.setdefault(number, []).append(run.copy())
            self._rows_by_volume[number] = self._rows_by_volume.get(number, 0) + len(run)
        buffered_total = sum(self._rows_by_volume.values())
        min_rows = (
            GROUP_ROWS
            if buffered_total <= MAX_BUFFERED_REQUESTS
            else min(GROUP_ROWS, buffered_total // len(self._rows_by_volume))
        )
        for number in [number for number, rows in self._rows_by_volume.items() if rows >= min_rows]:
            self._write_buffer(number).write_group()

    def _write_buffer(self, number: int) -> ParquetWriter:
        """Write the buffered rows of a volume."""
        if number not in self._writers_by_volume:
            directory = self._directory / volume_directory(self._volume_name(number))
            directory.mkdir()
            self._writers_by_volume[number] = ParquetWriter(directory / "part-0.parquet")
        writer = self._writers_by_volume[number]
        writer.write(_to_table(np.concatenate(self._blocks_by_volume.pop(number))))
        del self._rows_by_volume[number]
        return writer


def _to_table(records: numpy.ndarray) -> polars.DataFrame:
    """Requests as a table with the columns of a trace."""
    packed_kind = records["kind"]
    lengths = records["blocks"].astype(np.int64) * BLOCK_BYTES - (packed_kind >> 3).astype(np.int64) * 8
    return polars.DataFrame(
        {
            "time_us": records["arrival"] / 1000,
            "op": tables.categories(packed_kind & 3, ["R", "W", "T", "F"]),
            "offset_bytes": (records["lbn"] * BLOCK_BYTES).astype(np.int64),
            "length_bytes": lengths,
            "metadata": ((packed_kind >> 2) & 1).astype(np.uint8),
        }
    )
