"""Parts of a display, such as tables and paragraphs, rendered on terminals, in notebooks and on pages.

A page is a `Document`; a terminal or a notebook shows a sequence of parts. Parts hold texts, rows of texts
and functions that draw, but no results.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sledlab.lazy import jinja2, later, rich_text
from sledlab.show import plots
from sledlab.show.columns import Columns, fold, printable_text
from sledlab.show.figure_fit import complete_figure
from sledlab.show.palette import PALETTE, PAPER
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure
    from rich.console import Console

    from sledlab.show.series import Panel

to_json = later("sledlab.show.series:to_json")
panel_tables = later("sledlab.show.panel_tables:tables")

CHARTS = "charts/charts.js"
"""The script of interactive figures, which `python -m tools.charts` builds from `web/charts`."""

CHARTS_STYLE = "charts/charts.css"
"""The style of interactive figures, built with the script."""

STYLE = "page/style.css"
"""The style of all pages."""

R = TypeVar("R")


@dataclass(frozen=True)
class Heading:
    """A heading.

    Attributes:
        text: The text of the heading.
        level: 1 for the heading of the whole, 2 of a section, 3 of a part.
        note: Text that a terminal shows next to the heading, in a lighter style.
        has_gap: Whether a gap separates its section from the previous one.
    """

    text: str
    level: int = 2
    note: str = ""
    has_gap: bool = False


@dataclass(frozen=True)
class Text:
    """A paragraph; its kind is `answer`, `quiet` or `warning`."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        head: Names of the columns.
        rows: Rows of a text per column.
        classes: Columns aligned to the left besides the first: `left` the second, `words` the last, which may
            be folded, `wins` those from the third on (on pages); or, on terminals, `numbers` for none.
        has_groups: Whether successive rows with the same first text belong together.
        group_size: A terminal draws a line after every `group_size` rows; none for 0.
        wide_columns: Names of columns that a terminal omits where it has no room for the whole table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    classes: str = ""
    has_groups: bool = False
    group_size: int = 0
    wide_columns: Collection[str] = ()

    @property
    def left_columns(self) -> set[int]:
        """Columns aligned to the left, by number; the others hold numbers and are aligned to the right."""
        last = len(self.head) - 1
        left_columns = set() if "numbers" in self.classes else {0}
        return (
            left_columns
            | ({1} if "left" in self.classes else set())
            | ({last} if "words" in self.classes else set())
        )


def grid(
    rows: Iterable[R],
    columns: Mapping[str, Callable[[R], str]],
    classes: str = "",
    *,
    has_groups: bool = False,
) -> Grid:
    """Return a table of `rows`; `columns` maps column names to functions that return a cell."""
    lines = [tuple(cell(row) for cell in columns.values()) for row in rows]
    return Grid(tuple(columns), lines, classes, has_groups)


@dataclass(frozen=True)
class Drawing:
    """A figure. The script of a page draws it from its panels; a figure without panels is a picture.

    Attributes:
        draw: Draws the picture, also on static pages.
        title: What the figure shows, also read out by screen readers.
        heading: Heading above the figure.
        caption: Text between heading and figure.
        width: `narrow`, or empty for the width of the page or of its column.
        panels: Gives the plots as numbers, drawn by the script of pages that are not static; none by default.
    """

    draw: Callable[[], Figure]
    title: str
    heading: str = ""
    caption: str = ""
    width: str = ""
    panels: Callable[[], Sequence[Panel]] = tuple

    def plots(self) -> tuple[str, list[Grid]]:
        """Return the panels as JSON, and as tables for readers without JavaScript; empty without panels."""
        panels = self.panels()
        return (to_json(panels), [Grid(*each) for each in panel_tables(panels)]) if panels else ("", [])

    def svg(self, creator: str) -> str:
        """Return the figure as an SVG element; its metadata has `creator`."""
        with plots.style():
            return plots.to_svg(complete_figure(self.draw(), creator), self.title)


@dataclass(frozen=True)
class SideBySideParts:
    """Parts side by side, if there is room; `kind` is `figures`, `tables` or `stack`."""

    parts: Sequence[Part]
    kind: str = "figures"


@dataclass(frozen=True)
class Collapsible:
    """Parts that open when their summary is clicked."""

    summary: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Numbers:
    """A few large numbers: name, value and remark."""

    values: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a text; pairs without a text are omitted."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Source:
    """Text shown unchanged, such as an experiment file."""

    text: str


Part = Heading | Text | Grid | Drawing | SideBySideParts | Collapsible | Numbers | Facts | Source


@dataclass(frozen=True)
class Document:
    """A page.

    Attributes:
        kind: Kind of the page, such as `power study`.
        title: Title of the page.
        parts: Parts of the page, from the top.
        footer: Last line of the page.
        heading: The largest heading, where it differs from the title.
        creator: Version, seed and experiment for the metadata of the figures.
        tables: Names of files with the numbers, next to the page.
        static: Whether figures of all pages are pictures only, see `static_figures`.
    """

    static: ClassVar[bool] = False

    kind: str
    title: str
    parts: Sequence[Part]
    footer: str = ""
    heading: str = field(default="")
    creator: str = ""
    tables: Sequence[str] = ()


