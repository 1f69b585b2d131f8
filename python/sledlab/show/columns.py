"""Tables as wide as the terminal: numbers stay whole, and columns that do not fit go into a table below."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sledlab.lazy import rich_box, rich_cells, rich_table, rich_text
from sledlab.show.wording import UNIT_SPACE
from sledlab.terminal_text import is_unicode, replace_unencodable, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console

MIN_WIDTH = 20
"""Minimum width of a folded text column, in characters."""

COLUMN_GAP = 3
"""Characters between two columns."""

NARROW_GAP = 2
"""Characters between two columns of a table that becomes one only with this gap."""

EDGE_WIDTH = 2
"""Characters at both ends of a line."""

KEPT_SPACE = "\ue000"
"""Stands for a space at which no line ends; a character without a meaning, so that texts do not have it."""

ASCII_HEAD = "    \n    \n -- \n    \n    \n    \n    \n    \n"
"""Lines of a table in ASCII: one below the names of the columns, as in `rich.box.SIMPLE_HEAD`."""


@dataclass(frozen=True)
class Columns:
    """A table of texts.

    Attributes:
        head: Names of the columns, which may be folded.
        rows: A text per column.
        left_columns: Columns that are aligned to the left, by number.
        foldable_columns: Columns that may be folded, by number: they hold no numbers.
        group_size: A gap follows every `group_size` rows; none for 0.
        wide_columns: Columns that are omitted where the table would need several blocks, by number.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_columns: Collection[int] = (0,)
    foldable_columns: Collection[int] = ()
    group_size: int = 0
    wide_columns: Collection[int] = ()

    def print(self, console: Console) -> None:
        """Print the table; one too wide for the console as several tables, one below the other."""
        rows = [[printable_text(cell, console) for cell in row] for row in self.rows]
        printable = replace(self, head=[printable_text(name, console) for name in self.head], rows=rows)
        if printable.needs_blocks(console.width):
            printable = printable.without_wide_columns()
        gap = printable.gap(console.width)
        for columns, widths in printable.blocks(console.width, gap):
            console.print(printable.to_rich_table(columns, widths, console, gap))

    def needs_blocks(self, width: int) -> bool:
        """Return whether the table does not fit as one, even with the smaller gap."""
        return len(list(self.blocks(width, NARROW_GAP))) > 1

    def without_wide_columns(self) -> Columns:
        """Return the table without the columns that terminals omit for lack of room."""
        kept = [column for column in range(len(self.head)) if column not in self.wide_columns]

        def renumber(columns: Collection[int]) -> set[int]:
            return {place for place, column in enumerate(kept) if column in columns}

        return Columns(
            [self.head[column] for column in kept],
            [[row[column] for column in kept] for row in self.rows],
            renumber(self.left_columns),
            renumber(self.foldable_columns),
            self.group_size,
        )

    def gap(self, width: int) -> int:
        """Return the characters between columns: fewer where this saves folding or a second table."""
        full_widths = self.full_widths()
        for gap in (COLUMN_GAP, NARROW_GAP):
            if _total_width(full_widths, gap) <= width:
                return gap
        is_one_table = len(list(self.blocks(width))) > 1 and not self.needs_blocks(width)
        return NARROW_GAP if is_one_table else COLUMN_GAP

    def full_widths(self) -> list[int]:
        """Return the widths of the columns without folding, in characters."""
        return [max(self._max_cell_width(column), _text_width(name)) for column, name in enumerate(self.head)]

    def blocks(self, width: int, gap: int = COLUMN_GAP) -> Iterator[tuple[list[int], list[int]]]:
        """Blocks of columns that fit side by side, with their widths; each begins with the row names."""
        full_widths = self.full_widths()
        if _total_width(full_widths, gap) <= width:
            yield list(range(len(full_widths))), full_widths
            return
        min_widths = [self._min_width(column, full_width) for column, full_width in enumerate(full_widths)]
        if len(min_widths) > 1:  # row names are folded where they leave no room for another column
            min_widths[0] = min(min_widths[0], max(MIN_WIDTH, width - EDGE_WIDTH - gap - max(min_widths[1:])))
        name_columns = self._name_columns(min_widths, width)
        block = list(name_columns)
        for column in range(len(name_columns), len(min_widths)):
            if (
                len(block) > len(name_columns)
                and _total_width([min_widths[each] for each in (*block, column)], gap) > width
            ):
                yield block, _share_width(block, min_widths, full_widths, width, gap)
                block = list(name_columns)
            block.append(column)
        yield block, _share_width(block, min_widths, full_widths, width, gap)

    def _name_columns(self, min_widths: Sequence[int], width: int) -> range:
        """Return the columns that name the rows: the first, and left-aligned ones that follow if they fit."""
        count = 1
        while count < len(min_widths) - 1 and count in self.left_columns:
            count += 1
        return range(count) if _total_width(min_widths[:count]) <= width // 2 else range(1)

    def to_rich_table(
        self, columns: Sequence[int], widths: Sequence[int], console: Console, gap: int = COLUMN_GAP
    ) -> rich_table.Table:
        """Return some of the columns as a table of `rich`."""
        box = rich_box.SIMPLE_HEAD
        if not is_unicode(console.encoding):
            box = rich_box.Box(ASCII_HEAD, ascii=True)
        table = rich_table.Table(box=box, pad_edge=False, padding=(0, 1, 0, gap - 2))
        for column, width in zip(columns, widths, strict=True):
            table.add_column(
                rich_text.Text(self.head[column]),
                justify="left" if column in self.left_columns else "right",
                width=width,
                overflow="fold",
            )
        for count, row in enumerate(self.rows, start=1):
            cells = [
                rich_text.Text(fold(row[column], width))
                for column, width in zip(columns, widths, strict=True)
            ]
            table.add_row(*cells, end_section=bool(self.group_size) and count % self.group_size == 0)
        return table

    def _max_cell_width(self, column: int) -> int:
        """Return the width of the longest line in the cells of a column, in characters."""
        return max((_text_width(row[column]) for row in self.rows), default=0)

    def _min_width(self, column: int, full_width: int) -> int:
        """Smallest width of a column, in characters."""
        longest_word = max(map(_text_width, self.head[column].split()), default=0)
        if column in self.foldable_columns:
            return min(full_width, max(MIN_WIDTH, longest_word))
        return max(self._max_cell_width(column), longest_word)


