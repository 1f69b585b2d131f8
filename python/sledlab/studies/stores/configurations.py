"""Configurations of stores that studies of hybrids compare, and the options that all these studies take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from sledlab.errors import Error
from sledlab.model.choices import models, numbers, parse_words
from sledlab.runs.options import Models, Option, SchedulerOptions, SpeedupOptions
from sledlab.runs.parsing import KIB, size_doublings
from sledlab.traces.hits import replacement_names

if TYPE_CHECKING:
    from collections.abc import Mapping

DISK, UNCACHED, MEMS, DISK_RAM = "disk", "disk-uncached", "mems", "disk-ram"
"""The baselines: the disk with and without controller cache, MEMS alone, and the disk with more memory."""

ALL, NONE, MIRROR = "mcd-all", "mcd-none", "mirror"
"""The caching disk with all techniques and with none, and all data mirrored on both devices."""

TECHNIQUES = ("shortcut", "immediate_report", "partial_write")
"""Switches of the caching disk."""

CACHING_DISK = "caching-disk"

DISK_PRESET, FRONT = "atlas-10k-50mb", "mems-g2"
"""The presets of disk and front device, by default."""

SEGMENTS_KB = (4, 8, 16, 32, 64, 128, 256)
"""Sizes of segments to sweep, by default, in units of 1024 bytes."""


@dataclass(frozen=True)
class Configuration:
    """One configuration of a store.

    Attributes:
        label: The name in tables and on pages.
        hybrid: The kind of hybrid; None where the store is none.
        techniques: Techniques of the caching disk that are switched on.
    """

    label: str
    hybrid: str | None = None
    techniques: tuple[str, ...] = ()


CONFIGURATIONS: Mapping[str, Configuration] = {
    DISK: Configuration("DISK"),
    UNCACHED: Configuration("DISK UNCACHED"),
    MEMS: Configuration("MEMS"),
    DISK_RAM: Configuration("DISK-RAM"),
    "mwb": Configuration("MWB", "write-buffer"),
    NONE: Configuration("MCD NONE", CACHING_DISK),
    "mcd-shortcut": Configuration("MCD SHORTCUT", CACHING_DISK, TECHNIQUES[:1]),
    "mcd-immediate-report": Configuration("MCD IREPORT", CACHING_DISK, TECHNIQUES[1:2]),
    "mcd-partial-write": Configuration("MCD PWRITE", CACHING_DISK, TECHNIQUES[2:]),
    ALL: Configuration("MCD ALL", CACHING_DISK, TECHNIQUES),
    MIRROR: Configuration("MIRROR", "mirror"),
}
"""All configurations by name."""


def parse_configurations(value: Any) -> tuple[str, ...]:
    """Return the requested configurations, each once, of names and the word `all`.

    Raises:
        Error: The list is empty, or a name is unknown.
    """
    words = parse_words("configuration", "configurations", value, (*CONFIGURATIONS, "all"))
    return tuple(
        dict.fromkeys(name for word in words for name in (CONFIGURATIONS if word == "all" else [word]))
    )


def segment_sizes(value: Any) -> tuple[int, ...]:
    """Return sizes of segments in 1024 bytes, in rising order; an empty list omits their section.

    Raises:
        Error: A size is no whole number.
    """
    sizes = numbers("segment size", value, above=True, may_be_empty=True)
    for size in sizes:
        if size != int(size):
            raise Error(
                f"`{size:g}` is not a segment size", remedy="give whole numbers of KB, such as 4,8,16"
            )
    return tuple(map(int, sizes))


replacement_policies = partial(models, "replacement", all_names=replacement_names)
"""Parser of replacement policies: the word `all` stands for those that a device can have."""


def segments(meaning: str) -> Option:
    """Return the option for the sizes of segments to sweep."""
    return Option(
        meaning,
        "KB,KB|A..B",
        "4..256, doubling",
        read=partial(size_doublings, unit=KIB),
        parse=segment_sizes,
    )


class FrontOptions(SchedulerOptions, SpeedupOptions, total=False):
    """The options that all studies of hybrids take."""

    front: Annotated[Models, Option("Device in front of the disk", "NAME|FILE", FRONT, key="front.preset")]
