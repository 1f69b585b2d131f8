"""What a hybrid study compares: a disk, MEMS, a disk with more memory, and hybrids of disk and MEMS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sledlab.catalogue import entries
from sledlab.errors import Error, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    Settings = tuple[tuple[str, str], ...]

DISK, MEMS, DISK_RAM = "disk", "mems", "disk-ram"
"""The baselines."""

ALL, NONE, MIRROR = "mcd-all", "mcd-none", "mirror"
"""The caching disk with all techniques and with none, and all data on both devices."""

TECHNIQUES = ("shortcut", "immediate_report", "partial_write")
"""Switches of the caching disk (HY-06 to HY-08)."""

LINE_BLOCKS = 16
"""Caches hold whole lines of so many blocks unless the user says otherwise."""

MB_BLOCKS = 2048


@dataclass(frozen=True)
class Configuration:
    """One way to build a store.

    Attributes:
        name: As options name it.
        label: As people write it.
        meaning: One line.
        hybrid: The kind of hybrid, where it is one.
        techniques: Those of the caching disk that are on.
    """

    name: str
    label: str
    meaning: str
    hybrid: str | None = None
    techniques: tuple[str, ...] = ()


def _caching(name: str, label: str, meaning: str, *techniques: str) -> Configuration:
    return Configuration(name, label, f"MEMS caching disk, {meaning}", "caching-disk", techniques)


KNOWN: Mapping[str, Configuration] = {
    each.name: each
    for each in (
        Configuration(DISK, "DISK", "the disk alone"),
        Configuration(MEMS, "MEMS", "MEMS devices alone, as many as the requests need"),
        Configuration(DISK_RAM, "DISK-RAM", "the disk with as much non-volatile memory as others have MEMS"),
        Configuration("mwb", "MWB", "MEMS write buffer: writes go to logs on MEMS first", "write-buffer"),
        _caching(NONE, "MCD NONE", "no technique"),
        _caching("mcd-shortcut", "MCD SHORTCUT", "reads answered from the buffer", "shortcut"),
        _caching(
            "mcd-immediate-report", "MCD IREPORT", "victims are free once in the buffer", "immediate_report"
        ),
        _caching("mcd-partial-write", "MCD PWRITE", "no fetch before a partial write", "partial_write"),
        _caching(ALL, "MCD ALL", "all techniques", *TECHNIQUES),
        Configuration(MIRROR, "MIRROR", "RAID 1/0 with one copy on disk and one on MEMS", "mirror"),
    )
}
"""Every configuration by its name."""

UNASKED = tuple(name for name in KNOWN if name != MIRROR)
"""Compared unless others are named."""

TAKEN = ("front_mb", "segment_kb", "replacement", *TECHNIQUES)
"""Parameters of hybrids that the study itself sets."""


@cache
def _hybrids() -> dict[str, tuple[str, ...]]:
    """The hybrids of the simulator and the names of their parameters."""
    return {entry.name: tuple(spec.name for spec in entry.parameters) for entry in entries("hybrids")}


def available() -> tuple[str, ...]:
    """Names of the configurations that this simulator can build."""
    return tuple(name for name, each in KNOWN.items() if each.hybrid is None or each.hybrid in _hybrids())


def chosen(given: Any) -> tuple[str, ...]:
    """Configurations asked for, each once.

    Args:
        given: Names, the word `all`, or none for what is compared unasked.

    Raises:
        Error: There are none, or one is unknown.
    """
    if given is None:
        return tuple(name for name in available() if name in UNASKED)
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not words:
        raise Error("there are no configurations to compare", remedy=f"name some of {', '.join(available())}")
    found: list[str] = []
    for word in words:
        if word != "all" and word not in available():
            raise unknown("configuration", str(word), (*available(), "all"))
        found += available() if word == "all" else [word]
    return tuple(dict.fromkeys(found))


def check_extras(extras: Mapping[str, str]) -> None:
    """Refuses settings of hybrids that none has, or that the study itself sets.

    Raises:
        Error: As said.
    """
    known = sorted({name for names in _hybrids().values() for name in names})
    for key in extras:
        if key == "kind" or key in TAKEN:
            raise Error(
                f"`hybrid.{key}` is set, which the study itself changes",
                remedy="leave it out; choose configurations, sizes, segments and policies instead",
            )
        if key not in known:
            raise unknown("key", f"hybrid.{key}", [f"hybrid.{name}" for name in known])


def settings_of(
    name: str, mb: float, segment_kb: int, extras: Mapping[str, str], replacement: str = "lru"
) -> Settings:
    """What a configuration sets.

    Args:
        name: Its name.
        mb: Its MEMS, or its non-volatile memory, in 2^20 bytes.
        segment_kb: Segments of a caching disk, in 1024 bytes.
        extras: Further parameters of hybrids; each gets those that it has.
        replacement: What makes room in a caching disk.
    """
    if name == DISK_RAM:
        return memory(mb)
    kind = KNOWN[name].hybrid
    if kind is None:
        return ()
    values: dict[str, str] = {"kind": kind, "front_mb": repr(float(mb)), "segment_kb": str(segment_kb)}
    values |= {key: str(key in KNOWN[name].techniques).lower() for key in TECHNIQUES}
    values |= {"replacement": replacement, **extras}
    has = ("kind", *_hybrids()[kind])
    return tuple((f"hybrid.{key}", value) for key, value in values.items() if key in has)


def memory(mb: float) -> Settings:
    """A controller cache of so many times 2^20 bytes."""
    lines = int(mb * MB_BLOCKS) // LINE_BLOCKS
    return (("cache.kind", "write-back"), ("cache.capacity_blocks", str(max(lines, 1) * LINE_BLOCKS)))
