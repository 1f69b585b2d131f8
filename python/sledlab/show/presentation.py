"""Displays of results, made of functions that turn a result into parts and figures."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sledlab._native import __version__
from sledlab.results import table_files
from sledlab.show import document, latex, markdown, plots, terminal
from sledlab.show.figure_fit import complete_figure
from sledlab.show.widths import at_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from sledlab.show.document import Document, Part


@dataclass(frozen=True)
class DocumentPresentation:
    """A display made of functions, see `sledlab.display.Presentation`.

    Attributes:
        answer: Gives the outcome in a sentence or a few.
        brief: Gives the parts that a terminal and a notebook show.
        whole: Gives the page.
        figure: Draws a figure, by its name and the further arguments of `plot`.
        sketch: Gives the lines of a plot in characters for a terminal of a width.
    """

    answer: Callable[[Any], str]
    brief: Callable[[Any], Sequence[Part]]
    whole: Callable[[Any], Document]
    figure: Callable[..., Figure]
    sketch: Callable[[Any, int], list[str]] | None = None

    def warnings(self, result: Any) -> list[str]:
        """Return the texts of the warnings among the parts that a terminal shows."""
        parts = self.brief(result)
        return [part.text for part in parts if isinstance(part, document.Text) and part.kind == "warning"]

    def text(self, result: Any) -> str:
        """Return what a terminal shows of the result, as plain text."""
        return terminal.as_text(lambda console: document.write(self.brief(result), console))

    def show(self, result: Any, *, plot: bool = False) -> None:
        """Print the result on standard output, with a `plot` below it if that is a terminal."""
        terminal.show(lambda console: document.write(self.brief(result), console))
        if plot and self.sketch is not None and (console := terminal.console()).is_terminal:
            for line in self.sketch(result, console.width):
                terminal.say(line)

    def html(self, result: Any) -> str:
        """Return what a notebook shows of the result, as HTML."""
        return document.as_html(self.brief(result))

    def draw(self, result: Any, what: str | None, width: str | None = None, **options: Any) -> Figure:
        """Draw the figure called `what`, or the default one where that is `None`, in a width."""
        arguments = (result,) if what is None else (result, what)
        with plots.style(), at_width(width):
            return complete_figure(self.figure(*arguments, **options), creator(result))

    def latex(self, result: Any) -> str:
        """Return the tables that a terminal shows of the result, as LaTeX."""
        return latex.tables(self.brief(result))

    def markdown(self, result: Any) -> str:
        """Return the tables that a terminal shows of the result, as Markdown."""
        return markdown.tables(self.brief(result))

    def page(self, result: Any, *, static: bool = False, path: Path | None = None) -> str:
        """Return a self-contained page, HTML; where `static`, its figures are pictures only.

        The page links to the tables next to the file that it is for, `path`.
        """
        tables = table_files(path) if path else []
        whole_page = replace(self.whole(result), creator=creator(result), tables=tables)
        return document.page(whole_page, static=static)

    def prepare(self) -> None:
        """Import the libraries of the page and of the terminal, and compile the template of the page."""
        document.template()
        terminal.console()


def creator(result: Any) -> str:
    """Version, seed and experiment of a result, in a line."""
    text = result.as_file
    if not text:
        return f"sledlab {__version__}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    experiment = tomllib.loads(text)
    seeds = experiment.get("study", {}).get("seed")
    seed = f"{len(seeds)} seeds from {seeds[0]}" if seeds else f"seed {experiment['seed']}"
    return f"sledlab {__version__}, {seed}, SHA-256 of the experiment {digest}"
