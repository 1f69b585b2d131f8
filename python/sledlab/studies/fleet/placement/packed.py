"""Volumes packed by load and capacity: first-fit decreasing, the hottest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import numpy as np
from sledlab.studies.fleet.placement.layout import (
    DeviceCapacity,
    DeviceVolumes,
    Layout,
    Placement,
    UnplacedVolume,
    align,
    misfit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.placement.layout import Item

ROUNDING = 1e-9
"""Tolerance for sums of loads, and for a share of blocks, that only rounding puts above their limit."""


def place(items: Sequence[Item], room: DeviceCapacity) -> Layout:
    """Place each volume on the first device that has room for it, in descending order of load.

    A shared device is busy for at most the share `fill` of its time, and its capacity is filled up to that
    share. A volume that needs more by itself has a device of its own; one that is too large or too busy even
    for that is left.
    """
    order = sorted(range(len(items)), key=lambda at: (-items[at].load, -items[at].blocks, items[at].name, at))
    max_load = room.fill * room.devices + ROUNDING
    max_blocks = int(room.fill * room.blocks + ROUNDING)
    left: list[UnplacedVolume] = []
    result: list[list[tuple[int, int]]] = []
    load, used = np.zeros(len(items)), np.zeros(len(items), dtype=np.int64)
    for at in order:
        item = items[at]
        if reason := misfit(item, room, by_load=True):
            left.append(UnplacedVolume(at, reason))
            continue
        begin = used[: len(result)]
        fits = (load[: len(result)] + item.load <= max_load) & (begin + item.blocks <= max_blocks)
        device = int(fits.argmax()) if fits.any() else len(result)
        if device == len(result):
            result.append([])
        result[device].append((at, int(used[device])))
        load[device] += item.load
        used[device] = align(int(used[device]) + item.blocks)
    # Volumes of a device in their original order, so that they come in the order of their names.
    devices = [DeviceVolumes(*zip(*sorted(each), strict=True)) for each in result]
    return Layout(tuple(devices), tuple(sorted(left, key=lambda each: each.volume)))


PLACEMENT = Placement("packed", "volumes share devices, up to a share of their time and capacity", place)
