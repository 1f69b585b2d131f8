"""`sledlab simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.experiment import compose, replay_options, source_options
from sledlab.cli.options import json_option, set_option

if TYPE_CHECKING:
    from sledlab.result import Result


@click.command()
@click.argument("experiment", required=False, type=click.Path(dir_okay=False))
@source_options
@click.option("--scheduler", metavar="NAME", help="Scheduler (sledlab scheduler list)  [default: fcfs]")
@click.option(
    "--power",
    metavar="POLICY",
    help="When the device parks (sledlab power list)  [default: after its own idle_timeout_ms]",
)
@click.option(
    "--merge", metavar="HOW", help="Serve queued requests as one: none | pairs | chains  [default: none]"
)
@click.option("--speedup", metavar="S", type=float, help="Divide the times between arrivals by S.")
@replay_options
@set_option
@click.option("--out", metavar="DIR", help="Directory for summary, tables and report.")
@click.option("--requests", metavar="FILE", help="Table of all requests, .parquet or .csv.")
@json_option
def simulate(
    experiment: str | None, out: str | None, requests: str | None, *, as_json: bool, **flags: Any
) -> int:
    """Replay a trace or workload against a device.

    EXPERIMENT is a TOML file, such as --out leaves behind; options override what it says. --trace - reads
    standard input.

    \b
    Examples:
      sledlab simulate --device mems-g2 --trace app.csv --scheduler sptf --speedup 16
      sledlab simulate --device mems-g2 --workload uniform --limit 1000000 --replay closed:8 --json
      sledlab simulate --device mems-g2 --trace app.csv --power fixed:timeout_ms=10 --out run
      sledlab simulate run/experiment.toml --set device.active_tips=3200 --out run2
    """
    from sledlab.progress import Progress
    from sledlab.recording import Recording
    from sledlab.simulation import Experiment, execute, read

    plan = compose(read(experiment) if experiment else Experiment(), flags)
    plan.check()
    recording = Recording.planned(out=out, requests=requests)
    with Progress("simulating") as progress:
        result = execute(plan, recording, progress=progress.update)
    if as_json:
        click.echo(json.dumps(with_wall_clock(result), ensure_ascii=False, allow_nan=False))
    else:
        _show(result, out)
    return 130 if result.interrupted else 0


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
