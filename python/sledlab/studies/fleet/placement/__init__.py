"""Placements: assignments of the volumes of a fleet to devices of one kind. One file and one line each.

A placement is a pure function of its arguments, so placements are equal on every machine.
"""

from __future__ import annotations

from sledlab.errors import unknown
from sledlab.studies.fleet.placement import one_each, packed, striped
from sledlab.studies.fleet.placement.layout import (
    BUSY,
    LARGE,
    DeviceCapacity,
    DeviceVolumes,
    Item,
    Layout,
    Placement,
    UnplacedVolume,
)

__all__ = [
    "BUSY",
    "LARGE",
    "LIST",
    "DeviceCapacity",
    "DeviceVolumes",
    "Item",
    "Layout",
    "Placement",
    "UnplacedVolume",
]

LIST = (one_each.PLACEMENT, packed.PLACEMENT, striped.PLACEMENT)


def placement(name: str) -> Placement:
    """Return a placement by its name.

    Raises:
        Error: No placement has the name; the message suggests the nearest.

    Examples:
        >>> volumes = [Item("a", 3000, 0.5), Item("b", 1000, 0.4), Item("c", 1000, 0.3)]
        >>> [each.volumes for each in placement("packed").place(volumes, DeviceCapacity(9000, 0.8)).devices]
        [(0, 2), (1,)]
    """
    method = next((each for each in LIST if each.name == name), None)
    if method is None:
        raise unknown("placement", str(name), [each.name for each in LIST])
    return method
