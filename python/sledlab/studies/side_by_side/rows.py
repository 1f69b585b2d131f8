"""Rows of devices side by side: means with costs, and the parts that these are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

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
