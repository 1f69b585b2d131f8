"""`sledlab list`: names and descriptions of models, jobs, sample traces and experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sledlab.cli.completion import items
from sledlab.cli.kinds import KINDS, find_kind
from sledlab.cli.options import json_option, show_json, show_table
from sledlab.show import terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def kind_items(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete the name of a kind."""
    return items(KINDS, word)


@click.command("list")
@click.argument("kind", required=False, shell_complete=kind_items)
@json_option
def list_command(kind: str | None, *, as_json: bool) -> None:
    """List models, jobs, sample traces and experiments.

    KIND is device, scheduler, workload, trace, experiment or another one. Without KIND the kinds are listed.

    \b
    Examples:
      sledlab list
      sledlab list device
      sledlab list scheduler --json
    """
    if kind is None:
        _list_kinds(as_json=as_json)
        return
    listings = KINDS[find_kind(kind)].listings()
    if as_json:
        show_json(listings[0].data)
        return
    for listing in listings:
        if listing.title:
            terminal.say(listing.title)
        show_table(listing.head, listing.rows, right=listing.right)


def _list_kinds(*, as_json: bool) -> None:
    rows = [(name, len(listed.names()), listed.plural) for name, listed in KINDS.items()]
    if as_json:
        show_json([{"kind": name, "count": count, "meaning": meaning} for name, count, meaning in rows])
        return
    show_table(
        ("kind", "count", "meaning"),
        [(name, str(count), meaning) for name, count, meaning in rows],
        ("count",),
    )
    terminal.say("sledlab list KIND lists one kind, sledlab show KIND NAME shows one member.")
