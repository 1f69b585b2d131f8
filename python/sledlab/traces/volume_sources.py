"""Places of the volumes of a fleet: directories, Parquet datasets, object stores, samples, clouds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from sledlab import _native
from sledlab.errors import Error
from sledlab.traces import remote
from sledlab.traces.cloud import PREFIX as CLOUD
from sledlab.traces.cloud import Cloud
from sledlab.traces.columns import PARQUET
from sledlab.traces.openers import Parts, TextTrace, starts_as_parquet
from sledlab.traces.samples import PREFIX as SAMPLE
from sledlab.traces.samples import samples, trace_label
from sledlab.traces.table_reader import DATE_OFFSET_NS, TraceClock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.traces.read import Opener

    Start = tuple[TraceClock | None, int | None]
    """The clock of a volume and the time of its first request, for dates since 1970; `None` if unknown."""

PARTITION = "volume="
"""Beginning of the name of a directory that holds the Parquet files of a volume."""

LONGEST = 255 - len(PARTITION)
"""Longest name of a volume in the name of a directory, in bytes: the limit of file systems."""

SHORT_SAMPLE_ENDING = "-60s"
"""End of the name of a sample that is the first minute of another sample."""

YEAR_NS = 365 * 86_400 * 10**9

MAX_DISTANCE_NS = 20 * YEAR_NS
"""Longest time between the first requests of volumes in different formats that may share a clock."""


def find_volumes(place: str, form: str | None) -> list[tuple[str, str, Opener]]:
    """Name, format and opener of each volume in a place, sorted by name.

    Raises:
        Error: There is no such place, or it holds no volumes.
    """
    if place == CLOUD or place.startswith(f"{CLOUD}:"):
        cloud = Cloud.parse(place)
        return [(cloud.name(number), "volume", cloud.volume(number)) for number in range(cloud.volumes)]
    if place == SAMPLE:
        return sorted((name, "csv", TextTrace(file)) for name, file in _samples().items())
    files = _files(place)
    datasets = _datasets(files)
    if datasets:
        return sorted(_open_datasets(datasets))
    texts = _named_files(place, files)
    if not texts:
        raise Error(f"`{place}` holds no traces", remedy="put a trace for each volume there")
    return sorted(_open_files(texts, form), key=lambda each: each[0])


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
    canonical = quote(name, safe="")
    if not canonical or len(canonical) > LONGEST:
        shown = f"the name `{name[:40].decode(errors='replace')}...` of a volume is too long for a directory"
        raise Error(
            shown if canonical else "a volume has no name",
            remedy=f"give it one of 1 to {LONGEST} letters, or of fewer other characters",
        )
    return PARTITION + canonical


def volume_name(directory: str) -> str:
    """The volume whose Parquet files a directory of that name holds."""
    canonical = directory.removeprefix(PARTITION)
    return unquote_to_bytes(canonical).decode(errors="surrogateescape")


def _samples() -> dict[str, str]:
    """Samples by name: the complete recording where it is installed, else its first minute."""
    names = [each.name for each in samples()]
    choice = [
        name
        for name in names
        if not (name.endswith(SHORT_SAMPLE_ENDING) and name.removesuffix(SHORT_SAMPLE_ENDING) in names)
    ]
    return {name.removeprefix(SAMPLE): name for name in choice}


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
    inside = sorted(directory.iterdir())
    deeper = [path for each in inside if each.name.startswith(PARTITION) for path in sorted(each.iterdir())]
    files = [each for each in [*inside, *deeper] if each.is_file()]
    return {each.relative_to(directory).as_posix(): str(each) for each in files}


def _datasets(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Parquet files by volume, in order of their names; empty without directories of volumes."""
    result: dict[str, list[str]] = {}
    for way, file in sorted(files.items()):
        directory, slash, name = way.partition("/")
        if slash and directory.startswith(PARTITION) and not name.startswith((".", "_")):
            result.setdefault(volume_name(directory), []).append(file)
    return result


def _named_files(place: str, files: Mapping[str, str]) -> dict[str, str]:
    """Files that hold a volume each, by the names of the volumes."""
    result: dict[str, str] = {}
    for way, file in files.items():
        if "/" in way or way.startswith((".", "_")):
            continue
        name = trace_label(way)
        if name in result:
            raise Error(
                f"`{place}` has two traces of the volume `{name}`: {file} and {result[name]}",
                remedy="rename one of the files",
            )
        result[name] = file
    return result


