"""Many volumes on many devices: which kind of device serves which volume best, and how many a goal needs."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any, Unpack

from sledlab.lazy import later
from sledlab.runs.keywords import accept_options
from sledlab.studies.fleet.options import FleetArguments, FleetOptions
from sledlab.study.run import ONE_SYSTEM, Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.runs.compose import Device
    from sledlab.studies.fleet.tables import Fleet

__all__ = ["STUDY", "fleet"]

STUDY: Study[Fleet] = Study(
    name="fleet",
    meaning="Assign many volumes to many devices.",
    help="""Assign many volumes to many devices.

    PLACE holds the volumes: a directory with one trace each (sledlab fleet split), sample: for the sample
    traces, or cloud:volumes=100,hours=1 for generated ones. Each volume is replayed alone on each kind of
    device, then all volumes as they are placed. --goal fills shared devices as far as the goal allows.

    \b
    Examples:
      sledlab fleet sample: --device mems-g2,atlas-10k,ssd-tlc --goal p99=20ms
      sledlab fleet sample: --device mems-g2 --placement packed --out fleet
      sledlab fleet fleet/study.toml --goal mean=2ms
    """,
    options=FleetArguments,
    plan=later("sledlab.studies.fleet.plan:plan_runs"),
    conclude=later("sledlab.studies.fleet.tables:conclude"),
    extend_plan=later("sledlab.studies.fleet.steps:extend_plan"),
    progress_caption="concluding",
    device=False,
    place="place",
    despite_failures=True,
    subject=changed(
        ONE_SYSTEM,
        measure=later("sledlab.studies.fleet.measurement:measure"),
        row=later("sledlab.studies.fleet.measurement:FleetRun"),
        takes_requests=False,
    ),
)


@accept_options(FleetOptions)
def fleet(
    place: str | Path | None = None,
    device: Sequence[Device] | Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[FleetOptions],
) -> Fleet:
    """Assign many volumes to devices and find the best kind of device for each volume.

    Replay each volume alone on each kind of device, then all volumes on each kind as placed, one run for
    each device. With a goal and a placement that shares devices, search for the fewest devices, and place
    each volume on its best kind: the mix.

    Args:
        place: A directory with a trace for each volume, or another location that `read_volumes` accepts.
        device: Kinds of devices, or experiments such as hybrids, by name or file.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables and report; an interrupted study resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below.

    Returns:
        All results as frames, and the summary.

    Raises:
        Error: An option is invalid, or no volume can be replayed. A volume with an error in its requests
            is reported by name, and the others complete.
        KeyboardInterrupt: Ctrl-C; completed runs are saved in `out`.

    Examples:
        >>> import sledlab as sl
        >>> place = "cloud:volumes=4,requests=4000,footprint_gb=0.1"
        >>> fleet = sl.fleet(place, ["mems-g2", "mems-g3"], placement="packed", goal="p99=20ms", parallel=1)
        >>> fleet.tables["fleet"]["fleet"].to_list()
        ['mems-g2', 'mems-g3', 'mix']
    """
    all_options: dict[str, Any] = {**options, "place": place, "device": device}
    return STUDY.run(None, None, all_options, study=study, out=out, replace=replace)
