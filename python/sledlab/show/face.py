"""The face of a result: made of the functions that put it into parts and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.show import document, plots, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Document, Part


@dataclass(frozen=True)
class DocumentFace:
    """A face made of functions, see `sledlab.shown.Face`.

    Attributes:
        answer: The outcome in a sentence or a few.
        brief: The parts that a terminal and a notebook show.
        whole: The page.
        figure: A figure by its name, and by what else `plot` was given.
    """

    answer: Callable[[Any], str]
    brief: Callable[[Any], Sequence[Part]]
    whole: Callable[[Any], Document]
    figure: Callable[..., Figure]

    def text(self, result: Any) -> str:
        """What a terminal shows, as plain text."""
        return terminal.as_text(lambda show: document.write(self.brief(result), show))

    def show(self, result: Any) -> None:
        """Prints it."""
        terminal.show(lambda show: document.write(self.brief(result), show))

    def html(self, result: Any) -> str:
        """What a notebook shows."""
        return document.as_html(self.brief(result))

    def draw(self, result: Any, what: str | None, **which: Any) -> Figure:
        """A figure."""
        with plots.style():
            return self.figure(result, what, **which) if what is not None else self.figure(result, **which)

    def page(self, result: Any) -> str:
        """A self-contained page, HTML."""
        return document.page(self.whole(result))
