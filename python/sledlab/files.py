"""Files and directories that commands write: checked before the work starts, in place only when whole."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error, Place

if TYPE_CHECKING:
    from collections.abc import Iterator


def make_directory(path: Path) -> Path:
    """Makes a directory for results, if there is none.

    Raises:
        Error: It cannot be made, or nothing can be written there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(
            f"cannot make the directory `{path}`: {error.strerror}", remedy="choose another --out"
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise Error(f"cannot write into the directory `{path}`", remedy="choose another --out")
    return path


def check_writable(path: Path) -> None:
    """Checks that a file can be written, without touching what may be there.

    Raises:
        Error: It is a directory, or its directory is missing or not writable.
    """
    if path.is_dir():
        raise Error(f"`{path}` is a directory", remedy="give the name of a file")
    if not path.parent.is_dir():
        raise Error(f"there is no directory `{path.parent}` for `{path.name}`", remedy="make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Error(f"cannot write `{path}`", remedy="choose another name or directory")


class Draft:
    """A file in the making: what is written to `place`, beside it, takes its name when whole.

    What is no regular file, such as a pipe, is written at once; so is a file whose directory admits no other.

    Examples:
        >>> import tempfile
        >>> draft = Draft(Path(tempfile.mkdtemp()) / "table.csv")
        >>> draft.place.suffix, draft.place.write_text("1,2"), draft.path.exists()
        ('.csv', 3, False)
        >>> draft.keep()
        >>> draft.path.read_text(), draft.place.exists()
        ('1,2', False)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file."""
        self._real = real = Path(os.path.realpath(path))
        self.place = path
        """Where it is written."""
        # /dev/stdout may lead to a pipe, or to a file that somebody else has opened.
        regular = path.is_file() or not path.exists()
        if regular and not str(path).startswith(("/dev/", "/proc/")) and os.access(real.parent, os.W_OK):
            self.place = real.with_name(f".part-{os.getpid()}-{real.name}")

    def keep(self) -> None:
        """Gives the file its name; what had it before is gone."""
        if self.place != self.path:
            if self._real.exists():
                self.place.chmod(self._real.stat().st_mode)
            self.place.replace(self._real)

    def drop(self) -> None:
        """Removes what has been written; what had the name before stays."""
        if self.place != self.path:
            self.place.unlink(missing_ok=True)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Where to write a file that takes its name when whole; an error names the file by that name."""
    draft = Draft(path)
    try:
        yield draft.place
        draft.keep()
    except Error as error:
        place = error.place
        if place is not None and place.file == str(draft.place):
            place = Place(str(path), place.line, place.column, place.text)
        raise Error(error.message.replace(str(draft.place), str(path)), place, error.remedy) from error
    finally:
        draft.drop()
