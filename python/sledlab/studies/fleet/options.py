"""The options of a study of a fleet."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - annotations are read at run time
from typing import Annotated

from sledlab.runs.options import Arranged, Devices, Option, Parallel, Priced, Saving, Scheduled, Set, Trusted
from sledlab.runs.written import words
from sledlab.studies.fleet.placement import LIST

PLACEMENT, FILL, GROUP = "one-each", 0.7, 4
"""Defaults."""


class FleetOptions(Scheduled, Saving, Arranged, Set, Priced, Parallel, Trusted, total=False):
    """The options of a study of a fleet, without its volumes and devices."""

    format: Annotated[
        str, Option("Format of the traces of volumes; told by their content when left out.", "F")
    ]
    placement: Annotated[
        str,
        Option(
            f"How volumes are laid on devices: {' | '.join(each.name for each in LIST)}.", "HOW", PLACEMENT
        ),
    ]
    fill: Annotated[
        float,
        Option(
            "Largest share of time and of capacity to which a shared device is filled, 0 to 1",
            "SHARE",
            f"{FILL}",
        ),
    ]
    group: Annotated[
        int, Option("Devices over which the placement striped stripes a volume", "N", f"{GROUP}")
    ]
    goal: Annotated[
        str,
        Option("Response time that volumes have to keep to, such as p99=10ms or mean=2ms.", "MEASURE=TIME"),
    ]
    years: Annotated[float, Option("Years over which devices are written off, and use energy", "Y", "3")]


class FleetArguments(FleetOptions, total=False):
    """All arguments of a study of a fleet."""

    place: Annotated[
        str | Path, Option("Place of the volumes, if STUDY is given: a directory or an address.", "PLACE")
    ]
    devices: Annotated[
        Devices,
        Option(
            "Kinds of devices, or experiments such as hybrids, by name or file: mems-g2,atlas-10k.",
            "A,B,C",
            read=words,
        ),
    ]
