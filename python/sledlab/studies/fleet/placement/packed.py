"""Volumes packed by load and capacity: first fit, the hottest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import numpy as np
from sledlab.studies.fleet.placement.layout import Layout, Placed, Placement, Room, Unplaced, aligned, misfit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.placement.layout import Item


def place(items: Sequence[Item], room: Room) -> Layout:
    """Places each volume on the first device that has room for it, in descending order of load.

    A shared device is busy for at most the share `fill` of its time, and its capacity is filled up to that
    share. A volume that needs more by itself has a device of its own; one that is too large or too hot even
    for that is left.
    """
    order = sorted(range(len(items)), key=lambda at: (-items[at].load, -items[at].blocks, items[at].name, at))
    most_load, most_blocks = room.fill * room.devices, int(room.fill * room.blocks)
    left: list[Unplaced] = []
    found: list[list[tuple[int, int]]] = []
    load, used = np.zeros(len(items)), np.zeros(len(items), dtype=np.int64)
    for at in order:
        item = items[at]
        if why := misfit(item, room, by_load=True):
            left.append(Unplaced(at, why))
            continue
        begin = used[: len(found)]
        fits = (load[: len(found)] + item.load <= most_load) & (begin + item.blocks <= most_blocks)
        device = int(fits.argmax()) if fits.any() else len(found)
        if device == len(found):
            found.append([])
        found[device].append((at, int(used[device])))
        load[device] += item.load
        used[device] = aligned(int(used[device]) + item.blocks)
    # Volumes of a device in their original order, so that they come in the order of their names.
    devices = [Placed(*zip(*sorted(each), strict=True)) for each in found]
    return Layout(tuple(devices), tuple(sorted(left, key=lambda each: each.volume)))


PLACEMENT = Placement("packed", "volumes share devices, up to a share of their time and capacity", place)
