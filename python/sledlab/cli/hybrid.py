"""`sledlab hybrid`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.catalogue import list_entries, show_entry
from sledlab.cli.experiment import compose, jobs_option, replay_options, requests_options, split, together
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, listed, numbers, set_option, show_json

if TYPE_CHECKING:
    from sledlab.hybrid_studies.plan import Plan


devices_options = together(
    click.option(
        "--device", metavar="NAME|FILE", default="atlas-10k-50mb", show_default=True, help="The disk."
    ),
    click.option(
        "--front",
        metavar="NAME|FILE",
        default="mems-g2",
        show_default=True,
        help="The MEMS device in front of it, or alone.",
    ),
)
"""The two devices."""


@click.group(cls=SuggestingGroup, invoke_without_command=True)
@devices_options
@requests_options
@click.option(
    "--configs",
    metavar="A,B,C|all",
    help="disk, mems, disk-ram, mwb, mcd-none, mcd-shortcut, mcd-immediate-report, mcd-partial-write, "
    "mcd-all, mirror  [default: all but mirror]",
)
@click.option(
    "--mems-mb", metavar="MB,MB", help="MEMS of the caching disk to sweep  [default: 64,128,256,512,3072]"
)
@click.option("--segment-kb", metavar="KB,KB|A..B", help="Its segments to sweep  [default: 4..256, doubling]")
@click.option(
    "--price-ratios",
    metavar="R,R|A..B",
    help="Prices of non-volatile memory over those of MEMS  [default: 1..10]",
)
@click.option(
    "--replacement", metavar="A,B|all", help="Its replacement policies; the first is used throughout."
)
@click.option("--at-mb", metavar="MB", type=float, help="MEMS of the configurations  [default: 256]")
@click.option(
    "--at-segment-kb",
    metavar="KB",
    type=int,
    help="Segments of the configurations  [default: the power of two that holds a mean request]",
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
def hybrid(out: str | None, jobs: int | None, *, as_json: bool, **flags: Any) -> None:
    """Study what MEMS in front of a disk is worth; list and show hybrids.

    Compares the disk, MEMS alone, a disk with as much non-volatile memory, and hybrids of disk and MEMS on
    the same requests; sweeps size and segments of a MEMS caching disk; and says from which price of memory
    on MEMS is the better buy. Disks spin from the start and nothing parks, unless --set says otherwise.
    `--segment-kb none` and the like leave a section out.

    \b
    Examples:
      sledlab hybrid --trace app.csv --out study
      sledlab hybrid --workload cello --limit 100000 --replacement lru,lfuda,arc --out study
      sledlab hybrid --trace app.csv --configs disk,mems,mcd-all --set hybrid.bypass_kb=1024
      sledlab hybrid list
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    from sledlab import terminal
    from sledlab.hybrid_studies import printing
    from sledlab.hybrid_studies.run import run
    from sledlab.recording import REPORT

    study = run(planned(flags), jobs=jobs, out=out)
    if as_json:
        show_json(study.to_dict())
    else:
        terminal.show(lambda show: printing.write(study, show), Path(out) / REPORT if out else None)


def planned(flags: dict[str, Any]) -> Plan:
    """The study that the options describe."""
    return _plan(
        flags,
        configurations=_words(flags["configs"]),
        mems_mb=numbers("--mems-mb", flags["mems_mb"]),
        segments_kb=numbers("--segment-kb", flags["segment_kb"], doubling=True),
        price_ratios=numbers("--price-ratios", flags["price_ratios"]),
        replacement=_words(flags["replacement"]),
        at_mb=flags["at_mb"],
        at_segment_kb=flags["at_segment_kb"],
        seeds=flags["seeds"],
    )


def _words(text: str | None) -> list[str] | None:
    return None if text is None else listed(text)


def _plan(flags: dict[str, Any], **swept: Any) -> Plan:
    """A plan of the options that study and tuning share."""
    from sledlab._native import Experiment
    from sledlab.hybrid_studies.plan import Front, Plan, set_aside

    aside, rest = set_aside(dict(split("--set", item) for item in flags["settings"]))
    base = compose(Experiment(), {**flags, "settings": [f"{key}={value}" for key, value in rest.items()]})
    return Plan.made(base, front=Front.of(flags["front"], aside["front"]), extras=aside["hybrid"], **swept)


@hybrid.command("tune")
@devices_options
@requests_options
@click.option(
    "--budget",
    metavar="MB",
    type=float,
    required=True,
    help="MEMS that is allowed; with --price-per-mb, money.",
)
@click.option("--price-per-mb", metavar="P", type=float, help="What a MB of MEMS costs, in any currency.")
@click.option("--segment-kb", metavar="KB,KB|A..B", help="Segments to try  [default: 4..256, doubling]")
@click.option("--replacement", metavar="A,B|all", help="Policies to try  [default: lru,slru,arc,lfuda]")
@click.option("--scheduler", metavar="NAME", help="Scheduler (sledlab scheduler list)  [default: fcfs]")
@replay_options
@set_option
@jobs_option
@click.option("--out", metavar="DIR", help="Directory for the runs and the experiment that was chosen.")
@json_option
def tune(out: str | None, jobs: int | None, *, as_json: bool, **flags: Any) -> None:
    """Choose segments, replacement policy and size of a MEMS caching disk for a workload.

    Tries every segment with the policies that would find most of what the requests touch: all of them on a
    part of the requests, the better half on more, the last two on all. The best is then given less MEMS, as
    long as that makes no difference. The experiment that comes out runs with `sledlab simulate`.

    \b
    Examples:
      sledlab hybrid tune --trace app.csv --budget 256 --out tuned
      sledlab hybrid tune --workload cello --limit 100000 --budget 100 --price-per-mb 0.5
    """
    from sledlab import terminal
    from sledlab.hybrid_studies import tuning
    from sledlab.hybrid_studies.configurations import ALL
    from sledlab.hybrid_studies.plan import budget_mb, whole
    from sledlab.recording import EXPERIMENT

    tried = numbers("--segment-kb", flags["segment_kb"], doubling=True)
    plan = _plan(
        flags,
        configurations=ALL,
        mems_mb=[],
        segments_kb=[],
        price_ratios=[],
        replacement=_words(flags["replacement"]) or list(tuning.POLICIES),
        at_mb=budget_mb(flags["budget"], flags["price_per_mb"]),
    )
    found = tuning.tune(
        plan, None if tried is None else whole(tried), price_per_mb=flags["price_per_mb"], jobs=jobs, out=out
    )
    if as_json:
        show_json(found.to_dict())
        return
    terminal.show(found.show)
    click.echo(f"experiment: {Path(out) / EXPERIMENT}" if out else f"\n{found.experiment}", nl=bool(out))


@hybrid.command("list")
@json_option
def hybrid_list(*, as_json: bool) -> None:
    """All hybrids."""
    from sledlab import catalogue

    list_entries(catalogue.hybrid.list(), as_json=as_json)


@hybrid.command("show")
@click.argument("name")
@json_option
def hybrid_show(name: str, *, as_json: bool) -> None:
    """What a hybrid does and takes."""
    from sledlab import catalogue

    show_entry(catalogue.hybrid, name, as_json=as_json)
