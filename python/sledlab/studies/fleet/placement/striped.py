"""Volumes packed on groups of devices and striped over all devices of the group."""

from __future__ import annotations

from sledlab.studies.fleet.placement import packed
from sledlab.studies.fleet.placement.layout import Placement

PLACEMENT = Placement(
    "striped",
    "as packed, but on groups of devices, over which volumes are striped",
    packed.place,
    is_grouped=True,
)
"""A group has the time and the capacity of all its devices together, so it is packed like one device."""
