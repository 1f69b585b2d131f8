"""What placements are given and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ALIGN_BLOCKS = 2048
"""Volumes that share a device begin at multiples of 1 MiB, as partitions do."""

LARGE, HOT = "too large", "too hot"
"""Why a volume lies on no device."""


@dataclass(frozen=True)
class Item:
    """A volume as a placement sees it.

    Attributes:
        name: The volume.
        blocks: How far it reaches, in blocks of 512 bytes.
        load: The share of the time in which it keeps a device of the kind busy; above 1 it is overloaded.
    """

    name: str
    blocks: int
    load: float


@dataclass(frozen=True)
class Room:
    """What there is to place volumes on.

    Attributes:
        blocks: Capacity of a device, or of a group of them, in blocks.
        fill: Up to which share of its time and of its capacity a device that is shared is filled.
        devices: Devices of a group.
    """

    blocks: int
    fill: float = 1.0
    devices: int = 1


@dataclass(frozen=True)
class Placed:
    """The volumes on one device, or on one group of them.

    Attributes:
        volumes: Their places in what was given.
        offsets: Where each begins, in blocks.
    """

    volumes: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Unplaced:
    """A volume that lies on no device.

    Attributes:
        volume: Its place in what was given.
        why: `too large` or `too hot`.
    """

    volume: int
    why: str


@dataclass(frozen=True)
class Layout:
    """Where every volume lies.

    Attributes:
        devices: The devices that are used, or groups of them.
        left: Volumes that do not fit on any.
    """

    devices: tuple[Placed, ...]
    left: tuple[Unplaced, ...] = ()


@dataclass(frozen=True)
class Placement:
    """A way of laying volumes on devices.

    Attributes:
        name: As users say it.
        meaning: One line.
        place: Lays volumes; deterministic, and each volume lies once or is left.
        shares: Whether volumes share devices, so that there are fewer or more of them.
        grouped: Whether volumes lie on groups of devices.
    """

    name: str
    meaning: str
    place: Callable[[Sequence[Item], Room], Layout]
    shares: bool = True
    grouped: bool = False


def aligned(blocks: int) -> int:
    """The next place at which a volume may begin.

    Examples:
        >>> aligned(0), aligned(1), aligned(2048)
        (0, 2048, 2048)
    """
    return -(-blocks // ALIGN_BLOCKS) * ALIGN_BLOCKS


def misfit(item: Item, room: Room, *, by_load: bool) -> str:
    """Why a volume cannot lie on a device even alone; nothing where it can."""
    if item.blocks > room.blocks:
        return LARGE
    return HOT if by_load and item.load > room.devices else ""
