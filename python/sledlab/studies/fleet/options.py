"""The options of a study of a fleet."""

from __future__ import annotations

from functools import partial
from pathlib import Path  # noqa: TC003 - annotations are read at run time
from typing import Annotated, Any

from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.model.choices import positive_number
from sledlab.model.ranges import is_number
from sledlab.runs.options import (
    Devices,
    EnergyOptions,
    ExecutorOptions,
    Option,
    PluginOptions,
    PriceOptions,
    SchedulerOptions,
    SeedSettingOptions,
    SystemOptions,
)
from sledlab.runs.systems import parse_systems
from sledlab.studies.fleet.placement import LIST, placement

PLACEMENT, FILL, GROUP = "one-each", 0.7, 4
"""Defaults."""


def parse_fill(value: Any) -> float:
    """Return a share of time and capacity, above 0 and at most 1.

    Raises:
        Error: The value is no such share.
    """
    if not is_number(value) or not 0 < value <= 1:
        raise Error(
            f"devices cannot be filled to a share of {value!s:.60}", remedy="give a number above 0, at most 1"
        )
    return float(value)


def parse_group(value: Any) -> int:
    """Return a number of devices of a group.

    Raises:
        Error: The value is no such number.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 1 < value <= 1000:
        raise Error(
            f"invalid number of devices of a group: {value!s:.60}",
            remedy="give a whole number from 2 to 1,000",
        )
    return value


class FleetOptions(
    SchedulerOptions,
    EnergyOptions,
    SystemOptions,
    SeedSettingOptions,
    PriceOptions,
    ExecutorOptions,
    PluginOptions,
    total=False,
):
    """The options of a study of a fleet, without its volumes and devices."""

    format: Annotated[str, Option("Trace format  [default: detected from the content]", "F", advanced=True)]
    placement: Annotated[
        str,
        Option(f"Placement: {' | '.join(each.name for each in LIST)}.", "HOW", PLACEMENT, parse=placement),
    ]
    fill: Annotated[
        float,
        Option(
            "Max. utilization and fill level of a shared device",
            "SHARE",
            f"{FILL}",
            parse=parse_fill,
        ),
    ]
    group: Annotated[
        int,
        Option("Devices per stripe (placement striped)", "N", f"{GROUP}", parse=parse_group, advanced=True),
    ]
    goal: Annotated[
        str,
        Option(
            "Response time goal: p99=10ms or mean=2ms.",
            "MEASURE=TIME",
            parse=later("sledlab.studies.costs.goal:goal"),
        ),
    ]
    years: Annotated[
        float,
        Option(
            "Years of depreciation and energy",
            "Y",
            "3",
            parse=partial(positive_number, "number of years"),
            advanced=True,
        ),
    ]


class FleetArguments(FleetOptions, total=False):
    """All arguments of a study of a fleet."""

    place: Annotated[str | Path, Option("Place of the volumes, if STUDY is given.", "PLACE")]
    device: Annotated[
        Devices,
        Option("Devices, systems (disk+flash:8GB) or experiments.", "NAME|FILE,..", parse=parse_systems),
    ]
