"""What devices are made of."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sledlab.model.catalogue import entries
from sledlab.model.entries import DeviceKind

if TYPE_CHECKING:
    from sledlab import _native


def describe(experiment: _native.Experiment) -> dict[str, Any]:
    """Every parameter of the device of an experiment, and `capacity_blocks`."""
    found: dict[str, Any] = json.loads(experiment.describe_device())
    return found


@cache
def kinds() -> dict[str, DeviceKind]:
    """Every kind of device by its name: what device files say after `kind`.

    Examples:
        >>> kinds()["disk"].rest, kinds()["ram"].rest
        ('rest_state', None)
    """
    return {kind.name: kind for kind in entries("device_kinds") if isinstance(kind, DeviceKind)}
