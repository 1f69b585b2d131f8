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


def place(items: Sequence[Item], capacity: DeviceCapacity) -> Layout:
    """Place each volume on a device of its own, even if it overloads the device."""
    reasons = {index: misfit(item, capacity, by_load=False) for index, item in enumerate(items)}
    return Layout(
        tuple(DeviceVolumes((index,), (0,)) for index, reason in reasons.items() if not reason),
        tuple(UnplacedVolume(index, reason) for index, reason in reasons.items() if reason),
    )


PLACEMENT = Placement("one-each", "a device for each volume", place, shares_devices=False)
