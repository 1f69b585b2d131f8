"""Errors: invalid input and internal errors; notices; and a study that is not finished yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.lazy import difflib
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Place:
    """The place in a file that an error is about.

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
    """An error that the user can correct, with its location and a remedy.

    Attributes:
        message: What is wrong.
        place: The place in a file that the error is about; `None` where no file is involved.
        remedy: What the user can do about the error; `None` where that is not known.

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
        """Place, message, offending text and remedy on one to three lines, control characters spelled out."""
        location = ""
        excerpt = ""
        if self.place is not None:
            numbers = [str(number) for number in (self.place.line, self.place.column) if number]
            location = ":".join([self.place.file, *numbers]) + ": "
            excerpt = f"\n  found: {self.place.text}" if self.place.text else ""
        remedy = f"\n  help: {self.remedy}" if self.remedy else ""
        return visible(f"{location}{self.message}{excerpt}{remedy}")

    def __reduce__(self) -> tuple[type[Error], tuple[str, Place | None, str | None]]:
        """Pickle message, place and remedy, so that errors from other processes are complete."""
        return type(self), (self.message, self.place, self.remedy)


def unknown(kind: str, name: str, known_names: Sequence[str]) -> Error:
    """The error about a word that is not among those known, with the nearest known one as remedy.

    Examples:
        >>> print(unknown("strategy", "mergng", ["merging", "all"]))
        unknown strategy `mergng`
          help: did you mean `merging`?
    """
    names_by_lowercase = {known_name.lower(): known_name for known_name in known_names}
    matches = difflib.get_close_matches(name.lower(), names_by_lowercase, n=1)
    remedy = (
        f"did you mean `{names_by_lowercase[matches[0]]}`?" if matches else f"known: {', '.join(known_names)}"
    )
    return Error(f"unknown {kind} `{name}`", remedy=remedy)


class InternalError(RuntimeError):
    """A defect of sledlab: please report it with the configuration and the seed.

    Examples:
        >>> issubclass(InternalError, Error)
        False
    """


class Notice(UserWarning):
    """A warning to the user; execution continues."""


class IncompleteStudy(Exception):  # noqa: N818 - nothing is wrong
    """A share of a study is complete, but runs of other shares are missing, so there is no outcome yet.

    Attributes:
        share: Number of the share, and number of shares: `3/8`.
        done: Runs executed by this share, without runs that were already in the result cache.
        missing: Runs of the study that are not in the result cache yet.
        total: Runs of the complete study.

    Examples:
        >>> import sledlab as sl
        >>> try:
        ...     raise sl.IncompleteStudy("1/2", done=6, missing=5, total=11)
        ... except sl.IncompleteStudy as unfinished:
        ...     print(unfinished)
        share 1/2: 6 runs completed; 5 of 11 are still missing
          help: the last share writes the results; so does the same command without --share
    """

    def __init__(self, share: str, done: int, missing: int, total: int) -> None:
        super().__init__(share, done, missing, total)
        self.share, self.done, self.missing, self.total = share, done, missing, total

    def __str__(self) -> str:
        """The completed runs, the missing runs, and how to reach the outcome."""
        runs = "1 run" if self.done == 1 else f"{self.done:,} runs"
        missing = f"{self.missing:,} of {self.total:,} {'is' if self.missing == 1 else 'are'} still missing"
        return (
            f"share {self.share}: {runs} completed; {missing}\n"
            "  help: the last share writes the results; so does the same command without --share"
        )
