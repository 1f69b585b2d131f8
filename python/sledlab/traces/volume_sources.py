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

LONGEST = 255 - len(PARTITION)
"""Longest name of a volume in the name of a directory, in bytes: the limit of file systems."""

SHORT_SAMPLE_ENDING = "-60s"
"""End of the name of a sample that is the first minute of another sample."""

YEAR_NS = 365 * 86_400 * 10**9
"""Nanoseconds of a year: a later time is a date rather than a time since the start of a fleet."""

MAX_DISTANCE_NS = 20 * YEAR_NS
"""Longest time between the first requests of volumes that share a clock."""


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
    """Volumes that are Parquet files in a directory each, on one clock.

    Times that `split_volumes` wrote count from the start of the fleet. So only the first volume is read here,
    which shows whether times are dates.
    """
    volumes = {name: Parts(tuple(paths)) for name, paths in datasets.items()}
    first = _read_start(next(iter(volumes.values())))
    if first is None or (not first.has_date and first.ns < YEAR_NS):
        return [(name, PARQUET, replace(parts, base_ns=0)) for name, parts in volumes.items()]
    starts = {name: _read_start(parts) for name, parts in volumes.items()}
    zeros = _volume_zeros(starts)
    return [
        (name, PARQUET, replace(parts, base_ns=zero))
        for (name, parts), zero in zip(volumes.items(), zeros, strict=True)
    ]


def _open_files(files: Mapping[str, str], form: str | None) -> list[tuple[str, str, Opener]]:
    """Volumes that are a file each, on one clock."""
    openers: dict[str, TextTrace | Parts] = {}
    starts: dict[str, TraceStart | None] = {}
    for name, file in files.items():
        openers[name], starts[name] = _open_file(file, form)
    zeros = _volume_zeros(starts)
    return [
        (name, PARQUET if isinstance(opener, Parts) else opener.reading.format, replace(opener, base_ns=zero))
        for (name, opener), zero in zip(openers.items(), zeros, strict=True)
    ]


def _volume_zeros(starts: Mapping[str, TraceStart | None]) -> list[int | None]:
    """The time of each volume that becomes 0.

    Raises:
        Error: Some volumes have dates and others have none, or dates are decades apart.
    """
    by_date = {
        has_date: {name: start.ns for name, start in starts.items() if start and start.has_date is has_date}
        for has_date in (True, False)
    }
    dated = by_date[True]
    if dated and by_date[False]:
        reason = "the times of the second count from no date"
        first, second = next(iter(dated)), next(iter(by_date[False]))
    elif dated and max(dated.values()) - min(dated.values()) > MAX_DISTANCE_NS:
        first, second = min(dated, key=dated.__getitem__), max(dated, key=dated.__getitem__)
        years = (dated[second] - dated[first]) / YEAR_NS
        reason = f"their first requests are {years:.0f} years apart"
    else:
        return common_zeros(list(starts.values()))
    raise Error(
        f"the volumes `{first}` and `{second}` share no clock: {reason}",
        remedy="put the volumes of each clock in a directory of their own",
    )


def _open_file(file: str, form: str | None) -> tuple[TextTrace | Parts, TraceStart | None]:
    """The opener of a file and its first request; a file that cannot be read raises no error here."""
    text = TextTrace(file, ReadingOptions(form or ""))
    with suppress(Error):
        if form == PARQUET or (form is None and starts_as_parquet(file)):
            return Parts((file,)), _read_start(Parts((file,)))
        source = text.open()
        text = replace(text, reading=ReadingOptions(source.format))
        return text, start_of(source)
    return text, None


def _read_start(opener: TextTrace | Parts) -> TraceStart | None:
    """The first request of a volume on its clock; `None` for a volume that cannot be read.

    A volume that cannot be read raises no error here, but when its requests are used.
    """
    with suppress(Error):
        return read_start(opener)
    return None
