"""`sledlab smart`: the study of jobs on storage nodes; beneath it `record`, `replay`, `show` and `size`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sledlab.cli.group import CommandGroup
from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import (
    DEVICE,
    NUMBER,
    REPLACE,
    json_option,
    option,
    options,
    quiet_option,
    seed_option,
    show_json,
    static_option,
    whole_number,
)
from sledlab.cli.smart_size import smart_size
from sledlab.cli.study import study_command
from sledlab.cli.study_file import refuse_study
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.job import MEMORY_MB
from sledlab.lazy import later
from sledlab.model.experiment import is_name
from sledlab.results import REPORT
from sledlab.runs.options import ClusterOptions, NetworkOptions, Option, declared_options
from sledlab.runs.parsing import count, pair
from sledlab.show import terminal
from sledlab.studies.smart import STUDY

if TYPE_CHECKING:
    from collections.abc import Mapping

run = later("sledlab.runs.cluster:replay")
record = later("sledlab.job.record:record")
record_query = later("sledlab.job.query:record_query")
records = later("sledlab.traces.work")
Progress = later("sledlab.show.progress:Progress")


def _options() -> Mapping[str, Option]:
    """The options of a replay in the order of help: store, cluster, models, settings, and the rest."""
    declarations = declared_options(ClusterOptions)
    first_names = [*declared_options(NetworkOptions), "scheduler", "power"]
    meaning = "Any other setting, such as node.mhz=1000 or network.latency_us=10; can be repeated."
    last_options = {
        "settings": replace(declarations["settings"], meaning=meaning),
        "threads": declarations["threads"],
    }
    return {
        "device": DEVICE,
        **{name: declarations[name] for name in first_names},
        **{
            name: option for name, option in declarations.items() if name not in (*first_names, *last_options)
        },
        **last_options,
        "out": Option("Directory for summary, tables and report.", "DIR"),
        **REPLACE,
        "goal": Option("Write the job as a GOAL schedule, for simulators of networks.", "FILE"),
    }


@click.command("replay", cls=GroupedHelp)
@click.argument("file")
@options(_options())
@option(
    "--what-if/--no-what-if",
    default=True,
    help="Replay again with each component twice as fast, to find the bottleneck.  [default: what-if]",
)
@option(
    "--dump-trace",
    metavar="NODE FILE",
    nargs=2,
    help="Write the requests to the store of a node as a trace; the name of FILE determines the format.",
)
@static_option
@quiet_option
@json_option
def smart_replay(
    file: str,
    device: str | None,
    out: str | None,
    replace: bool | None,
    goal: str | None,
    dump_trace: tuple[str, str] | None,
    *,
    what_if: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Replay a work record on a cluster: where the time of every node goes.

    FILE is a work record, or a TOML file, such as --out writes, that names one; options override its
    settings.

    \b
    Examples:
      sledlab smart replay sample:sort --device mems-g2
      sledlab smart replay sample:sort --device hp-c2490a --network infiniband-1x --out run
      sledlab smart replay sample:scan --device mems-g2 --at host --set node.mhz=1000
      sledlab smart replay run/experiment.toml --device mems-g2 --dump-trace 0 node-0.csv
    """
    is_experiment = file.lower().endswith(".toml") or is_name(file)
    if is_experiment:
        refuse_study(file)
    with Progress("replaying", unit="pages") as progress:
        result = run(
            None if is_experiment else file,
            device,
            what_if=what_if,
            experiment=file if is_experiment else None,
            out=out,
            replace=bool(replace),
            dump_trace=_node_and_file(dump_trace) if dump_trace else None,
            goal=goal,
            progress=progress.update,
            **{name: flags[name] for name in declared_options(ClusterOptions)},
        )
    if as_json:
        show_json(result.to_dict())
        return
    find_presentation(result).show(result)
    if dump_trace:
        terminal.note(f"trace of node {dump_trace[0]}: {dump_trace[1]}")
    if goal:
        terminal.note(f"GOAL schedule: {goal}")
    if out:
        terminal.note(f"report: {Path(out) / REPORT}")


def _node_and_file(words: tuple[str, str]) -> tuple[int, str]:
    """The number of a node, and a file.

    Raises:
        Error: The first word is no number of a node.
    """
    try:
        return count(words[0]), words[1]
    except Error as error:
        remedy = "write --dump-trace 0 node-0.csv"
        raise Error(f"`--dump-trace`: `{words[0]}` is not the number of a node", remedy=remedy) from error