def flatten(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts in order, with the parts inside side-by-side and collapsible ones in their place."""
    for part in parts:
        if isinstance(part, (SideBySideParts, Collapsible)):
            yield from flatten(part.parts)
        else:
            yield part


def write(parts: Iterable[Part], console: Console) -> None:
    """Print parts on a console; drawings are omitted."""
    for part in flatten(parts):
        match part:
            case Heading(text, _, note):
                _print(console, (text, "bold"), (note and f"  {note}", ""))
            case Text(text, "quiet"):
                _print(console, (text, "dim"))
            case Text(text, "warning"):
                _print(console, ("note:", "yellow"), (f" {text}", ""))
            case Text(text):
                _print(console, (text, ""))
            case Grid():
                _columns(part).print(console)
            case _:
                pass


def _print(console: Console, *pieces: tuple[str, str]) -> None:
    """Print a paragraph of texts, the first with a style; control characters in them are escaped."""
    text = fold(visible("".join(text for text, _ in pieces)), console.width)
    line = rich_text.Text(printable_text(text, console))
    line.stylize(pieces[0][1], 0, len(pieces[0][0]) if len(pieces) > 1 else None)
    console.print(line)


def _columns(grid: Grid) -> Columns:
    return Columns(
        grid.head,
        grid.rows,
        grid.left_columns,
        grid.left_columns - {0},
        grid.group_size,
        [column for column, name in enumerate(grid.head) if name in grid.wide_columns],
    )


def _escape_plain_text(value: Any) -> Any:
    """Return a value for a template: plain text has its control characters escaped, HTML stays as it is."""
    return visible(value) if type(value) is str else value


def as_html(parts: Iterable[Part]) -> str:
    """Return the parts for a notebook; drawings are omitted."""
    return "".join(map(_element, flatten(parts)))


def _element(part: Part) -> str:
    match part:
        case Heading(text, level, note):
            label = _escape(": ".join(filter(None, (text, note))))
            return f"<h{level + 3}>{label}</h{level + 3}>"
        case Text(text):
            return f"<p>{_escape(text)}</p>"
        case Grid():
            titles = "".join(f"<th>{_escape(name)}</th>" for name in part.head)
            rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in part.rows)
            return f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"
        case _:
            return ""


def _cell(value: str) -> str:
    return f'<td style="text-align:right">{_escape(value)}</td>'


def _escape(text: str) -> str:
    return html.escape(visible(text))


def _inline(text: str) -> str:
    """Return a text as HTML; what is in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _escape(text))


@contextmanager
def static_figures() -> Iterator[None]:
    """Within this context pages are made with pictures only, and no script."""
    previous, Document.static = Document.static, True
    try:
        yield
    finally:
        Document.static = previous


@cache
def template() -> jinja2.Template:
    """Return the template of all pages, compiled once: this takes longer than rendering a page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sledlab.show", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_escape_plain_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["inline"] = _inline
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment.get_template("page/document.html.j2")


def page(document: Document, *, static: bool = False) -> str:
    """Return a self-contained page that opens offline, on a phone and on paper.

    Args:
        document: The page's content.
        static: Whether its figures are static images. Otherwise figures with data are interactive, if this
            installation has their script (see `has_charts`).
    """
    has_drawings = any(isinstance(part, Drawing) for part in flatten(document.parts))
    is_interactive = has_drawings and has_charts() and not (static or Document.static)
    style = report_style(CHARTS_STYLE) if is_interactive else report_style()
    script = _read(CHARTS) if is_interactive else ""
    policy = (
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if is_interactive else "'none'"
    )
    return template().render(
        document=document, live=is_interactive, style=style, script=script, policy=policy
    )


def report_style(*more: str) -> str:
    """Return the style of pages with static figures, and that of `more` files."""
    return "".join([*(_read(name).removesuffix("\n") for name in (STYLE, *more)), dark_rules()])


@cache
def dark_rules() -> str:
    """Return style rules that give static figures, drawn in the colors of light pages, those of dark ones.

    Texts of the color of the page lie on cells of heat maps, whose colors do not change.
    """
    dark_by_color: dict[str, str] = {
        **{darker: PALETTE["dark"][color] for color, darker in PALETTE["text"].items()},
        **PALETTE["dark"],
    }
    rules = [
        f"svg {':not(text)' if color == PAPER else ''}[style*='{part}: {color}']{{{part}:{dark}!important}}"
        for color, dark in dark_by_color.items()
        for part in ("fill", "stroke")
    ]
    return f"@media screen and (prefers-color-scheme: dark){{{''.join(rules)}}}\n"


def _read(name: str) -> str:
    """Return the text of a file of this package."""
    return files("sledlab.show").joinpath(name).read_text("utf-8")


def has_charts() -> bool:
    """Return whether this installation has the script of interactive figures.

    Wheels have it; an installation from sources has it where npm was found.
    """
    return files("sledlab.show").joinpath(CHARTS).is_file()
