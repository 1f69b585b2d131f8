"""What terminals, notebooks and pages are made of: parts, put down once and rendered in three ways.

A page is a `Document`; a terminal or a notebook shows a sequence of parts. Parts hold texts, rows of texts
and functions that draw: nothing of the results themselves.
"""

from __future__ import annotations

import html
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sledlab.lazy import jinja2, rich_text
from sledlab.legible import visible
from sledlab.show import plots
from sledlab.show.columns import Columns, folded, legible
from sledlab.show.series import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from matplotlib.figure import Figure
    from rich.console import Console

    from sledlab.show.series import Panel

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

    @property
    def left(self) -> set[int]:
        """Columns that lie to the left; the others hold numbers."""
        last = len(self.head) - 1
        left = set() if "numbers" in self.classes else {0}
        return (
            left | ({1} if "left" in self.classes else set()) | ({last} if "words" in self.classes else set())
        )


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
        panels: Its plots as numbers, to be explored where pages are not static; none unless given.
    """

    draw: Callable[[], Figure]
    title: str
    heading: str = ""
    caption: str = ""
    width: str = ""
    panels: Callable[[], Sequence[Panel]] = tuple

    @property
    def numbers(self) -> str:
        """What can be explored, as JSON; nothing where nothing can."""
        panels = self.panels()
        return to_json(panels) if panels else ""

    def svg(self, made_by: str) -> str:
        """The figure as an SVG element that says what it was made by."""
        with plots.style():
            return plots.to_svg(plots.made(self.draw(), made_by), self.title)


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
        made_by: What its figures say in their metadata that they were made by.
        static: Whether figures of all pages are pictures only, see `statically`.
    """

    static: ClassVar[bool] = False

    kind: str
    title: str
    parts: Sequence[Part]
    footer: str = ""
    heading: str = field(default="")
    made_by: str = ""


def write(parts: Iterable[Part], console: Console) -> None:
    """Prints parts on a console; drawings are left out."""
    for part in parts:
        match part:
            case Heading(text, _, beside):
                _print(console, (text, "bold"), (beside and f"  {beside}", ""))
            case Text(text, "quiet"):
                _print(console, (text, "dim"))
            case Text(text, "warning"):
                _print(console, ("note:", "yellow"), (f" {text}", ""))
            case Text(text, kind):
                _print(console, (text, ""), soft_wrap=kind == "line")
            case Grid():
                _columns(part).print(console)
            case Beside(parts=inside) | Folded(parts=inside):
                write(inside, console)
            case _:
                pass


def _print(console: Console, *pieces: tuple[str, str], soft_wrap: bool = False) -> None:
    """Prints a line of texts, the first with a style; nothing in them is obeyed."""
    whole = visible("".join(text for text, _ in pieces))
    line = rich_text.Text(legible(whole if soft_wrap else folded(whole, console.width), console))
    line.stylize(pieces[0][1], 0, len(pieces[0][0]) if len(pieces) > 1 else None)
    console.print(line, soft_wrap=soft_wrap)


def _columns(grid: Grid) -> Columns:
    return Columns(grid.head, grid.rows, grid.left, grid.left - {0}, grid.after)


def _legible(value: Any) -> Any:
    """What a template puts in: text without control characters, but for what is HTML already."""
    return visible(value) if type(value) is str else value


def as_html(parts: Iterable[Part]) -> str:
    """Parts for a notebook; drawings are left out."""
    return "".join(_element(part) for part in parts)


def _element(part: Part) -> str:
    match part:
        case Heading(text, level, beside):
            said = _escaped(": ".join(filter(None, (text, beside))))
            return f"<h{level + 3}>{said}</h{level + 3}>"
        case Text(text):
            return f"<p>{_escaped(text)}</p>"
        case Grid():
            titles = "".join(f"<th>{_escaped(name)}</th>" for name in part.head)
            lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in part.rows)
            return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"
        case Beside(parts=inside) | Folded(parts=inside):
            return as_html(inside)
        case _:
            return ""


def _cell(value: str) -> str:
    return f'<td style="text-align:right">{_escaped(value)}</td>'


def _escaped(text: str) -> str:
    return html.escape(visible(text))


@contextmanager
def statically() -> Iterator[None]:
    """Pages made meanwhile hold pictures only, and no script."""
    before, Document.static = Document.static, True
    try:
        yield
    finally:
        Document.static = before


def page(document: Document, *, static: bool = False) -> str:
    """A self-contained page that opens offline, on a phone and on paper.

    Args:
        document: What stands in it.
        static: Whether its figures are pictures only; otherwise those with numbers can be explored.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sledlab.show", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_legible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda part: type(part).__name__
    kinds = set() if static or Document.static else _kinds(document.parts)
    live, script = bool(kinds), _script(kinds)
    policy = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if live else "'none'"
    return environment.get_template("page/document.html.j2").render(
        document=document, live=live, script=script, policy=policy
    )


def _script(kinds: Set[str]) -> str:
    """What lays plots of some kinds that can be explored over the figures of a page."""
    here = files("sledlab.show")
    names = ("numbers", "plot", *sorted(kinds), "begin")
    own = (_lean(here.joinpath(f"page/live/{name}.js").read_text("utf-8")) for name in names)
    uplot = here.joinpath("uplot/uPlot.iife.min.js").read_text("utf-8")
    return f'(() => {{\n"use strict";\n{uplot}{"".join(own)}}})();\n'


def _lean(script: str) -> str:
    """A script without what only its readers need: pages hold it many times over."""
    lines = (line.strip() for line in script.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(("//", "/**")))


def _kinds(parts: Iterable[Part]) -> set[str]:
    """The kinds of plots among parts that can be explored."""
    found: set[str] = set()
    for part in parts:
        if isinstance(part, Drawing):
            found |= {panel.kind for panel in part.panels()}
        elif isinstance(part, (Beside, Folded)):
            found |= _kinds(part.parts)
    return found
