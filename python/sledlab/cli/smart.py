"""`sledlab smart`: the study of jobs on storage nodes, and beneath it what replays and shows one record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.group import CommandGroup
from sledlab.cli.options import DEVICE, json_option, options, show_json
from sledlab.cli.study import made
from sledlab.errors import Error
from sledlab.runs.cluster import replay as run
from sledlab.runs.options import Clustered, Connected, Option, count, declared
from sledlab.runs.recording import REPORT
from sledlab.show import terminal
from sledlab.show.progress import Progress
from sledlab.shown import face_of
from sledlab.studies.smart import STUDY
from sledlab.traces.work import MOST_NODES
from sledlab.traces.work import work as read_work

if TYPE_CHECKING:
    from collections.abc import Mapping


def _options() -> Mapping[str, Option]:
    """The options of a replay in the order of help: store, cluster, models, settings, and the rest."""
    said = declared(Clustered)
    first = [*declared(Connected), "scheduler", "power"]
    meaning = "Any other setting, such as node.mhz=1000 or network.latency_us=10; can be repeated."
    last = {"settings": replace(said["settings"], meaning=meaning), "threads": said["threads"]}
    return {
        "device": DEVICE,
        **{name: said[name] for name in first},
        **{name: option for name, option in said.items() if name not in (*first, *last)},
        **last,
        "out": Option("Directory for summary, tables and report.", "DIR"),
        "goal": Option("Write the job as a GOAL schedule, for simulators of networks.", "FILE"),
    }


@click.command("replay")
@click.argument("file")
@options(_options())
@click.option(
    "--what-if/--no-what-if",
    default=True,
    help="Replay again with each component twice as fast, to find the bottleneck.  [default: what-if]",
)
@click.option(
    "--dump-trace",
    metavar="NODE FILE",
    nargs=2,
    help="Write the requests to the store of a node as a trace; FILE tells the format by its name.",
)
@json_option
def smart_replay(
    file: str,
    device: str | None,
    out: str | None,
    goal: str | None,
    dump_trace: tuple[str, str] | None,
    *,
    what_if: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Replay a work record on a cluster: where the time of every node goes.

    FILE is a work record, or a TOML file, such as --out leaves behind, that names one; options override what
    it says.

    \b
    Examples:
      sledlab smart replay sample/work/sort.work --device mems-g2
      sledlab smart replay sample/work/sort.work --device hp-c2490a --network infiniband-1x --out run
      sledlab smart replay sample/work/scan.work --device mems-g2 --at host --set node.mhz=1000
      sledlab smart replay run/experiment.toml --device mems-g2 --dump-trace 0 node-0.csv
    """
    is_experiment = file.lower().endswith(".toml")
    with Progress("replaying", of="pages") as progress:
        result = run(
            None if is_experiment else file,
            device,
            what_if=what_if,
            experiment=file if is_experiment else None,
            out=out,
            dump_trace=_node_and_file(dump_trace) if dump_trace else None,
            goal=goal,
            progress=progress.update,
            **{name: flags[name] for name in declared(Clustered)},
        )
    if as_json:
        show_json(result.summary)
        return
    face_of(result).show(result)
    if dump_trace:
        terminal.note(f"trace of node {dump_trace[0]}: {dump_trace[1]}")
    if goal:
        terminal.note(f"GOAL schedule: {goal}")
    if out:
        terminal.note(f"report: {Path(out) / REPORT}")


def _node_and_file(said: tuple[str, str]) -> tuple[int, str]:
    """The number of a node, and a file.

    Raises:
        Error: The first is no number of a node.
    """
    try:
        return count(said[0]), said[1]
    except Error as error:
        remedy = "write --dump-trace 0 node-0.csv"
        raise Error(f"`--dump-trace`: `{said[0]}` is not the number of a node", remedy=remedy) from error


@click.command("show")
@click.argument("file")
@json_option
def smart_show(file: str, *, as_json: bool) -> None:
    """What a work record holds: job, files, phases with their bytes and operations, and who sends whom.

    \b
    Example:
      sledlab smart show sample/work/join.work
    """
    found = read_work(file)
    if as_json:
        matrix = {"traffic": found.traffic.tolist()} if found.nodes <= MOST_NODES else {}
        show_json({**found.described, **matrix})
    else:
        face_of(found).show(found)


def smart(_name: str) -> click.Command:
    """The command of the study, with those that look at one record beneath it."""
    group = made(STUDY, kind=CommandGroup)
    assert isinstance(group, click.Group)
    group.add_command(smart_replay)
    group.add_command(smart_show)
    return group
