"""A device for each volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.studies.fleet.placement.layout import (
    DeviceCapacity,
    DeviceVolumes,
    Layout,
    Placement,
    UnplacedVolume,
    misfit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.placement.layout import Item


def place(items: Sequence[Item], room: DeviceCapacity) -> Layout:
    """Place each volume on a device of its own, even if it overloads the device."""
    why = {at: misfit(item, room, by_load=False) for at, item in enumerate(items)}
    return Layout(
        tuple(DeviceVolumes((at,), (0,)) for at, reason in why.items() if not reason),
        tuple(UnplacedVolume(at, reason) for at, reason in why.items() if reason),
    )


PLACEMENT = Placement("one-each", "a device for each volume", place, shares=False)
