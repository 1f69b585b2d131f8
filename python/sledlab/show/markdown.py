"""Tables as Markdown, for README files and issues: each table that a terminal shows, below its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Grid, Heading, flatten
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sledlab.show.document import Part


def tables(parts: Iterable[Part]) -> str:
    """Return all tables among parts with the headings above them, in the Markdown of GitHub.

    Examples:
        >>> print(tables([Heading("Runs"), Grid(("", "mean"), [("FCFS", "1.5 ms"), ("a|b", "90 %")])]))
        ## Runs
        <BLANKLINE>
        |  | mean |
        | :-- | --: |
        | FCFS | 1.5 ms |
        | a\\|b | 90 % |
        <BLANKLINE>
    """
    return "\n".join(_blocks(parts))


def _blocks(parts: Iterable[Part]) -> Iterator[str]:
    """Yield each heading and each table, with a line end."""
    for part in flatten(parts):
        match part:
            case Heading(text, level):
                yield f"{'#' * (level if level > 1 else 2)} {_cell(text)}\n"
            case Grid():
                yield _table(part)
            case _:
                pass


def _table(grid: Grid) -> str:
    left_columns = grid.left_columns
    alignment = [":--" if column in left_columns else "--:" for column in range(len(grid.head))]
    rows = [list(map(_cell, grid.head)), alignment, *(list(map(_cell, row)) for row in grid.rows)]
    return "".join(f"{_line(row)}\n" for row in rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return a text without signs that Markdown takes as commands, in one line."""
    escaped = "".join(f"\\{sign}" if sign in "\\|*_`<[#" else sign for sign in visible(text))
    return " ".join(escaped.split("\n"))
