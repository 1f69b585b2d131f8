"""`sledlab node` and `sledlab network`: list and show the presets that clusters are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from sledlab.cli.catalogue import list_entries, show_entry, show_parameters
from sledlab.cli.completion import model_of
from sledlab.cli.group import SuggestingGroup
from sledlab.cli.options import json_option, show_table
from sledlab.model import catalogue
from sledlab.model.lines import placed
from sledlab.show import terminal

if TYPE_CHECKING:
    from sledlab.model.entries import Entry, NetworkEntry, NodeEntry


@click.group(cls=SuggestingGroup)
def node() -> None:
    """List and show nodes of clusters: a processor and memory beside a store."""


@node.command("list")
@json_option
def node_list(*, as_json: bool) -> None:
    """All nodes that come with sledlab."""
    list_entries(catalogue.node.list(), as_json=as_json)


@node.command("show")
@click.argument("name", shell_complete=model_of("node"))
@json_option
def node_show(name: str, *, as_json: bool) -> None:
    """Every parameter of a node, and the operations that it knows."""
    with placed(None, {"node": name}):
        entry = cast("NodeEntry", catalogue.node.show(name))
    if as_json:
        show_entry(catalogue.node, name, as_json=True)
        return
    _show_values(entry)
    rows = [(each.kind, f"{each.cycles:,g}", "network" if each.network else "") for each in entry.operations]
    show_table(("operation", "cycles", "counts as"), rows, right=("cycles",))
    terminal.say("Change them with --set node.mhz=1000 or --set node.cycles.tuple=500.")


@click.group(cls=SuggestingGroup)
def network() -> None:
    """List and show networks of clusters."""


@network.command("list")
@json_option
def network_list(*, as_json: bool) -> None:
    """All networks that come with sledlab, and the kinds of model that they are made of."""
    list_entries(catalogue.network.list(), as_json=as_json)
    if not as_json:
        terminal.say("Kinds of model, for network files:")
        list_entries(catalogue.entries("network_kinds"), as_json=False)


@network.command("show")
@click.argument("name", shell_complete=model_of("network"))
@json_option
def network_show(name: str, *, as_json: bool) -> None:
    """Every parameter of a network."""
    with placed(None, {"network": name}):
        entry = cast("NetworkEntry", catalogue.network.show(name))
    if as_json:
        show_entry(catalogue.network, name, as_json=True)
        return
    _show_values(entry)
    kind = next(each for each in catalogue.entries("network_kinds") if each.name == entry.kind)
    terminal.say(f"Its kind of model is {kind.name}: {kind.meaning}.")


def _show_values(entry: Entry) -> None:
    """Prints the parameters of a preset with the preset's values."""
    terminal.say(f"{entry.name}: {entry.meaning}")
    show_parameters(entry.parameters, {spec.name: spec.default for spec in entry.parameters})
