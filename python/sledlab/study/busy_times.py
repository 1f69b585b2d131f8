"""How unevenly the devices of an array, or the sleds of a device, are busy, counted as requests complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from sledlab.runs.requests import Column
    from sledlab.study.access_map import AccessMap


@dataclass
class BusyTimes:
    """Service times of requests by device: by the device of the first block of each request.

    Attributes:
        access_map: The devices that requests access.
    """

    access_map: AccessMap

    def __post_init__(self) -> None:
        """Start with times of 0."""
        self._times_ns: Any = np.zeros(self.access_map.units)

    def write(self, columns: list[Column]) -> None:
        """Count a chunk of the table of requests."""
        data = dict(columns)
        starts, completions, lbns = (
            np.frombuffer(data[name], "<u8") for name in ("start_ns", "completion_ns", "lbn")
        )
        units = self.access_map.first_unit(lbns).astype(np.int64)
        self._times_ns += np.bincount(units, completions - starts, minlength=self.access_map.units)

    def close(self, *, keep: bool = True) -> None:
        """Do nothing: a sink's `close`, and no file is open."""

    @property
    def imbalance(self) -> float:
        """The time of the busiest device over the mean of all devices; 1 without requests."""
        mean = self._times_ns.mean()
        return float(self._times_ns.max() / mean) if mean > 0 else 1.0
