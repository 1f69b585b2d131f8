"""Options that make an experiment, the same for every command that runs some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sledlab._native import Experiment

F = TypeVar("F", bound="Callable[..., Any]")


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator; help lists them in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


requests_options = together(
    click.option("--trace", metavar="FILE", help="Trace to replay."),
    click.option("--format", metavar="F", help="Format of the trace; told by its content when left out."),
    click.option(
        "--sort", metavar="N", type=int, help="Put requests in order that come up to N lines too late."
    ),
    click.option(
        "--workload", metavar="NAME", help="Generated workload instead of a trace (sledlab workload list)."
    ),
)
"""What is replayed."""

source_options = together(
    click.option(
        "--device", metavar="NAME|FILE", help="Device: a preset (sledlab device list) or a device file."
    ),
    requests_options,
)
"""What is replayed on what."""

replay_options = together(
    click.option(
        "--replay", metavar="MODE", help="open | closed:N | closed:N:TIME, N outstanding  [default: open]"
    ),
    click.option("--warmup", metavar="N", type=int, help="Requests at the start that do not count."),
    click.option("--limit", metavar="N", type=int, help="End after N requests."),
    click.option("--duration", metavar="S", type=float, help="Issue nothing after S simulated seconds."),
    click.option("--outside", metavar="HOW", help="Requests past the end: reject | wrap | clip | scale."),
    click.option("--seed", metavar="N", type=int, help="Root of all random numbers  [default: 1]"),
)
"""How it is replayed."""

jobs_option = click.option(
    "--jobs", metavar="N", type=int, help="Runs at the same time  [default: all processors]"
)
"""How many runs of several go on at once."""

KEYS = {
    "scheduler": "scheduler.kind",
    "power": "power.kind",
    "merge": "merge.kind",
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


def compose(experiment: Experiment, flags: dict[str, Any]) -> Experiment:
    """The experiment with what the options say; they win.

    Raises:
        Error: Two options contradict each other, or one makes no sense.
    """
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


def _settings(flags: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for option, key in KEYS.items():
        if flags.get(option) is not None:
            yield key, str(flags[option])
    for item in flags["settings"]:
        yield split("--set", item)


def split(option: str, item: str) -> tuple[str, str]:
    """`KEY=VALUE` as a pair.

    Raises:
        Error: It is none.
    """
    key, sign, value = item.partition("=")
    if not sign:
        raise Error(f"`{option} {item}` has no value", remedy=f"write {option} table.key=value")
    return key.strip(), value.strip()
