"""The options of a study of a fleet."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - annotations are read at run time
from typing import Annotated

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
from sledlab.studies.fleet.placement import LIST

PLACEMENT, FILL, GROUP = "one-each", 0.7, 4
"""Defaults."""


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
        Option(f"Placement: {' | '.join(each.name for each in LIST)}.", "HOW", PLACEMENT),
    ]
    fill: Annotated[
        float,
        Option(
            "Max. utilization and fill level of a shared device",
            "SHARE",
            f"{FILL}",
        ),
    ]
    group: Annotated[int, Option("Devices per stripe (placement striped)", "N", f"{GROUP}", advanced=True)]
    goal: Annotated[
        str,
        Option("Response time goal: p99=10ms or mean=2ms.", "MEASURE=TIME"),
    ]
    years: Annotated[float, Option("Years of depreciation and energy", "Y", "3", advanced=True)]


class FleetArguments(FleetOptions, total=False):
    """All arguments of a study of a fleet."""

    place: Annotated[str | Path, Option("Place of the volumes, if STUDY is given.", "PLACE")]
    device: Annotated[Devices, Option("Kinds of devices: mems-g2,atlas-10k; or experiments.", "NAME|FILE,..")]