def fold(text: str, width: int) -> str:
    """Return the text in lines, broken between words but not between a number and its unit.

    Examples:
        >>> fold("Reads take 17.6 ms.", 18)
        'Reads take\\n17.6 ms.'
    """
    lines = UNIT_SPACE.sub(KEPT_SPACE, text).split("\n")
    folded = "\n".join(textwrap.fill(line, max(width, 1), break_on_hyphens=False) for line in lines)
    return folded.replace(KEPT_SPACE, " ")


def _share_width(
    block: Sequence[int], min_widths: Sequence[int], full_widths: Sequence[int], width: int, gap: int
) -> list[int]:
    """Return the widths of a block's columns: minima, and free room first for those that lack the least."""
    widths = [min_widths[column] for column in block]
    free_width = width - _total_width(widths, gap)
    for index in sorted(range(len(block)), key=lambda each: full_widths[block[each]] - widths[each]):
        added = min(free_width, full_widths[block[index]] - widths[index])
        if added > 0:
            widths[index] += added
            free_width -= added
    return widths


def printable_text(text: str, console: Console) -> str:
    """Return the text in characters that a console can show."""
    return replace_unencodable(console.encoding, visible(text))


def _total_width(widths: Sequence[int], gap: int = COLUMN_GAP) -> int:
    return sum(widths) + gap * (len(widths) - 1) + EDGE_WIDTH


def _text_width(text: str) -> int:
    return max(map(rich_cells.cell_len, text.split("\n")))
