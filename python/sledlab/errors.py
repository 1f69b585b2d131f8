"""The two kinds of trouble: the user's to mend, and ours; and what is merely worth knowing."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sledlab.legible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Place:
    """Where in a file the trouble is.

    Attributes:
        file: The file as the user named it.
        line: Line or record, counted from 1; 0 when unknown.
        column: Column or byte, counted from 1; 0 when unknown.
        text: The offending text, shortened.
    """

    file: str
    line: int
    column: int
    text: str


class Error(ValueError):
    """A mistake the user can mend: what went wrong, where, and what to do about it.

    Attributes:
        message: What went wrong.
        place: Where, when a file is involved.
        remedy: What to do, when known.

    Examples:
        >>> import sledlab as sl
        >>> try:
        ...     sl.device("mems-g22")
        ... except sl.Error as error:
        ...     print(error.remedy)
        did you mean `mems-g2`?
    """

    def __init__(self, message: str, place: Place | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        """The whole story, over one to three lines, without control characters of names in it."""
        where = ""
        found = ""
        if self.place is not None:
            numbers = [str(number) for number in (self.place.line, self.place.column) if number]
            where = ":".join([self.place.file, *numbers]) + ": "
            found = f"\n  found: {self.place.text}" if self.place.text else ""
        remedy = f"\n  help: {self.remedy}" if self.remedy else ""
        return visible(f"{where}{self.message}{found}{remedy}")

    def __reduce__(self) -> tuple[type[Error], tuple[str, Place | None, str | None]]:
        """Pickles with all three parts, so that errors cross process borders whole."""
        return type(self), (self.message, self.place, self.remedy)


def unknown(what: str, word: str, known: Sequence[str]) -> Error:
    """The error about a word that means nothing, with the nearest that does.

    Examples:
        >>> print(unknown("strategy", "mergng", ["merging", "all"]))
        unknown strategy `mergng`
          help: did you mean `merging`?
    """
    near = get_close_matches(word, known, n=1)
    remedy = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
    return Error(f"unknown {what} `{word}`", remedy=remedy)


class InternalError(RuntimeError):
    """A promise that sledlab broke: please report it with the configuration and the seed.

    Examples:
        >>> issubclass(InternalError, Error)
        False
    """


class Notice(UserWarning):
    """Something that is worth knowing: sledlab goes on all the same."""
