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


def numbers(option: str, text: str | None, *, doubling: bool = False) -> list[float] | None:
    """The numbers of an option: `1,2,4`, or a range `1..10` by steps of one or `doubling`; none of `none`.

    Raises:
        Error: One is none, or a range has no end.

    Example:
        >>> numbers("--x", "1..3,8"), numbers("--x", "4..32", doubling=True), numbers("--x", "none")
        ([1.0, 2.0, 3.0, 8.0], [4.0, 8.0, 16.0, 32.0], [])
    """
    if text is None or text == "none":
        return None if text is None else []
    found: list[float] = []
    for word in listed(text):
        first, dots, last = word.partition("..")
        value = number(option, first)
        found.append(value)
        if not dots:
            continue
        end = number(option, last)
        if not 0 < value <= end < 1e6:
            raise Error(f"`{option}`: `{word}` is not a range", remedy=f"write {option} 1..10")
        while (value := value * 2 if doubling else value + 1) <= end:
            found.append(value)
    return found
