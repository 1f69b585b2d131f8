"""Replaying work records on clusters."""

from __future__ import annotations

import json
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sledlab._native import ClusterExperiment
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.model.experiment import read_toml_text
from sledlab.model.plugins import allowed_plugins, find_plugins
from sledlab.results import list_in_manifest, prepare_directory, record_digests
from sledlab.runs.cluster_outcome import KIND, RESULT_FILES, to_result, write
from sledlab.runs.compose import error_location, single_value, with_options
from sledlab.runs.file_names import check_local
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import ClusterOptions
from sledlab.traces.work import Work
from sledlab.traces.work import work as read_work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.runs.cluster_result import ClusterResult
    from sledlab.runs.compose import Device
    from sledlab.runs.execute import Tell


@accept_options(ClusterOptions)
def replay(
    work: Work | str | Path | None = None,
    device: Device | None = None,
    *,
    what_if: bool = True,
    experiment: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    dump_trace: tuple[int, str | Path] | None = None,
    goal: str | Path | None = None,
    progress: Tell | None = None,
    **options: Unpack[ClusterOptions],
) -> ClusterResult:
    """Replay a work record on a cluster: compute the times of what each node did.

    Args:
        work: The record, or its file; by default that of `experiment`.
        device: Store of every node: a device (`device(...)`), or its name or file.
        what_if: Whether to replay the record again with each of processor, store and network twice as fast.
        experiment: The file of an experiment, that all other arguments override; it may name the record and
            the device.
        out: A directory for summary, tables and report.
        replace: Whether to remove first the results that sledlab left in that directory, of any kind.
        dump_trace: The number of a node and the trace file to write the requests to its store to.
        goal: A file to write the job to as a GOAL schedule, for simulators of networks.
        progress: Called now and then with the pages done and the share of the whole.
        **options: Further options; see the table below.

    Returns:
        The result.

    Raises:
        Error: The input or an option is invalid.
        KeyboardInterrupt: Ctrl-C.

    Examples:
        >>> import sledlab as sl
        >>> sort = sl.work("sample:sort")
        >>> disk, mems = (sl.replay(sort, device) for device in ("hp-c2490a", "mems-g2"))
        >>> 5 < disk.elapsed_s / mems.elapsed_s < 10
        True
        >>> fast = sl.replay(sort, "mems-g2", network="infiniband-1x", node=sl.node("smart-2003", mhz=1000))
        >>> fast.elapsed_s < mems.elapsed_s
        True
    """
    for noun, number in (("number of threads", options.get("threads")), ("node", (dump_trace or (0,))[0])):
        if number is not None and number < 0:
            raise Error(f"there is no {noun} {number}", remedy="use a number from 0")
    with error_location(experiment, device, options, ClusterOptions):
        base = read(experiment) if experiment is not None else ClusterExperiment()
        record, cluster_experiment = compose(work, device, options, base)
        toml = cluster_experiment.to_toml(record.native)
    for path in (dump_trace[1] if dump_trace else None, goal):
        if path is not None:
            check_writable(Path(path))
    cluster_table = tomllib.loads(toml)["cluster"]
    if goal is not None and cluster_table["at"] == "host":
        remedy = 'omit the schedule, or use at="nodes"'
        raise Error("the schedule of a job is that of its nodes, not of a host", remedy=remedy)
    if goal is not None and cluster_table["redundancy"] != "none":
        remedy = "omit the schedule, or cluster.redundancy"
        raise Error("the schedule of a job is that of nodes without copies", remedy=remedy)
    directory = prepare_directory(out, KIND, replace=replace)
    with ExitStack() as files:
        trace_draft = files.enter_context(atomic_write(Path(dump_trace[1]))) if dump_trace else None
        schedule_draft = files.enter_context(atomic_write(Path(goal))) if goal else None
        outcome = cluster_experiment.run(
            record.native,
            what_if,
            options.get("threads") or 0,
            progress,
            dump_trace[0] if dump_trace else None,
            str(trace_draft) if trace_draft else None,
            str(schedule_draft) if schedule_draft else None,
        )
    result = to_result(json.loads(outcome), record, toml)
    if directory is not None:
        list_in_manifest(directory, KIND, RESULT_FILES)
        write(result, directory)
        record_digests(directory)
    return result


def run(experiment: ClusterExperiment, *, threads: int = 0, progress: Tell | None = None) -> ClusterResult:
    """Replay the record that an experiment names, and again with each component twice as fast.

    Raises:
        Error: The experiment names no record, or a value in it is wrong.
    """
    record, experiment = compose(None, None, {}, experiment)
    outcome = experiment.run(record.native, True, threads, progress)
    return to_result(json.loads(outcome), record, experiment.to_toml(record.native))


def read(path: str | Path) -> ClusterExperiment:
    """Read an experiment file.

    Raises:
        Error: The file cannot be read, is not an experiment, or names a plug-in.
    """
    text = read_toml_text(path)
    experiment = ClusterExperiment(text, str(path))
    tables = tomllib.loads(text)
    group_tables = tables.get("group")
    groups = (
        [group for group in group_tables if isinstance(group, dict)] if isinstance(group_tables, list) else []
    )
    _refuse_plugins([table.get(name) for table in [tables, *groups] for name in ("scheduler", "power")])
    return experiment


def _refuse_plugins(models: Sequence[Any]) -> None:
    """Refuse plug-ins among schedulers and power policies."""
    if plugins := find_plugins(models):
        raise Error(
            f"`{plugins[0]}`: schedulers and power policies that are plug-ins cannot be used "
            "where a record is replayed",
            remedy="choose one that comes with sledlab: sledlab list scheduler, sledlab list power",
        )


def compose(
    work: Work | str | Path | None,
    device: Device | None,
    options: Mapping[str, Any],
    base: ClusterExperiment,
) -> tuple[Work, ClusterExperiment]:
    """The record, and the experiment `base` with that record, the device and the options `options`.

    Raises:
        Error: There is no record, or an option is wrong.
    """
    experiment = compose_experiment(device, options, base)
    if work is None:
        work = experiment.work_file()
        if work is None:
            raise Error("no work record was given", remedy="specify one, such as sample:sort")
    record = work if isinstance(work, Work) else read_work(work)
    return record, experiment.with_work(record.name)


def compose_experiment(
    device: Device | None,
    options: Mapping[str, Any],
    base: ClusterExperiment,
    options_class: type = ClusterOptions,
) -> ClusterExperiment:
    """Return the experiment `base` with a device and options, whatever record it replays.

    `options_class` is the class that declares the options.

    Raises:
        Error: An option is wrong.
    """
    settings = options.get("settings") or {}
    check_local(tomllib.loads(base.explicit_toml()), settings)
    policy_names = [settings.get(f"{name}.kind") for name in ("scheduler", "power")]
    _refuse_plugins([options.get("scheduler"), options.get("power"), *policy_names])
    plugins = allowed_plugins(options, device)
    experiment = base.with_plugins(plugins) if plugins else base
    return with_options(experiment, single_value("device", device), options, options_class)
