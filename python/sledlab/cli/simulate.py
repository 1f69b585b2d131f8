"""`sledlab simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.options import set_option
from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledlab._native import Experiment
    from sledlab.result import Result


@click.command()
@click.argument("experiment", required=False, type=click.Path(dir_okay=False))
@click.option(
    "--device", metavar="NAME|FILE", help="Device: a preset (sledlab device list) or a device file."
)
@click.option("--trace", metavar="FILE", help="Trace to replay; `-` for standard input.")
@click.option("--format", metavar="F", help="Format of the trace; told by its content when left out.")
@click.option("--sort", metavar="N", type=int, help="Put requests in order that come up to N lines too late.")
@click.option(
    "--workload", metavar="NAME", help="Generated workload instead of a trace (sledlab workload list)."
)
@click.option("--scheduler", metavar="NAME", help="Scheduler (sledlab scheduler list)  [default: fcfs]")
@click.option(
    "--replay", metavar="MODE", help="open | closed:N | closed:N:TIME, N outstanding  [default: open]"
)
@click.option("--speedup", metavar="S", type=float, help="Divide the times between arrivals by S.")
@click.option("--warmup", metavar="N", type=int, help="Requests at the start that do not count.")
@click.option("--limit", metavar="N", type=int, help="End after N requests.")
@click.option("--duration", metavar="S", type=float, help="Issue nothing after S simulated seconds.")
@click.option("--outside", metavar="HOW", help="Requests past the end: reject | wrap | clip | scale.")
@click.option("--seed", metavar="N", type=int, help="Root of all random numbers  [default: 1]")
@set_option
@click.option("--out", metavar="DIR", help="Directory for summary, tables and report.")
@click.option("--requests", metavar="FILE", help="Table of all requests, .parquet or .csv.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the results as one JSON object and nothing else."
)
def simulate(
    experiment: str | None, out: str | None, requests: str | None, *, as_json: bool, **flags: Any
) -> int:
    """Replay a trace or workload against a device.

    EXPERIMENT is a TOML file, such as --out leaves behind; options override what it says.

    \b
    Examples:
      sledlab simulate --device mems-g2 --trace app.csv --scheduler sptf --speedup 16
      sledlab simulate --device mems-g2 --workload uniform --limit 1000000 --replay closed:8 --json
      sledlab simulate run/experiment.toml --set device.active_tips=3200 --out run2
    """
    from sledlab.progress import Progress
    from sledlab.recording import Recording
    from sledlab.simulation import execute

    plan = compose(experiment, flags)
    plan.check()
    recording = Recording.planned(out=out, requests=requests)
    with Progress("simulating") as progress:
        result = execute(plan, recording, progress=progress.update)
    if as_json:
        click.echo(json.dumps(with_wall_clock(result), ensure_ascii=False, allow_nan=False))
    else:
        _show(result, out)
    return 130 if result.interrupted else 0


def compose(file: str | None, flags: dict[str, Any]) -> Experiment:
    """The experiment that a file and options describe; options win."""
    from sledlab._native import Experiment
    from sledlab.simulation import read

    experiment = read(file) if file else Experiment()
    if flags["trace"] and flags["workload"]:
        raise Error("both --trace and --workload were given", remedy="keep one of them")
    if flags["format"] and not flags["trace"]:
        raise Error("--format was given without --trace")
    if flags["device"]:
        experiment = experiment.with_device(flags["device"])
    if flags["trace"]:
        experiment = experiment.with_trace(flags["trace"], flags["format"])
    if flags["workload"]:
        experiment = experiment.with_workload(flags["workload"])
    for key, value in _settings(flags):
        experiment = experiment.with_setting(key, value)
    return experiment


KEYS = {
    "scheduler": "scheduler.kind",
    "sort": "trace.sort_window",
    "replay": "replay.mode",
    "speedup": "replay.speedup",
    "warmup": "replay.warmup",
    "limit": "replay.limit",
    "duration": "replay.duration_s",
    "outside": "replay.outside",
    "seed": "seed",
}
"""Options that stand for one key of an experiment."""


def _settings(flags: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for option, key in KEYS.items():
        if flags[option] is not None:
            yield key, str(flags[option])
    for item in flags["settings"]:
        key, sign, value = item.partition("=")
        if not sign:
            raise Error(f"`--set {item}` has no value", remedy="write --set table.key=value")
        yield key.strip(), value.strip()


def with_wall_clock(result: Result) -> dict[str, Any]:
    """The summary, and what the run took in real time."""
    return {**result.summary, "wall_s": result.timing["wall_s"]}


def _show(result: Result, out: str | None) -> None:
    from rich.console import Console

    from sledlab import wording

    console = Console(highlight=False, soft_wrap=True)
    wording.write(result, console.print)
    speed = wording.figure(result.timing["operations_per_s"] / 1e6)
    work = wording.figure(result.timing["wall_s"])
    console.print(f"[dim]{work} s of work, {speed} million operations per second[/dim]")
    if out:
        console.print(f"[dim]report: {Path(out) / 'report.html'}[/dim]")
