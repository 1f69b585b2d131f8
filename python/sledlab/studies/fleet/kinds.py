"""The kinds of devices that a fleet may be laid on: each an experiment, with its capacity and its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.catalog import with_settings
from sledlab.model.device import host_blocks
from sledlab.studies.costs.cost import device_names, optional_store_parts
from sledlab.study.plan import plain
from sledlab.study.systems import with_system

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab._native import Experiment
    from sledlab.runs.compose import Device
    from sledlab.studies.costs.prices import Prices
    from sledlab.study.plan import Question

FULL_REPLAY = {
    "replay.mode": "open",
    "replay.speedup": "1",
    "replay.duration_s": "0",
    "replay.limit": "0",
    "replay.operations": "0",
    "replay.warmup": "0",
    "replay.outside": "reject",
}
"""Settings with which every request of a volume is replayed and counts, on the clock of the fleet."""


@dataclass(frozen=True)
class Kind:
    """A kind of device or array, or of groups of devices.

    Attributes:
        name: Name of the kind.
        experiment: The experiment that runs on it start from.
        group: Devices, or arrays, over which volumes are striped; 1 for each alone.
        devices: Number of devices in a group, those of arrays counted one by one.
        blocks: Capacity of a device, or of a group, in blocks of 512 bytes.
        usd: Price of a device, or of a group; None where a part has no price.
    """

    name: str
    experiment: Experiment
    group: int
    devices: int
    blocks: int
    usd: float | None

    @property
    def config(self) -> dict[str, Any]:
        """The experiment, complete, as plain data."""
        return plain(self.experiment.to_toml())

    @property
    def device_names(self) -> set[str]:
        """Names of the devices in a group, as tables of prices spell them."""
        return device_names(self.config)


def kinds(question: Question, devices: Mapping[str, Device], group: int, prices: Prices) -> dict[str, Kind]:
    """The kinds that the user names, by name; each checked.

    Args:
        question: The question to the study.
        devices: Devices, or experiments, by label.
        group: Devices of a group over which volumes are striped; 1 for devices alone.
        prices: Prices of devices.

    Raises:
        Error: A device does not exist, is an array that would be striped, or has no price although the user
            gave prices.
    """
    return {
        name: _kind(name, with_system(question.base, device), group, prices)
        for name, device in devices.items()
    }


def _kind(name: str, experiment: Experiment, group: int, prices: Prices) -> Kind:
    experiment = with_settings(experiment, FULL_REPLAY)
    if group > 1:
        if plain(experiment.to_toml())["system"]["kind"] != "single":
            raise Error(
                f"`{name}` is an array, and --placement striped joins devices to arrays of its own",
                remedy="choose another placement, or name one device",
            )
        experiment = with_settings(experiment, {"system.kind": "stripe", "system.devices": group})
    config = plain(experiment.to_toml())
    parts = optional_store_parts(config, prices)
    usd = None if parts is None else sum(part.usd for part in parts)
    return Kind(name, experiment, group, config["system"]["devices"], host_blocks(experiment), usd)
