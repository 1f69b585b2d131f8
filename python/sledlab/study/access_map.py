"""The devices of an array, or the independent sleds of a device, that requests access, by their addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.model.device import describe
from sledlab.study.plan import plain

if TYPE_CHECKING:
    from sledlab._native import Experiment


@dataclass(frozen=True)
class AccessMap:
    """Units that serve requests by themselves: devices of an array, or independent sleds of a device.

    Attributes:
        units: Number of units.
        stripe_blocks: Blocks in a row that are on one unit; the next ones are on the next unit.
    """

    units: int
    stripe_blocks: int

    @classmethod
    def of(cls, experiment: Experiment) -> AccessMap | None:
        """Return the map of a system.

        `None` where addresses do not decide which unit works: behind a cache, in a hybrid or a redundant
        array, and in arrays of devices with independent sleds.
        """
        config, device = plain(experiment.to_toml()), describe(experiment)
        if config["cache"]["kind"] != "none" or config.get("hybrid", {}).get("kind", "none") != "none":
            return None
        kind, devices, blocks = (
            config["system"]["kind"],
            config["system"]["devices"],
            device["capacity_blocks"],
        )
        sleds = device.get("sleds", 1) if device.get("sled_motion") == "independent" else 1
        if kind == "single":
            stripe = device["stripe_blocks"] if device.get("sled_map") == "round-robin" else blocks // sleds
            return cls(sleds, max(stripe, 1))
        stripes = {"stripe": config["system"]["unit_blocks"], "concatenation": blocks}
        return cls(devices, stripes[kind]) if kind in stripes and sleds == 1 else None

    def first_unit(self, lbns: Any) -> Any:
        """Return the unit of the first block of each request."""
        return lbns // np.uint64(self.stripe_blocks) % np.uint64(self.units)

    def is_accessed(self, unit: int, lbns: Any, blocks: Any) -> Any:
        """Return for each request whether it accesses a unit."""
        first = lbns.astype(np.int64) // self.stripe_blocks
        last = (lbns.astype(np.int64) + blocks.astype(np.int64) - 1) // self.stripe_blocks
        return (unit - first) % self.units <= last - first


ONE_DEVICE = AccessMap(1, 1)
"""The map of a single device."""
