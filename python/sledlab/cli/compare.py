"""`sledlab compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.experiment import compose, jobs_option, replay_options, source_options, split
from sledlab.cli.options import json_option, listed, number, set_option, show_json

if TYPE_CHECKING:
    from sledlab.comparison.plan import Plan


@click.command()
@click.argument("experiment", required=False, type=click.Path(dir_okay=False))
@source_options
@click.option(
    "--schedulers", metavar="A,B,C|all", help="Schedulers (sledlab scheduler list)  [default: all that race]"
)
@click.option(
    "--speedups",
    metavar="S,S,S",
    help="Factors that divide the times between arrivals  [default: 1,2,4,8,16; 1 when closed]",
)
@click.option("--seeds", metavar="N", type=int, help="Repeat with N seeds; workloads only  [default: 1]")
@click.option("--vary", metavar="KEY=V,V", help="One more key to vary, such as device.sleds=1,4.")
@replay_options
@set_option
@jobs_option
@click.option(
    "--out", metavar="DIR", help="Directory for tables and report; what it holds already is not run again."
)
@json_option
def compare(
    experiment: str | None, out: str | None, jobs: int | None, *, as_json: bool, **flags: Any
) -> None:
    """Race schedulers against each other over a range of loads.

    EXPERIMENT is a TOML file, such as --out leaves behind: an experiment with a table [compare] that holds
    schedulers, speedups, seeds and vary. Options override what it says. A comparison that was stopped goes
    on when it is given the same --out again.

    \b
    Examples:
      sledlab compare --device mems-g2 --trace app.csv --schedulers fcfs,sptf --speedups 1,2,4 --out race
      sledlab compare --device mems-g2 --workload uniform --limit 100000 --seeds 10 --out race
      sledlab compare race/compare.toml --vary device.sleds=1,4 --out race-of-sleds
    """
    from sledlab import terminal
    from sledlab.comparison import words
    from sledlab.comparison.run import run
    from sledlab.recording import REPORT

    comparison = run(planned(experiment, flags), jobs=jobs, out=out)
    if as_json:
        show_json(comparison.to_dict())
    else:
        terminal.show(lambda show: words.write(comparison, show), Path(out) / REPORT if out else None)


def planned(file: str | None, flags: dict[str, Any]) -> Plan:
    """The comparison that a file and options describe; options win."""
    from sledlab._native import Experiment
    from sledlab.comparison.plan import Plan, read

    experiment, said = read(file) if file else (Experiment(), {})
    if flags["schedulers"] is not None:
        said["schedulers"] = listed(flags["schedulers"])
    if flags["speedups"] is not None:
        said["speedups"] = [number("--speedups", word) for word in listed(flags["speedups"])]
    if flags["seeds"] is not None:
        said["seeds"] = flags["seeds"]
    if flags["vary"] is not None:
        key, values = split("--vary", flags["vary"])
        said["vary"] = {key: [_plain(word) for word in listed(values)]}
    return Plan.made(compose(experiment, flags), **said)


def _plain(word: str) -> Any:
    """A number or truth value where it is one, text otherwise."""
    from sledlab.comparison.plan import value

    found = value(word)
    return found if isinstance(found, (int, float)) else word