@click.command("record", cls=GroupedHelp)
@option("--job", metavar="NAME|FILE", help="Job: sledlab list job, or a Python file.")
@option("--query", metavar="NAME|FILE", help="Instead of a job: q1 to q22 of TPC-H, or a file of SQL.")
@option(
    "--node-count", metavar="N", type=whole_number(), default=4, show_default=True, help="Number of nodes."
)
@option("--work", metavar="FILE", help="File for the work record; usually NAME.work.")
@option("--answer", metavar="FILE", help="File for the answer: .parquet for rows, .json for plain data.")
@option("--data", metavar="NAME", default="", help="Data to run on, instead of the job's own kind.")
@option(
    "--scale-factor",
    metavar="X",
    type=NUMBER,
    help="Scale factor of TPC-H: 1 has 6,001,215 line items.  [default: 1]",
)
@option(
    "--tables",
    metavar="DIR",
    help="Tables of a query instead of TPC-H's: NAME.parquet or NAME/*.parquet in a directory.",
)
@option(
    "--job-set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter of job or data; sledlab show job NAME.",
)
@option(
    "--memory-mb",
    metavar="X",
    type=NUMBER,
    default=MEMORY_MB,
    show_default=True,
    help="Memory of a job on a node, in MiB.",
)
@seed_option
@option("--mpi", is_flag=True, help="Run each node as a process of its own, under MPI.")
@option(
    "--mpiexec",
    metavar="COMMAND",
    default="mpiexec",
    show_default=True,
    help="Launcher of processes for --mpi; accepts -n N, such as srun.",
)
@option(
    "--measured",
    is_flag=True,
    help="Measure processor time instead of counting operations; not reproducible.",
)
@option("--again", is_flag=True, help="Record again, even if the same job on the same data is cached.")
@option(
    "--redundancy",
    metavar="KIND",
    default="none",
    show_default=True,
    help="Nodes that hold copies of a node's files: none, mirror or chained.",
)
@option(
    "--failed",
    metavar="N[,N...]",
    takes_list=True,
    default="",
    help="Nodes that have failed; their files are read from copies.",
)
@quiet_option
@json_option
def smart_record(
    job: str | None,
    query: str | None,
    node_count: int,
    scale_factor: float | None,
    tables: str | None,
    settings: tuple[str, ...],
    failed: str,
    *,
    as_json: bool,
    **option_values: Any,
) -> None:
    """Run a job, or a query, on real data and record what each node reads, counts, sends and writes.

    Records are kept, and so are generated data: the same job or query on the same data is not run again.

    \b
    Examples:
      sledlab smart record --job sort --node-count 32 --work sort.work
      sledlab smart record --job scan --job-set where="l_quantity > 49" --answer found.parquet
      sledlab smart record --job join --node-count 8 --mpi --work join.work
      sledlab smart record --job my_job.py --work my.work
      sledlab smart record --job sort --node-count 8 --redundancy chained --failed 3 --answer sorted.parquet
      sledlab smart record --query q5 --node-count 8 --scale-factor 1 --work q5.work
      sledlab smart record --query my.sql --tables data --node-count 8 --work my.work
    """
    if (job is None) == (query is None):
        raise Error("there is one job or one query to record", remedy="use --job sort, or --query q5")
    if tables is not None and (query is None or scale_factor is not None):
        raise Error(
            "`--tables` applies to queries only",
            remedy="omit it" if query is None else "omit --scale-factor",
        )
    parameters: dict[str, Any] = dict(pair("--job-set", item) for item in settings)
    if scale_factor is not None:
        parameters["scale_factor"] = str(scale_factor)
    clashing_names = sorted(set(parameters) & {"job", "node_count", "progress", "failed", *option_values})
    if clashing_names:
        raise Error(
            f"`{clashing_names[0]}` is set by --{clashing_names[0].replace('_', '-')}",
            remedy="omit --job-set",
        )
    with Progress("recording", unit="") as progress:
        if query is not None:
            _refuse_job_options()
            work_record = record_query(
                query,
                node_count,
                scale_factor=1.0 if scale_factor is None else scale_factor,
                tables=tables,
                progress=progress.show_step,
                **{name: option_values[name] for name in ("work", "answer", "memory_mb", "again")},
            )
        else:
            failed_nodes = [count(number) for number in failed.split(",")] if failed else []
            work_record = record(
                str(job),
                node_count,
                failed=failed_nodes,
                progress=progress.show_step,
                **option_values,
                **parameters,
            )
    if as_json:
        show_json(work_record.description)
        return
    find_presentation(work_record).show(work_record)
    terminal.note(f"record: {work_record.name}")
    if option_values["answer"]:
        terminal.note(f"answer: {option_values['answer']}")


def _refuse_job_options() -> None:
    """Refuse options for jobs, which mean nothing for a query.

    Raises:
        Error: One of them was given.
    """
    parameter_source = click.get_current_context().get_parameter_source
    for name in ("data", "settings", "seed", "mpi", "mpiexec", "measured", "redundancy", "failed"):
        if parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "job-set" if name == "settings" else name
            raise Error(f"`--{option}` is for jobs, not for queries", remedy="omit it")


@click.command("show")
@click.argument("file")
@json_option
def smart_show(file: str, *, as_json: bool) -> None:
    """Show a work record: job, files, phases with bytes and operations, and bytes between nodes.

    \b
    Examples:
      sledlab smart show sample:join
    """
    work_record = records.work(file)
    if as_json:
        traffic = {"traffic": work_record.traffic.tolist()} if work_record.nodes <= records.MAX_NODES else {}
        show_json({**work_record.description, **traffic})
    else:
        find_presentation(work_record).show(work_record)


def smart(_name: str) -> click.Command:
    """The command of the study, with `record`, `replay`, `show` and `size` beneath it."""
    group = study_command(STUDY, command_class=CommandGroup)
    assert isinstance(group, click.Group)
    group.add_command(smart_record)
    group.add_command(smart_replay)
    group.add_command(smart_show)
    group.add_command(smart_size)
    return group
