"""Options and output that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

set_option = click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Any other setting, such as device.active_tips=3200 or workload.read_share=0.7; can be repeated.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Prints a table; columns named in `right` are aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=140)
    console.print(table)


def show_json(value: Any) -> None:
    """Prints plain data as JSON."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def listed(text: str) -> list[str]:
    """The words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def number(option: str, word: str) -> float:
    """A number out of an option.

    Raises:
        Error: It is none.
    """
    try:
        return float(word)
    except ValueError:
        raise Error(f"`{option}`: `{word}` is not a number", remedy=f"write {option} 1,2,4") from None