def _open_datasets(datasets: Mapping[str, Sequence[str]]) -> list[tuple[str, str, Opener]]:
    """Volumes that are Parquet files in a directory each; volumes with dates share one clock."""
    volumes = {name: Parts(tuple(paths)) for name, paths in datasets.items()}
    # A fleet without dates, as `split_volumes` writes, is opened without reading the files of all volumes:
    # dates in other volumes than the first are then refused when these volumes are used.
    clocks = (_clock_start(each)[0] for each in volumes.values())
    first = next((clock for clock in clocks if clock is not None), TraceClock.TRACE)
    if first is TraceClock.TRACE:
        return [(name, PARQUET, parts) for name, parts in volumes.items()]
    starts = {name: _clock_start(parts) for name, parts in volumes.items()}
    origins = _origins(starts.values())
    return [(name, PARQUET, _with_origin(volumes[name], start, origins)) for name, start in starts.items()]


def _open_files(files: Mapping[str, str], form: str | None) -> list[tuple[str, str, Opener]]:
    """Volumes that are a file each, with one clock for all whose formats have a wall clock."""
    kinds: dict[str, str] = {}
    starts: dict[str, Start] = {}
    for name, file in files.items():
        kinds[name], starts[name] = _read_start(file, form)
    origins = _origins(starts.values())
    _check_distance(kinds, starts)
    volumes: list[tuple[str, str, Opener]] = []
    for name, kind in kinds.items():
        start, file = starts[name], files[name]
        if kind == PARQUET:
            volumes.append((name, kind, _with_origin(Parts((file,)), start, origins)))
        else:
            base_ns = None if start[1] is None else origins[TraceClock.DATE]
            volumes.append((name, kind, TextTrace(file, kind or None, base_ns)))
    return volumes


def _clock_start(parts: Parts) -> Start:
    """The clock of a volume and the time of its first request, for dates since 1970.

    A volume that cannot be read raises no error here, but when its requests are used.
    """
    try:
        clock, first_ns = parts.start()
    except Error:
        return None, None
    return clock, first_ns - DATE_OFFSET_NS if clock is TraceClock.DATE and first_ns is not None else first_ns


def _origins(starts: Iterable[Start]) -> dict[TraceClock, int]:
    """The time of the earliest first request of all volumes, by clock."""
    result: dict[TraceClock, int] = {}
    for clock, first_ns in starts:
        if clock is not None and first_ns is not None:
            result[clock] = min(first_ns, result.get(clock, first_ns))
    return result


def _with_origin(parts: Parts, start: Start, origins: Mapping[TraceClock, int]) -> Parts:
    """The files with the time that arrivals count from, if dates or times of day are the only such clock."""
    clock, _ = start
    if clock is None or clock not in origins or len(origins) > 1:
        return parts
    return replace(parts, base_ns=origins[clock] + (DATE_OFFSET_NS if clock is TraceClock.DATE else 0))


def _check_distance(kinds: Mapping[str, str], starts: Mapping[str, Start]) -> None:
    """Refuse Parquet with dates next to formats whose clock has another origin, such as a recording's start.

    Raises:
        Error: The first requests are decades apart, or before 1970, which other formats cannot express.
    """
    dated = {name: ns for name, (clock, ns) in starts.items() if clock is TraceClock.DATE and ns is not None}
    tables = {name: ns for name, ns in dated.items() if kinds[name] == PARQUET}
    texts = {name: ns for name, ns in dated.items() if kinds[name] != PARQUET}
    if not tables or not texts:
        return
    table, text = min(tables, key=tables.__getitem__), min(texts, key=texts.__getitem__)
    if tables[table] < 0 or abs(tables[table] - texts[text]) > MAX_DISTANCE_NS:
        raise Error(
            f"the volumes `{table}` and `{text}` share no clock: their first requests are "
            f"{abs(tables[table] - texts[text]) / YEAR_NS:.0f} years apart",
            remedy="put the volumes of each format in a directory of their own",
        )


def _read_start(file: str, form: str | None) -> tuple[str, Start]:
    """The format of a trace, its clock and the time of its first request, where it has a wall clock.

    A trace that cannot be read raises no error here, but when its requests are used.
    """
    continuation = _native.Continuation()
    kind = form or ""
    try:
        if form == PARQUET or (form is None and starts_as_parquet(file)):
            return PARQUET, _clock_start(Parts((file,)))
        source = TextTrace(file, form).open_shared(continuation)
        source.next_chunk()
        kind = source.format
    except Error:
        pass
    base_ns = continuation.base_ns
    return kind, (None if base_ns is None else TraceClock.DATE, base_ns)
