"""Places of the volumes of a fleet: directories, Parquet datasets, object stores, samples, clouds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from sledlab.errors import Error
from sledlab.traces import remote
from sledlab.traces.cloud import PREFIX as CLOUD
from sledlab.traces.cloud import Cloud
from sledlab.traces.columns import PARQUET
from sledlab.traces.openers import Parts, TextTrace, starts_as_parquet
from sledlab.traces.reading import ReadingOptions, TraceStart, common_zeros, read_start, start_of
from sledlab.traces.samples import PREFIX as SAMPLE
from sledlab.traces.samples import samples, trace_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.traces.read import Opener


PARTITION = "volume="
"""Beginning of the name of a directory that holds the Parquet files of a volume."""

MAX_NAME_BYTES = 255 - len(PARTITION)
"""Longest name of a volume in the name of a directory, in bytes: the limit of file systems."""

SHORT_SAMPLE_ENDING = "-60s"
"""End of the name of a sample that is the first minute of another sample."""

YEAR_NS = 365 * 86_400 * 10**9
"""Nanoseconds of a year: a later time is a date rather than a time since the start of a fleet."""

MAX_DISTANCE_NS = 20 * YEAR_NS
"""Longest time between the first requests of volumes that share a clock."""


def find_volumes(place: str, format_name: str | None) -> list[tuple[str, str, Opener]]:
    """Name, format and opener of each volume in a place, sorted by name.

    Raises:
        Error: There is no such place, or it holds no volumes.
    """
    if place == CLOUD or place.startswith(f"{CLOUD}:"):
        cloud = Cloud.parse(place)
        return [(cloud.name(number), "volume", cloud.volume(number)) for number in range(cloud.volumes)]
    if place == SAMPLE:
        return sorted((name, "csv", TextTrace(file)) for name, file in _files_by_sample_name().items())
    files = _files(place)
    datasets = _datasets(files)
    if datasets:
        return sorted(_open_datasets(datasets))
    files_by_volume = _named_files(place, files)
    if not files_by_volume:
        raise Error(f"`{place}` holds no traces", remedy="put a trace for each volume there")
    return sorted(_open_files(files_by_volume, format_name), key=lambda volume: volume[0])


def volume_directory(name: bytes) -> str:
    r"""The name of the directory for the Parquet files of a volume, with special characters escaped.

    Raises:
        Error: The volume has no name, or one that is too long for a directory.

    Examples:
        >>> volume_directory(b"138"), volume_directory(b"../usr,0")
        ('volume=138', 'volume=..%2Fusr%2C0')
        >>> volume_name(volume_directory(b"gr\xc3\xbcn \xff"))
        'grün \udcff'
    """
    escaped = quote(name, safe="")
    if not escaped or len(escaped) > MAX_NAME_BYTES:
        problem = (
            f"the name `{name[:40].decode(errors='replace')}...` of a volume is too long for a directory"
        )
        raise Error(
            problem if escaped else "a volume has no name",
            remedy=f"give it one of 1 to {MAX_NAME_BYTES} letters, or of fewer other characters",
        )
    return PARTITION + escaped


def volume_name(directory: str) -> str:
    """The volume whose Parquet files a directory of that name holds."""
    escaped = directory.removeprefix(PARTITION)
    return unquote_to_bytes(escaped).decode(errors="surrogateescape")


def _files_by_sample_name() -> dict[str, str]:
    """Samples by name: the complete recording where it is installed, else its first minute."""
    names = [sample.name for sample in samples()]
    complete = [
        name
        for name in names
        if not (name.endswith(SHORT_SAMPLE_ENDING) and name.removesuffix(SHORT_SAMPLE_ENDING) in names)
    ]
    return {name.removeprefix(SAMPLE): name for name in complete}


def _files(place: str) -> Mapping[str, str]:
    """Files in a directory and in its directories of volumes: paths or addresses, by their relative paths."""
    if remote.is_remote(place):
        return remote.files(place)
    directory = Path(place)
    if directory.is_file():
        raise Error(
            f"`{place}` is one file, and a fleet is a directory with a file for each volume",
            remedy=f"split it first: sledlab fleet split {place} --out DIR",
        )
    if not directory.is_dir():
        raise Error(f"there is no directory `{place}`", remedy="use a directory with a trace for each volume")
    entries = sorted(directory.iterdir())
    nested = [
        path for entry in entries if entry.name.startswith(PARTITION) for path in sorted(entry.iterdir())
    ]
    files = [entry for entry in [*entries, *nested] if entry.is_file()]
    return {entry.relative_to(directory).as_posix(): str(entry) for entry in files}


def _datasets(files_by_relative_path: Mapping[str, str]) -> dict[str, list[str]]:
    """Parquet files by volume, in order of their names; empty without directories of volumes."""
    files_by_volume: dict[str, list[str]] = {}
    for relative_path, file in sorted(files_by_relative_path.items()):
        directory, slash, name = relative_path.partition("/")
        if slash and directory.startswith(PARTITION) and not name.startswith((".", "_")):
            files_by_volume.setdefault(volume_name(directory), []).append(file)
    return files_by_volume


def _named_files(place: str, files_by_relative_path: Mapping[str, str]) -> dict[str, str]:
    """Files that hold a volume each, by the names of the volumes."""
    files_by_volume: dict[str, str] = {}
    for relative_path, file in files_by_relative_path.items():
        if "/" in relative_path or relative_path.startswith((".", "_")):
            continue
        name = trace_label(relative_path)
        if name in files_by_volume:
            raise Error(
                f"`{place}` has two traces of the volume `{name}`: {file} and {files_by_volume[name]}",
                remedy="rename one of the files",
            )
        files_by_volume[name] = file
    return files_by_volume


def _open_datasets(datasets: Mapping[str, Sequence[str]]) -> list[tuple[str, str, Opener]]:
    """Volumes that are Parquet files in a directory each, on one clock.

    Times that `split_volumes` wrote count from the start of the fleet. So only the first volume is read here,
    which shows whether times are dates.
    """
    parts_by_volume = {name: Parts(tuple(paths)) for name, paths in datasets.items()}
    first = _read_start(next(iter(parts_by_volume.values())))
    if first is None or (not first.has_date and first.ns < YEAR_NS):
        return [(name, PARQUET, replace(parts, base_ns=0)) for name, parts in parts_by_volume.items()]
    starts_by_volume = {name: _read_start(parts) for name, parts in parts_by_volume.items()}
    zeros = _volume_zeros(starts_by_volume)
    return [
        (name, PARQUET, replace(parts, base_ns=zero))
        for (name, parts), zero in zip(parts_by_volume.items(), zeros, strict=True)
    ]


def _open_files(files: Mapping[str, str], format_name: str | None) -> list[tuple[str, str, Opener]]:
    """Volumes that are a file each, on one clock."""
    openers_by_volume: dict[str, TextTrace | Parts] = {}
    starts_by_volume: dict[str, TraceStart | None] = {}
    for name, file in files.items():
        openers_by_volume[name], starts_by_volume[name] = _open_file(file, format_name)
    zeros = _volume_zeros(starts_by_volume)
    return [
        (name, PARQUET if isinstance(opener, Parts) else opener.reading.format, replace(opener, base_ns=zero))
        for (name, opener), zero in zip(openers_by_volume.items(), zeros, strict=True)
    ]


def _volume_zeros(starts_by_volume: Mapping[str, TraceStart | None]) -> list[int | None]:
    """The time of each volume that becomes 0.

    Raises:
        Error: Some volumes have dates and others have none, or dates are decades apart.
    """
    starts = [(name, start) for name, start in starts_by_volume.items() if start]
    dated_ns = {name: start.ns for name, start in starts if start.has_date}
    undated_ns = {name: start.ns for name, start in starts if not start.has_date}
    if dated_ns and undated_ns:
        reason = "the times of the second count from no date"
        first, second = next(iter(dated_ns)), next(iter(undated_ns))
    elif dated_ns and max(dated_ns.values()) - min(dated_ns.values()) > MAX_DISTANCE_NS:
        first, second = (
            min(dated_ns, key=dated_ns.__getitem__),
            max(dated_ns, key=dated_ns.__getitem__),
        )
        years = (dated_ns[second] - dated_ns[first]) / YEAR_NS
        reason = f"their first requests are {years:.0f} years apart"
    else:
        return common_zeros(list(starts_by_volume.values()))
    raise Error(
        f"the volumes `{first}` and `{second}` share no clock: {reason}",
        remedy="put the volumes of each clock in a directory of their own",
    )


def _open_file(file: str, format_name: str | None) -> tuple[TextTrace | Parts, TraceStart | None]:
    """The opener of a file and its first request; a file that cannot be read raises no error here."""
    text_trace = TextTrace(file, ReadingOptions(format_name or ""))
    with suppress(Error):
        if format_name == PARQUET or (format_name is None and starts_as_parquet(file)):
            return Parts((file,)), _read_start(Parts((file,)))
        source = text_trace.open()
        text_trace = replace(text_trace, reading=ReadingOptions(source.format))
        return text_trace, start_of(source)
    return text_trace, None


def _read_start(opener: TextTrace | Parts) -> TraceStart | None:
    """The first request of a volume on its clock; `None` for a volume that cannot be read.

    A volume that cannot be read raises no error here, but when its requests are used.
    """
    with suppress(Error):
        return read_start(opener)
    return None
