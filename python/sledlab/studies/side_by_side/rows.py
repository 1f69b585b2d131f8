"""Rows of devices side by side: means with costs, the parts that these are made of, and highest loads."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass
from typing import Annotated, Any

from sledlab.studies.costs.system_cost import SystemCost  # noqa: TC001 - annotations are read at run time
from sledlab.studies.races.rows import Mean
from sledlab.study.columns import Column


@dataclass(frozen=True)
class DeviceMean(Mean):
    """Means over the seeds of a device at a load, with its costs."""

    cost: SystemCost
    meets: Annotated[bool | None, Column("whether the device keeps up and meets the goal")] = None


@dataclass(frozen=True)
class SystemPart:
    """A part of a device or system that has a price."""

    device: Annotated[str, Column("the device or system")]
    part: Annotated[str, Column("name of the part in tables of prices")]
    by_capacity: Annotated[bool, Column("whether its price is for 10^9 bytes, not for a device")]
    quantity: Annotated[float, Column("devices, or 10^9 bytes; of a front device by GB, the part used")]
    price_usd: Annotated[float, Column("price of a device, or of 10^9 bytes", "USD")]


@dataclass(frozen=True)
class MaxLoad:
    """The highest load that a device sustains, found by search."""

    competitor: Mapping[str, Any]
    varied: Mapping[str, Any]
    speedup: Annotated[
        float | None, Column("highest speed-up that was found up to which the device keeps up")
    ]
    arrival_rate_iops: Annotated[float | None, Column("reads and writes offered there", "1/s")]
    overloaded_speedup: Annotated[
        float | None, Column("lowest speed-up that was found at which its queue kept growing")
    ]
