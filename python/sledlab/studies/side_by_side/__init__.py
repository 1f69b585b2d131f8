"""Devices side by side, on one or more traces or workloads: which answers faster, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from sledlab.lazy import later
from sledlab.model.catalog import ModelChoice
from sledlab.model.choices import distinct_models, numbers, texts
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import (
    Devices,
    ModelList,
    Numbers,
    Option,
    PriceOptions,
    SchedulerOptions,
    StorageOptions,
    StudyOptions,
)
from sledlab.runs.parsing import names
from sledlab.runs.systems import parse_systems
from sledlab.study.run import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.side_by_side.tables import SideBySide


class SideBySideOptions(SchedulerOptions, StorageOptions, StudyOptions, PriceOptions, total=False):
    """The options of a comparison of devices."""

    goal: Annotated[
        str,
        Option(
            "Goal: p99=20ms; the cheapest device within it is named.",
            "MEASURE=TIME",
            parse=later("sledlab.studies.costs.goal:goal"),
        ),
    ]

    speedup: Annotated[
        Numbers, Option("Replay S times as fast.", "S,S", "1", parse=partial(numbers, "speed-up", above=True))
    ]
    find_max_load: Annotated[bool, Option("Find the speed-up up to which each device keeps up.")]


class SideBySideArguments(SideBySideOptions, total=False):
    """All arguments of a comparison of devices."""

    device: Annotated[
        Devices,
        Option(
            "Devices, systems (disk+flash:8GB) or experiments.",
            "NAME|FILE,..",
            parse=parse_systems,
        ),
    ]
    trace: Annotated[
        Sequence[str | Path] | str | Path,
        Option("Trace files, or sample:NAME (sledlab list trace).", "FILE,..", read=names, parse=texts),
    ]
    workload: Annotated[
        ModelList,
        Option(
            "Generated workloads (sledlab list workload).",
            "NAME,..",
            parse=partial(distinct_models, "workload"),
        ),
    ]


__all__ = ["STUDY", "side_by_side"]

trace_file = later("sledlab.studies.side_by_side.plan:trace_file")

STUDY: Study[SideBySide] = Study(
    name="side-by-side",
    meaning="Compare devices with each other, on one trace or several.",
    help="",
    options=SideBySideArguments,
    plan=later("sledlab.studies.side_by_side.plan:plan_runs"),
    conclude=later("sledlab.studies.side_by_side.tables:conclude"),
    extend_plan=later("sledlab.studies.side_by_side.max_load:extend_plan"),
    progress_caption="comparing",
    replaced_keys=("replay.speedup",),
    selecting_keywords=("device", "trace", "workload"),
)


@accept_options(SideBySideOptions)
def side_by_side(
    source: Source | Sequence[Source] | None = None,
    device: Device | Sequence[Device] | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[SideBySideOptions],
) -> SideBySide:
    """Compare devices with each other: the same requests on every one of them.

    Args:
        source: A trace or a workload, as in `simulate`, or a list of trace files or of workloads.
        device: A device, its name or its file, or a list of them.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables and report; an interrupted study resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below. A trace that does not fit on the smallest device is
            refused, unless `outside` sets the handling of requests past its end: all devices then get the
            requests that the smallest can hold.

    Returns:
        All results, as frames.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.
        KeyboardInterrupt: Ctrl-C; completed runs are saved in `out`.

    Examples:
        >>> import sledlab as sl
        >>> several = [sl.workload("uniform"), sl.workload("cello")]
        >>> comparison = sl.side_by_side(several, ["mems-g2", "mems-g3"], limit=200, parallel=1)
        >>> comparison.runs.height
        4
    """
    study_options: dict[str, Any] = dict(options)
    single_device: Any = device
    if isinstance(device, (list, tuple)):
        study_options["device"], single_device = device, None
    if isinstance(source, (list, tuple)):
        are_workloads = bool(source) and all(isinstance(each, ModelChoice) for each in source)
        study_options |= (
            {"workload": source} if are_workloads else {"trace": [trace_file(each) for each in source]}
        )
        source = None
    return STUDY.run(source, single_device, study_options, study=study, out=out, replace=replace)
