"""What terminals, notebooks and pages are made of: parts, put down once and rendered in three ways.

A page is a `Document`; a terminal or a notebook shows a sequence of parts. Parts hold texts, rows of texts
and functions that draw: nothing of the results themselves.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sledlab.lazy import jinja2, rich_box, rich_table
from sledlab.show import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

R = TypeVar("R")


@dataclass(frozen=True)
class Heading:
    """A heading.

    Attributes:
        text: It.
        level: 1 of the whole, 2 of a section, 3 of a part.
        beside: Stands beside it on a terminal, with less weight.
        apart: Whether it sets a section off from the one before.
    """

    text: str
    level: int = 2
    beside: str = ""
    apart: bool = False


@dataclass(frozen=True)
class Text:
    """A paragraph: the `answer`, something `quiet`, a `warning` or a `line` that no terminal folds."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        head: Names of the columns.
        rows: A text per column.
        classes: Columns that lie to the left besides the first: `left` the second, `words` the last, which
            may be folded, `wins` those from the third on (on pages); or, on terminals, `numbers` for none.
        group: Whether successive rows with the same first text belong together.
        after: Rows after which a terminal draws a line: every so many.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    classes: str = ""
    group: bool = False
    after: int = 0


def grid(
    rows: Iterable[R], columns: Mapping[str, Callable[[R], str]], classes: str = "", *, group: bool = False
) -> Grid:
    """A table of anything: names of its columns, and what stands in them for each of `rows`."""
    lines = [tuple(cell(row) for cell in columns.values()) for row in rows]
    return Grid(tuple(columns), lines, classes, group)


@dataclass(frozen=True)
class Drawing:
    """A figure, drawn when the page is made.

    Attributes:
        draw: Draws it.
        title: What it shows, also read out by screen readers.
        heading: Stands above it.
        caption: Stands between.
        width: `narrow` or `wide`; half a page unless said.
    """

    draw: Callable[[], Figure]
    title: str
    heading: str = ""
    caption: str = ""
    width: str = ""

    @property
    def svg(self) -> str:
        """The figure as an SVG element."""
        with plots.style():
            return plots.to_svg(self.draw(), self.title)


@dataclass(frozen=True)
class Beside:
    """Parts beside each other, as far as there is room; `kind` is `figures`, `tables` or `stack`."""

    parts: Sequence[Part]
    kind: str = "figures"


@dataclass(frozen=True)
class Folded:
    """Parts that open when their summary is clicked."""

    summary: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Numbers:
    """A few large numbers: name, value and remark."""

    values: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a text; pairs without a text are left out."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Source:
    """Text as it is, such as a configuration."""

    text: str


Part = Heading | Text | Grid | Drawing | Beside | Folded | Numbers | Facts | Source


@dataclass(frozen=True)
class Document:
    """A page.

    Attributes:
        kind: What kind of page it is, such as `power study`.
        title: Its title.
        parts: What stands in it, from the top.
        footer: The last line.
        heading: The largest heading, where it says more than the title.
    """

    kind: str
    title: str
    parts: Sequence[Part]
    footer: str = ""
    heading: str = field(default="")


def write(parts: Iterable[Part], show: Callable[..., None]) -> None:
    """Hands parts to `show`, a `rich` console's `print`; drawings are left out."""
    for part in parts:
        match part:
            case Heading(text, _, beside):
                show(f"[bold]{_plain(text)}[/bold]" + (f"  {_plain(beside)}" if beside else ""))
            case Text(text, "quiet"):
                show(f"[dim]{_plain(text)}[/dim]")
            case Text(text, "warning"):
                show(f"[yellow]note:[/yellow] {_plain(text)}")
            case Text(text, "line"):
                show(_plain(text), soft_wrap=True)
            case Text(text):
                show(_plain(text))
            case Grid():
                show(_table(part))
            case Beside(parts=inside) | Folded(parts=inside):
                write(inside, show)
            case _:
                pass


def _plain(text: str) -> str:
    """Text in which brackets are brackets."""
    return text.replace("[", "\\[")


def _table(grid: Grid) -> Any:
    made = rich_table.Table(box=rich_box.SIMPLE_HEAD, pad_edge=False)
    last = len(grid.head) - 1
    left = set() if "numbers" in grid.classes else {0}
    left |= ({1} if "left" in grid.classes else set()) | ({last} if "words" in grid.classes else set())
    for place, name in enumerate(grid.head):
        made.add_column(
            _plain(name),
            justify="left" if place in left else "right",
            no_wrap=place == 0 or place not in left,
        )
    for count, row in enumerate(grid.rows, start=1):
        made.add_row(*map(_plain, row), end_section=bool(grid.after) and count % grid.after == 0)
    return made


def as_html(parts: Iterable[Part]) -> str:
    """Parts for a notebook; drawings are left out."""
    return "".join(_element(part) for part in parts)


def _element(part: Part) -> str:
    match part:
        case Heading(text, level, beside):
            said = html.escape(": ".join(filter(None, (text, beside))))
            return f"<h{level + 3}>{said}</h{level + 3}>"
        case Text(text):
            return f"<p>{html.escape(text)}</p>"
        case Grid():
            titles = "".join(f"<th>{html.escape(name)}</th>" for name in part.head)
            lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in part.rows)
            return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"
        case Beside(parts=inside) | Folded(parts=inside):
            return as_html(inside)
        case _:
            return ""


def _cell(value: str) -> str:
    return f'<td style="text-align:right">{html.escape(value)}</td>'


def page(document: Document) -> str:
    """A self-contained page that opens offline, on a phone and on paper."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sledlab.show", "page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment.get_template("document.html.j2").render(document=document)
