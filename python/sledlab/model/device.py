"""Parameters and kinds of devices."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sledlab._native import is_plugin, toml_tables
from sledlab.model.catalog import entries
from sledlab.model.entries import DeviceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab import _native


def describe(experiment: _native.Experiment) -> dict[str, Any]:
    """Every parameter of the device of an experiment, and `capacity_blocks`."""
    result: dict[str, Any] = json.loads(experiment.describe_device())
    return result


def host_blocks(experiment: _native.Experiment) -> int:
    """Return the capacity of the system that the host sees, a device or an array of devices, in blocks.

    Examples:
        >>> from sledlab import Experiment
        >>> alone = Experiment().with_device("mems-g2")
        >>> stripe = alone.with_setting("system.kind", "stripe").with_setting("system.devices", "4")
        >>> host_blocks(alone), host_blocks(stripe)
        (6750000, 26999808)
    """
    system = toml_tables(experiment.to_toml())["system"]
    blocks, devices = int(describe(experiment)["capacity_blocks"]), int(system["devices"])
    whole_units = blocks // int(system["unit_blocks"]) * int(system["unit_blocks"])
    blocks_by_kind = {
        "single": blocks,
        "concatenation": devices * blocks,
        "stripe": devices * whole_units,
        "mirror": blocks,
        "raid5": (devices - 1) * whole_units,
    }
    return blocks_by_kind[system["kind"]]


@cache
def kinds() -> dict[str, DeviceKind]:
    """Every kind of device by its name, the value of `kind` in device files.

    Examples:
        >>> kinds()["disk"].inactive_parameter, kinds()["ram"].inactive_parameter
        ('idle_state', None)
    """
    return {kind.name: kind for kind in entries("device_kinds") if isinstance(kind, DeviceKind)}


PLUG_IN = DeviceKind(
    "plug-in",
    "a class in Python",
    active_text="Active: a request is served. Idle: ready at once.",
    inactive_texts={"inactive": "parked by the power policy."},
)
"""The kind of every device that is written in Python."""


def resolve_kind(device: Mapping[str, Any]) -> DeviceKind:
    """The kind of a device, given its complete parameters.

    Examples:
        >>> resolve_kind({"kind": "ram"}).name, resolve_kind({"kind": "tape:Tape"}).name
        ('ram', 'plug-in')
    """
    kind = str(device["kind"])
    return PLUG_IN if is_plugin(kind) else kinds()[kind]
