"""Ways to build a store that studies of hybrids compare, and what can be said of every such study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sledlab.runs.options import Models, Option, Paced, Scheduled
from sledlab.runs.written import doublings

if TYPE_CHECKING:
    from collections.abc import Mapping

DISK, MEMS, DISK_RAM = "disk", "mems", "disk-ram"
"""The baselines."""

ALL, NONE, MIRROR = "mcd-all", "mcd-none", "mirror"
"""The caching disk with all techniques and with none, and all data on both devices."""

TECHNIQUES = ("shortcut", "immediate_report", "partial_write")
"""Switches of the caching disk."""

CACHING = "caching-disk"

DISK_PRESET, FRONT = "atlas-10k-50mb", "mems-g2"
"""The two devices unless others are said."""

SEGMENTS_KB = (4, 8, 16, 32, 64, 128, 256)
"""Segments to sweep unless others are given, in 1024 bytes."""


@dataclass(frozen=True)
class Configuration:
    """One way to build a store.

    Attributes:
        label: As people write it.
        hybrid: The kind of hybrid, where it is one.
        techniques: Those of the caching disk that are on.
    """

    label: str
    hybrid: str | None = None
    techniques: tuple[str, ...] = ()


KNOWN: Mapping[str, Configuration] = {
    DISK: Configuration("DISK"),
    MEMS: Configuration("MEMS"),
    DISK_RAM: Configuration("DISK-RAM"),
    "mwb": Configuration("MWB", "write-buffer"),
    NONE: Configuration("MCD NONE", CACHING),
    "mcd-shortcut": Configuration("MCD SHORTCUT", CACHING, TECHNIQUES[:1]),
    "mcd-immediate-report": Configuration("MCD IREPORT", CACHING, TECHNIQUES[1:2]),
    "mcd-partial-write": Configuration("MCD PWRITE", CACHING, TECHNIQUES[2:]),
    ALL: Configuration("MCD ALL", CACHING, TECHNIQUES),
    MIRROR: Configuration("MIRROR", "mirror"),
}
"""Every configuration by its name."""


def segments(meaning: str) -> Option:
    """The option of segments to sweep."""
    return Option(meaning, "KB,KB|A..B", "4..256, doubling", flag="segment-kb", read=doublings)


class Fronted(Scheduled, Paced, total=False):
    """What studies of hybrids share."""

    front: Annotated[
        Models, Option("The MEMS device in front of the disk, or alone", "NAME|FILE", default=FRONT)
    ]
