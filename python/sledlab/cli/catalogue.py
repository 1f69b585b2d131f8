"""`list` and `show` of every kind of model, such as `sledlab scheduler list`: names, meanings, parameters."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import model_of
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, show_json, show_table
from sledlab.model.catalogue import CATALOGUES, PLURALS
from sledlab.show import terminal

if TYPE_CHECKING:
    from sledlab.model.catalogue import Catalogue
    from sledlab.model.entries import Entry, ParameterSpec


def command(kind: str, does: str = "List and show") -> click.Group:
    """The command of a kind of model, with `list` and `show` beneath it."""
    group = SuggestingGroup(kind, help=f"{does} {PLURALS[kind]}.")
    add_catalogue(group, kind)
    return group


def add_catalogue(group: click.Group, kind: str) -> None:
    """Adds `list` and `show` for a kind of model to a group."""
    catalogue = CATALOGUES[kind]

    @group.command("list", help=f"All {PLURALS[kind]}.")
    @json_option
    def list_all(*, as_json: bool) -> None:
        list_entries(catalogue.list(), as_json=as_json)

    @group.command("show", help=f"What one of the {PLURALS[kind]} does and takes.")
    @click.argument("name", shell_complete=model_of(kind))
    @json_option
    def show_one(name: str, *, as_json: bool) -> None:
        show_entry(catalogue, name, as_json=as_json)


def list_entries(entries: list[Entry], *, as_json: bool) -> None:
    """Prints the names and meanings of entries as a table, or as JSON."""
    if as_json:
        show_json([asdict(entry) for entry in entries])
        return
    show_table(("name", "meaning"), [(entry.name, entry.meaning) for entry in entries])


def show_parameters(specs: tuple[ParameterSpec, ...], values: dict[str, Any] | None = None) -> None:
    """Prints a table of parameters with their defaults or, where given, with `values`."""
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
    terminal.say(f"{entry.name}: {entry.meaning}")
    if entry.aliases:
        terminal.say(f"Also called {', '.join(entry.aliases)}.")
    if entry.starvation_free is not None:
        terminal.say(f"{'No' if entry.starvation_free else 'A'} request can wait forever.")
    if entry.parameters:
        show_parameters(entry.parameters)
    else:
        terminal.say("It takes no parameters.")
