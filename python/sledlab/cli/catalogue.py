"""`sledlab scheduler` and `sledlab workload`: what there is, and what it takes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, show_json, show_table

if TYPE_CHECKING:
    from sledlab.catalogue import Catalogue, Entry, ParameterSpec


def list_entries(entries: list[Entry], *, as_json: bool) -> None:
    """Prints names and meanings."""
    if as_json:
        show_json([asdict(entry) for entry in entries])
        return
    show_table(("name", "meaning"), [(entry.name, entry.meaning) for entry in entries])


def show_parameters(specs: tuple[ParameterSpec, ...], values: dict[str, Any] | None = None) -> None:
    """Prints parameters with their defaults, or with the values given."""
    column = "value" if values else "default"
    rows = [
        (
            spec.name,
            _plain((values or {}).get(spec.name, spec.default)),
            spec.unit,
            _allowed(spec),
            spec.meaning,
        )
        for spec in specs
    ]
    show_table(("parameter", column, "unit", "allowed", "meaning"), rows, right=(column,))


def _plain(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _allowed(spec: ParameterSpec) -> str:
    if isinstance(spec.kind, tuple):
        return " | ".join(spec.kind)
    if spec.range:
        return f"{spec.range[0]:g} to {spec.range[1]:g}"
    return {"switch": "true | false", "text": "text", "count": "0 or more"}.get(spec.kind, "")


def show_entry(catalogue: Catalogue, name: str, *, as_json: bool) -> None:
    """Prints one entry with its parameters."""
    entry = catalogue.show(name)
    if as_json:
        show_json(asdict(entry))
        return
    click.echo(f"{entry.name}: {entry.meaning}")
    if entry.aliases:
        click.echo(f"Also called {', '.join(entry.aliases)}.")
    if entry.starvation_free is not None:
        click.echo(f"{'No' if entry.starvation_free else 'A'} request can wait forever.")
    if entry.parameters:
        show_parameters(entry.parameters)
    else:
        click.echo("It takes no parameters.")


@click.group(cls=SuggestingGroup)
def scheduler() -> None:
    """List and show schedulers."""


@scheduler.command("list")
@json_option
def scheduler_list(*, as_json: bool) -> None:
    """All schedulers."""
    from sledlab import catalogue

    list_entries(catalogue.scheduler.list(), as_json=as_json)


@scheduler.command("show")
@click.argument("name")
@json_option
def scheduler_show(name: str, *, as_json: bool) -> None:
    """What a scheduler does and takes."""
    from sledlab import catalogue

    show_entry(catalogue.scheduler, name, as_json=as_json)


@click.group(cls=SuggestingGroup)
def replacement() -> None:
    """List and show replacement policies."""


@replacement.command("list")
@json_option
def replacement_list(*, as_json: bool) -> None:
    """All replacement policies."""
    from sledlab import catalogue

    list_entries(catalogue.replacement.list(), as_json=as_json)


@replacement.command("show")
@click.argument("name")
@json_option
def replacement_show(name: str, *, as_json: bool) -> None:
    """What a replacement policy does and takes."""
    from sledlab import catalogue

    show_entry(catalogue.replacement, name, as_json=as_json)


@click.group(cls=SuggestingGroup)
def workload() -> None:
    """List, show and calibrate workload generators."""


@workload.command("list")
@json_option
def workload_list(*, as_json: bool) -> None:
    """All workload generators."""
    from sledlab import catalogue

    list_entries(catalogue.workload.list(), as_json=as_json)


@workload.command("show")
@click.argument("name")
@json_option
def workload_show(name: str, *, as_json: bool) -> None:
    """What a workload generator makes and takes."""
    from sledlab import catalogue

    show_entry(catalogue.workload, name, as_json=as_json)


@workload.command("calibrate")
@click.argument("name")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Root of all random numbers.",
)
@json_option
@click.pass_context
def workload_calibrate(context: click.Context, name: str, seed: int, *, as_json: bool) -> None:
    """Compare a stand-in with what was published of the trace.

    NAME is cello, cello-12h, hplajw, hplajw-2h, snake, tpcd or tpcc. The exit code is 1 where a
    published number is missed by more than 3 %.
    """
    from sledlab.cli import calibrate

    if not calibrate.run(name, seed, as_json=as_json):
        context.exit(1)
