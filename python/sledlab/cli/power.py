"""`sledlab power`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.catalogue import list_entries, show_entry
from sledlab.cli.experiment import compose, jobs_option, replay_options, requests_options
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, listed, number, set_option, show_json

if TYPE_CHECKING:
    from sledlab.power_studies.plan import Plan


@click.group(cls=SuggestingGroup, invoke_without_command=True)
@click.option(
    "--device",
    "devices",
    metavar="NAME|FILE",
    multiple=True,
    help="Device: a preset (sledlab device list) or a device file; repeat it to see several side by side.",
)
@requests_options
@click.option(
    "--policies", metavar="A,B,C|all", help="Power policies to compare (sledlab power list)  [default: all]"
)
@click.option(
    "--timeouts",
    metavar="MS,MS",
    help="Idle times before parking, in ms  [default: 0,1,2,5,10,40,100,1000,10000,100000]",
)
@click.option(
    "--startup",
    metavar="MS,MS",
    help="Times a start-up takes, in ms  [default: 0, 1/2, 1, 2, 4 × the device's]",
)
@click.option(
    "--loads",
    metavar="S,S,S",
    help="Factors that divide the times between arrivals  [default: 1,2,5,10; 1 when closed]",
)
@click.option(
    "--strategies",
    metavar="A,B,C|all",
    help="base, immediate, merging, subsector, all  [default: all of them]",
)
@click.option(
    "--battery-wh",
    metavar="WH",
    type=float,
    default=10.0,
    show_default=True,
    help="Charge of the battery, in Wh.",
)
@click.option("--seeds", metavar="N", type=int, help="Repeat with N seeds; workloads only  [default: 1]")
@click.option("--scheduler", metavar="NAME", help="Scheduler (sledlab scheduler list)  [default: fcfs]")
@replay_options
@set_option
@jobs_option
@click.option(
    "--out", metavar="DIR", help="Directory for tables and report; what it holds already is not run again."
)
@json_option
def power(out: str | None, jobs: int | None, *, as_json: bool, **flags: Any) -> None:
    """Study where the energy of a device goes and what would save some; list and show power policies.

    Sweeps the idle timeout, the start-up time and the load, compares power policies and ways to save
    energy, and says how long a battery lasts. All but the section on loads runs at the workload's own pace,
    or at that of --set replay.speedup=S.

    \b
    Examples:
      sledlab power --device mems-g2 --trace app.csv --out study
      sledlab power --device mems-g2 --device mobile-disk --workload hplajw --limit 50000 --out study
      sledlab power list
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    from sledlab import terminal
    from sledlab.power_studies import printing
    from sledlab.power_studies.run import run
    from sledlab.recording import REPORT

    study = run(planned(flags), jobs=jobs, out=out)
    if as_json:
        show_json(study.to_dict())
    else:
        terminal.show(lambda show: printing.write(study, show), Path(out) / REPORT if out else None)


def planned(flags: dict[str, Any]) -> Plan:
    """The study that the options describe."""
    from sledlab._native import Experiment
    from sledlab.power_studies.plan import Plan

    bases = [(name, compose(Experiment(), {**flags, "device": name})) for name in flags["devices"]]

    def numbers(option: str, text: str | None) -> list[float] | None:
        return None if text is None else [number(f"--{option}", word) for word in listed(text)]

    def words(text: str | None) -> list[str] | str:
        return "all" if text is None or text == "all" else listed(text)

    return Plan.made(
        bases,
        policies=words(flags["policies"]),
        timeouts_ms=numbers("timeouts", flags["timeouts"]),
        startups_ms=numbers("startup", flags["startup"]),
        loads=numbers("loads", flags["loads"]),
        strategies=words(flags["strategies"]),
        battery_wh=flags["battery_wh"],
        seeds=flags["seeds"],
    )


@power.command("list")
@json_option
def power_list(*, as_json: bool) -> None:
    """All power policies."""
    from sledlab import catalogue

    list_entries(catalogue.power.list(), as_json=as_json)


@power.command("show")
@click.argument("name")
@json_option
def power_show(name: str, *, as_json: bool) -> None:
    """What a power policy does and takes."""
    from sledlab import catalogue

    show_entry(catalogue.power, name, as_json=as_json)
