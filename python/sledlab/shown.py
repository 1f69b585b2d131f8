"""Results that display themselves without knowing how: a *face* for each, from a floor above.

A face is an object with the methods of `Face`. Which class has which face is said once, where the package
is put together (`sledlab/__init__.py`); faces are loaded when something is displayed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.files import drafted

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


class Face(Protocol):
    """How results of a class are displayed."""

    def answer(self, result: Any) -> str:
        """The outcome in a sentence or a few."""

    def warnings(self, result: Any) -> list[str]:
        """What a careful reader of the numbers should know, as a terminal shows it."""

    def text(self, result: Any) -> str:
        """What a terminal shows, as plain text."""

    def show(self, result: Any) -> None:
        """Prints it on the terminal."""

    def html(self, result: Any) -> str:
        """What a notebook shows."""

    def draw(self, result: Any, what: str | None, **which: Any) -> Figure:
        """A figure; `what` none for the most telling one."""

    def page(self, result: Any, *, static: bool = False) -> str:
        """A self-contained page, HTML; `static` without figures that can be explored."""

    def latex(self, result: Any) -> str:
        """The tables of what a terminal shows, as LaTeX."""


SCHEMA = 1
"""Version of what a summary holds: one more whenever something goes, or means something else."""

_faces: dict[str, Callable[[], Face]] = {}


def register(name: str, face: Callable[[], Face]) -> None:
    """Says where the face of a class comes from, by the name of the class."""
    _faces[name] = face


def face_of(result: Any) -> Face:
    """The face of a result, by its class or the nearest above that has one."""
    name = next(each.__name__ for each in type(result).__mro__ if each.__name__ in _faces)
    return _faces[name]()


class Shown:
    """What displays itself: as a table where it is printed or ends a notebook cell, in figures, as a page."""

    def report(self, path: str | Path, *, static: bool = False) -> Path:
        """Writes a self-contained HTML page to `path` and returns the path.

        Args:
            path: Where.
            static: Whether its figures are pictures only. Otherwise those with numbers can be explored where
                the page is opened with JavaScript: values, zoom, what is shown, logarithmic or linear.
        """
        with drafted(Path(path)) as place:
            place.write_text(face_of(self).page(self, static=static), encoding="utf-8")
        return Path(path)

    def latex(self) -> str:
        """The tables that the command line prints, as LaTeX for a paper; needs the package `booktabs`."""
        return face_of(self).latex(self)

    @property
    def as_file(self) -> str:
        """The experiment or study as a file that gives the same again; nothing where there is none."""
        return ""

    @property
    def warnings(self) -> list[str]:
        """What a careful reader of the numbers should know; empty where there is nothing."""
        return face_of(self).warnings(self)

    def _draw(self, what: str | None = None, **which: Any) -> Figure:
        return face_of(self).draw(self, what, **which)

    def __repr__(self) -> str:
        """What the command line prints of it."""
        return face_of(self).text(self)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return face_of(self).html(self)
