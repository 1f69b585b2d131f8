"""The busiest device of an array or a hybrid, or the busiest sled of a device, found as requests complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.runs.requests import NO_DEVICE

if TYPE_CHECKING:
    from sledlab.runs.requests import Column
    from sledlab.study.access_map import AccessMap


@dataclass
class BusyTimes:
    """Service times of requests by device.

    Attributes:
        units: Number of devices, or of sleds.
        access_map: Where addresses are; a request counts for the device of its first block. Without a map, it
            counts for the device that completed the request: in a hybrid.
    """

    units: int
    access_map: AccessMap | None = None

    def __post_init__(self) -> None:
        """Start with times of 0."""
        self._times_ns: Any = np.zeros(self.units)

    def write(self, columns: list[Column]) -> None:
        """Count a chunk of the table of requests."""
        data = {name: np.frombuffer(content, "<u8") for name, content in columns if name in COLUMNS}
        times_ns = data["completion_ns"] - data["start_ns"]
        if self.access_map:
            devices = self.access_map.first_unit(data["lbn"])
        else:  # a cache may have completed the request
            is_known = data["device"] != NO_DEVICE
            devices, times_ns = data["device"][is_known], times_ns[is_known]
        self._times_ns += np.bincount(devices.astype(np.int64), times_ns, minlength=self.units)

    def close(self, *, keep: bool = True) -> None:
        """Do nothing: a sink's `close`, and no file is open."""

    def imbalance(self, busy_s: float) -> float:
        """Return the busy time of the busiest device over the mean of all devices; 1 without requests.

        Background work of a hybrid, such as destaging, counts for the busier device: the table of requests
        does not have it.

        Args:
            busy_s: Busy time of all devices together, in s.
        """
        total_ns = self._times_ns.sum()
        background_ns = 0.0 if self.access_map else max(busy_s * 1e9 - total_ns, 0.0)
        if total_ns + background_ns <= 0:
            return 1.0
        return float(self.units * (self._times_ns.max() + background_ns) / (total_ns + background_ns))


COLUMNS = ("start_ns", "completion_ns", "lbn", "device")
"""Columns of the table of requests that are read."""
