"""Results that display themselves. The code that displays them is imported on first use.

`DisplayedResult` is the base class of results. A `Presentation` of a higher layer (`show` or a study) writes
its text, figures and page; `sledlab/__init__.py` registers a presentation for each class of results.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


class Presentation(Protocol):
    """Text, figures and page of the results of a class."""

    def answer(self, result: Any) -> str:
        """The outcome of `result`, in one or a few sentences."""

    def warnings(self, result: Any) -> list[str]:
        """Warnings about the numbers of `result`, such as an overload, as a terminal shows them."""

    def text(self, result: Any) -> str:
        """What a terminal shows of `result`, as plain text."""

    def show(self, result: Any, *, plot: bool = False) -> None:
        """Print `result` on the terminal, with a plot in characters where `plot`."""

    def html(self, result: Any) -> str:
        """What a notebook shows of `result`, as HTML."""

    def draw(self, result: Any, what: str | None, **which: Any) -> Figure:
        """The figure of the kind `what`; the default one where that is `None`."""

    def page(self, result: Any, *, static: bool = False, path: Path | None = None) -> str:
        """A self-contained page, HTML; where `static`, with pictures only.

        The page links to the tables next to the file that it is for, `path`.
        """

    def latex(self, result: Any) -> str:
        """The tables that a terminal shows of `result`, as LaTeX."""

    def markdown(self, result: Any) -> str:
        """The tables that a terminal shows of `result`, as Markdown."""

    def prepare(self) -> None:
        """Import the libraries of the page and compile its template."""


SCHEMA = 2
"""Version of the keys of a summary: one more whenever a key is dropped or changes its meaning."""

_presentations_by_class: dict[str, Callable[[], Presentation]] = {}


def register(name: str, presentation: Callable[[], Presentation]) -> None:
    """Register the function that returns the presentation of the class called `name`."""
    _presentations_by_class[name] = presentation


def find_presentation(result: Any) -> Presentation:
    """Return the presentation of a result's class, or of its nearest base class that has one."""
    return _presentation_of(type(result))


def _presentation_of(result_class: type) -> Presentation:
    name = next(base.__name__ for base in result_class.__mro__ if base.__name__ in _presentations_by_class)
    return _presentations_by_class[name]()


def prepare_page(result_class: type, *modules: str) -> None:
    """Import modules and prepare the page of a result in a thread, while this one waits for a simulation."""

    def prepare() -> None:
        with suppress(ImportError):  # raised where a module is used
            for name in modules:
                import_module(name)
            _presentation_of(result_class).prepare()

    Thread(target=prepare, name="prepare-page").start()


class DisplayedResult:
    """A result that displays itself: as a table in a terminal or a notebook, in figures, as a page."""

    def report(self, path: str | Path, *, static: bool = False) -> Path:
        """Write a self-contained HTML page to `path` and return the path.

        Args:
            path: The file to write.
            static: Whether its figures are pictures only. Otherwise figures with numbers can be explored
                where the page is opened with JavaScript: values, zoom, curves shown, logarithmic or linear.
        """
        with atomic_write(Path(path)) as draft:
            page = find_presentation(self).page(self, static=static, path=Path(path))
            draft.write_text(page, encoding="utf-8")
        return Path(path)

    def latex(self) -> str:
        """The tables that the command line prints, as LaTeX for a paper; needs the package `booktabs`."""
        return find_presentation(self).latex(self)

    def markdown(self) -> str:
        """The tables that the command line prints, with their headings, as Markdown of GitHub."""
        return find_presentation(self).markdown(self)

    @property
    def as_file(self) -> str:
        """The file of the experiment or study that gives the same result again; empty where none does."""
        return ""

    @property
    def warnings(self) -> list[str]:
        """Warnings about the numbers, such as an overload; empty where there are none."""
        return find_presentation(self).warnings(self)

    def _draw(self, what: str | None = None, **which: Any) -> Figure:
        return find_presentation(self).draw(self, what, **which)

    def __repr__(self) -> str:
        """What the command line prints of the result."""
        return find_presentation(self).text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows of the result."""
        return find_presentation(self).html(self)
