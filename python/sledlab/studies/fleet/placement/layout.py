"""Arguments and results of placements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ALIGN_BLOCKS = 2048
"""Volumes that share a device begin at multiples of 1 MiB, as partitions do."""

LARGE, BUSY = "too large", "too busy"
"""Reasons why a volume is on no device."""


@dataclass(frozen=True)
class Item:
    """A volume as a placement sees it.

    Attributes:
        name: Name of the volume.
        blocks: End of its highest request, in blocks of 512 bytes.
        load: Share of the time in which it keeps a device of the kind busy; above 1 it overloads the device.
    """

    name: str
    blocks: int
    load: float


@dataclass(frozen=True)
class DeviceCapacity:
    """The devices on which volumes are placed.

    Attributes:
        blocks: Capacity of a device, or of a group of devices, in blocks.
        fill: Share of its time and of its capacity up to which a shared device is filled.
        devices: Devices of a group.
    """

    blocks: int
    fill: float = 1.0
    devices: int = 1


@dataclass(frozen=True)
class DeviceVolumes:
    """The volumes on one device, or on one group of them.

    Attributes:
        volumes: Indices of the volumes in the placement's argument.
        offsets: First block of each volume on the device.
    """

    volumes: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class UnplacedVolume:
    """A volume that is on no device.

    Attributes:
        volume: Index of the volume in the placement's argument.
        why: `too large` or `too busy`.
    """

    volume: int
    why: str


@dataclass(frozen=True)
class Layout:
    """The device of every volume.

    Attributes:
        devices: The used devices, or groups of devices.
        unplaced: Volumes that fit on no device.
    """

    devices: tuple[DeviceVolumes, ...]
    unplaced: tuple[UnplacedVolume, ...] = ()


@dataclass(frozen=True)
class Placement:
    """A method that places volumes on devices.

    Attributes:
        name: The name in options.
        meaning: The meaning, in one line.
        place: Places volumes; deterministic, and each volume is on one device or unplaced.
        shares_devices: Whether volumes share devices, whose number then depends on how far they are filled.
        is_grouped: Whether volumes lie on groups of devices.
    """

    name: str
    meaning: str
    place: Callable[[Sequence[Item], DeviceCapacity], Layout]
    shares_devices: bool = True
    is_grouped: bool = False


def align(blocks: int) -> int:
    """The next block, counting from `blocks`, at which a volume may begin.

    Examples:
        >>> align(0), align(1), align(2048)
        (0, 2048, 2048)
    """
    return -(-blocks // ALIGN_BLOCKS) * ALIGN_BLOCKS


def misfit(item: Item, capacity: DeviceCapacity, *, by_load: bool) -> str:
    """Why a volume cannot be on a device even alone; empty where it can."""
    if item.blocks > capacity.blocks:
        return LARGE
    return BUSY if by_load and item.load > capacity.devices else ""
