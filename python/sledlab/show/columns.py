"""Tables as wide as the terminal: numbers stay whole, and columns that do not fit go into a table below."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sledlab.lazy import rich_box, rich_cells, rich_table, rich_text
from sledlab.terminal_text import is_unicode, replace_unencodable, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console

MIN_WIDTH = 20
"""Minimum width of a folded text column, in characters."""

COLUMN_GAP = 3
"""Characters between two columns."""

NARROW_GAP = 2
"""Characters between two columns of a table that fits the console only with this gap."""

EDGE_WIDTH = 2
"""Characters at both ends of a line."""

ASCII_HEAD = "    \n    \n -- \n    \n    \n    \n    \n    \n"
"""Lines of a table in ASCII: one below the names of the columns, as in `rich.box.SIMPLE_HEAD`."""


@dataclass(frozen=True)
class Columns:
    """A table of texts.

    Attributes:
        head: Names of the columns, which may be folded.
        rows: A text per column.
        left: Columns that are aligned to the left, by number.
        words: Columns that may be folded, by number: they hold no numbers.
        group_size: A gap follows every `group_size` rows; none for 0.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Collection[int] = (0,)
    words: Collection[int] = ()
    group_size: int = 0

    def print(self, console: Console) -> None:
        """Print the table; one too wide for the console as several tables, one below the other."""
        rows = [[printable_text(cell, console) for cell in row] for row in self.rows]
        shown = replace(self, head=[printable_text(name, console) for name in self.head], rows=rows)
        widths = shown.full_widths()
        if _total_width(widths) > console.width >= _total_width(widths, NARROW_GAP):
            console.print(shown.to_rich_table(range(len(widths)), widths, console, NARROW_GAP))
            return
        for columns, widths in shown.blocks(console.width):
            console.print(shown.to_rich_table(columns, widths, console))

    def full_widths(self) -> list[int]:
        """Return the widths of the columns without folding, in characters."""
        return [max(self._cells(place), _text_width(name)) for place, name in enumerate(self.head)]

    def blocks(self, width: int) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of columns that fit side by side, with their widths; each begins with the row names."""
        required = self.full_widths()
        if _total_width(required) <= width:
            yield list(range(len(required))), required
            return
        minimum = [self._min_width(place, wide) for place, wide in enumerate(required)]
        if len(minimum) > 1:  # row names are folded where they leave no room for another column
            minimum[0] = min(minimum[0], max(MIN_WIDTH, width - EDGE_WIDTH - COLUMN_GAP - max(minimum[1:])))
        names = self._names(minimum, width)
        block = list(names)
        for place in range(len(names), len(minimum)):
            if len(block) > len(names) and _total_width([minimum[each] for each in (*block, place)]) > width:
                yield block, _share_width(block, minimum, required, width)
                block = list(names)
            block.append(place)
        yield block, _share_width(block, minimum, required, width)

    def _names(self, minimum: Sequence[int], width: int) -> range:
        """Return the columns that name the rows: the first, and left-aligned ones that follow if they fit."""
        count = 1
        while count < len(minimum) - 1 and count in self.left:
            count += 1
        return range(count) if _total_width(minimum[:count]) <= width // 2 else range(1)

    def to_rich_table(
        self, columns: Sequence[int], widths: Sequence[int], console: Console, gap: int = COLUMN_GAP
    ) -> rich_table.Table:
        """Return some of the columns as a table of `rich`."""
        box = rich_box.SIMPLE_HEAD
        if not is_unicode(console.encoding):
            box = rich_box.Box(ASCII_HEAD, ascii=True)
        made = rich_table.Table(box=box, pad_edge=False, padding=(0, 1, 0, gap - 2))
        for place, width in zip(columns, widths, strict=True):
            made.add_column(
                rich_text.Text(self.head[place]),
                justify="left" if place in self.left else "right",
                width=width,
                overflow="fold",
            )
        for count, row in enumerate(self.rows, start=1):
            cells = [
                rich_text.Text(fold(row[place], width)) for place, width in zip(columns, widths, strict=True)
            ]
            made.add_row(*cells, end_section=bool(self.group_size) and count % self.group_size == 0)
        return made

    def _cells(self, place: int) -> int:
        """Return the width of the longest line in the cells of a column, in characters."""
        return max((_text_width(row[place]) for row in self.rows), default=0)

    def _min_width(self, place: int, required: int) -> int:
        """Smallest width of a column, in characters."""
        name = max(map(_text_width, self.head[place].split()), default=0)
        if place in self.words:
            return min(required, max(MIN_WIDTH, name))
        return max(self._cells(place), name)


def fold(text: str, width: int) -> str:
    """Return the text in lines, broken between words; a non-breaking space keeps a number with its unit."""
    lines = text.split("\n")
    return "\n".join(textwrap.fill(line, max(width, 1), break_on_hyphens=False) for line in lines)


def _share_width(
    block: Sequence[int], minimum: Sequence[int], required: Sequence[int], width: int
) -> list[int]:
    """Widths of the columns of a block: each at least its least, free room to those that lack least first."""
    widths = [minimum[place] for place in block]
    free = width - _total_width(widths)
    for index in sorted(range(len(block)), key=lambda each: required[block[each]] - widths[each]):
        more = min(free, required[block[index]] - widths[index])
        if more > 0:
            widths[index] += more
            free -= more
    return widths


def printable_text(text: str, console: Console) -> str:
    """Return the text in characters that a console can show."""
    return replace_unencodable(console.encoding, visible(text))


def _total_width(widths: Sequence[int], gap: int = COLUMN_GAP) -> int:
    return sum(widths) + gap * (len(widths) - 1) + EDGE_WIDTH


def _text_width(text: str) -> int:
    return max(map(rich_cells.cell_len, text.split("\n")))
