"""A device for each volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.studies.fleet.placement.layout import Layout, Placed, Placement, Room, Unplaced, misfit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.placement.layout import Item


def place(items: Sequence[Item], room: Room) -> Layout:
    """Places each volume on a device of its own, even if it overloads the device."""
    why = {at: misfit(item, room, by_load=False) for at, item in enumerate(items)}
    return Layout(
        tuple(Placed((at,), (0,)) for at, reason in why.items() if not reason),
        tuple(Unplaced(at, reason) for at, reason in why.items() if reason),
    )


PLACEMENT = Placement("one-each", "a device for each volume", place, shares=False)
