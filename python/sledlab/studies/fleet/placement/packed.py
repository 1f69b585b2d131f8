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


def place(items: Sequence[Item], capacity: DeviceCapacity) -> Layout:
    """Place each volume on the first device that has room for it, in descending order of load.

    A shared device is busy for at most the share `fill` of its time, and its capacity is filled up to that
    share. A volume that needs more by itself has a device of its own; one that is too large or too busy even
    for that is left.
    """
    order = sorted(
        range(len(items)),
        key=lambda index: (-items[index].load, -items[index].blocks, items[index].name, index),
    )
    max_load = capacity.fill * capacity.devices + ROUNDING
    max_blocks = int(capacity.fill * capacity.blocks + ROUNDING)
    unplaced: list[UnplacedVolume] = []
    placed: list[list[tuple[int, int]]] = []
    loads, used_blocks = np.zeros(len(items)), np.zeros(len(items), dtype=np.int64)
    for index in order:
        item = items[index]
        if reason := misfit(item, capacity, by_load=True):
            unplaced.append(UnplacedVolume(index, reason))
            continue
        starts = used_blocks[: len(placed)]
        fits = (loads[: len(placed)] + item.load <= max_load) & (starts + item.blocks <= max_blocks)
        device = int(fits.argmax()) if fits.any() else len(placed)
        if device == len(placed):
            placed.append([])
        placed[device].append((index, int(used_blocks[device])))
        loads[device] += item.load
        used_blocks[device] = align(int(used_blocks[device]) + item.blocks)
    # Volumes of a device in their original order, so that they come in the order of their names.
    devices = [DeviceVolumes(*zip(*sorted(each), strict=True)) for each in placed]
    return Layout(tuple(devices), tuple(sorted(unplaced, key=lambda each: each.volume)))


PLACEMENT = Placement("packed", "volumes share devices, up to a share of their time and capacity", place)
