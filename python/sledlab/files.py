"""Files and directories that commands write: checked before the work starts, complete when they appear."""

from __future__ import annotations

import errno
import os
import re
import signal
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sledlab.errors import Error, Place
from sledlab.lazy import shutil, zlib
from sledlab.stop_signals import stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

NO_SPACE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a file system that has no space left."""

_DRAFT_PATTERN = r"\.part-(\d+)-([0-9a-f]{8})-"
"""Pattern of the beginning of a draft's name: the process that writes it, and its machine."""


def make_directory(path: Path) -> Path:
    """Make a directory for results, if it does not exist.

    Raises:
        Error: The directory cannot be made, or nothing can be written into it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(
            f"cannot create the directory `{path}`: {error.strerror}", remedy="choose another --out"
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise Error(f"cannot write into the directory `{path}`", remedy="choose another --out")
    return path


def check_writable(path: Path) -> None:
    """Check that a file can be written, without touching a file of that name.

    Raises:
        Error: `path` is a directory, or its directory is missing or not writable.
    """
    if path.is_dir():
        raise Error(f"`{path}` is a directory", remedy="use the name of a file")
    if not path.parent.is_dir():
        raise Error(f"there is no directory `{path.parent}` for `{path.name}`", remedy="create it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Error(f"cannot write `{path}`", remedy="choose another name or directory")


@contextmanager
def write_errors(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Turn errors of the system while `path`, or its `draft`, is written into errors that name `path`.

    Raises:
        Error: The file cannot be written: the disk is full, or the like.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        number = _error_number(error)
        if number is None and not isinstance(error, OSError):
            raise
        file = getattr(error, "filename", None)
        if file is not None and str(file) not in (str(path), str(draft)):
            raise  # the error is about another file
        reason = os.strerror(number) if number else str(error)
        remedy = "free space, or write to another file system" if number in NO_SPACE_ERRORS else None
        raise Error(f"cannot write `{path}`: {reason}", remedy=remedy) from error


def _error_number(error: Exception) -> int | None:
    """Return the number of an error of the system; polars gives it only in the text of its own errors.

    Examples:
        >>> _error_number(OSError(28, "full")), _error_number(ValueError("No space left (os error 28)"))
        (28, 28)
    """
    if isinstance(error, OSError) and error.errno:
        return error.errno
    match = None if isinstance(error, Error) else re.search(r"\(os error (\d+)\)", str(error))
    return int(match[1]) if match else None


class Draft:
    """A file being written: the draft at `write_path`, in the same directory, is renamed when whole.

    A path that is no regular file, such as a pipe, is written directly; so is a file in whose directory no
    other file can be made. Drafts of processes that have ended are removed from the directory.

    Examples:
        >>> import tempfile
        >>> draft = Draft(Path(tempfile.mkdtemp()) / "table.csv")
        >>> draft.write_path.suffix, draft.write_path.write_text("1,2"), draft.path.exists()
        ('.csv', 3, False)
        >>> draft.keep()
        >>> draft.path.read_text(), draft.write_path.exists()
        ('1,2', False)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        """The file to be written."""
        self._real_path = real_path = Path(os.path.realpath(path))
        self.write_path = path
        """The path to write to: that of the draft, or `path` where there is no draft."""
        # /dev/stdout may lead to a pipe, or to a file that another process has opened.
        is_regular = path.is_file() or not path.exists()
        if (
            is_regular
            and not str(path).startswith(("/dev/", "/proc/"))
            and os.access(real_path.parent, os.W_OK)
        ):
            self.write_path = _draft_path(real_path)
            _remove_stale_drafts(real_path.parent)

    def keep(self) -> None:
        """Rename the draft to `path`, in place of the file that had the name before."""
        if self.write_path != self.path:
            if self._real_path.exists():
                self.write_path.chmod(self._real_path.stat().st_mode)
            self.write_path.replace(self._real_path)

    def drop(self) -> None:
        """Remove the draft; the file that has the name `path` stays."""
        if self.write_path != self.path:
            self.write_path.unlink(missing_ok=True)


def _draft_path(path: Path) -> Path:
    """Return the path of this process's draft of `path`, in the same directory."""
    return path.with_name(f".part-{os.getpid()}-{_machine_id()}-{path.name}")


@cache
def _machine_id() -> str:
    """A short name of this machine: in a directory that machines share, each knows its own processes only."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(name.encode()):08x}"


def _remove_stale_drafts(directory: Path) -> None:
    """Remove drafts of processes of this machine that have ended."""
    with suppress(OSError):  # the directory may not be readable
        for name in os.listdir(directory):
            match = re.match(_DRAFT_PATTERN, name)
            if match and match[2] == _machine_id() and is_gone(int(match[1])):
                _remove(directory / name)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_gone(pid: int) -> bool:
    """Whether a process of this machine has ended, as far as the system reports."""
    if os.name != "posix":
        return False  # there `os.kill` ends the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """The draft to write a file to, renamed to `path` when whole; an error names the file by that name.

    Raises:
        Error: The file cannot be written.
    """
    draft = Draft(path)
    try:
        with write_errors(path, draft.write_path):
            yield draft.write_path
            draft.keep()
    except Error as error:
        place = error.place
        if place is not None and place.file == str(draft.write_path):
            place = Place(str(path), place.line, place.column, place.text)
        raise Error(error.message.replace(str(draft.write_path), str(path)), place, error.remedy) from error
    finally:
        draft.drop()


@contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """The draft to make a directory in, renamed to `path` when whole, also in place of an empty directory.

    Drafts of processes that have ended are removed from the directory that `path` is in.

    Raises:
        Error: The directory `path` exists and is not empty, or cannot be written.

    Examples:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "fleet"
        >>> with atomic_directory(path) as draft:
        ...     _ = (draft / "volume.csv").write_text("")
        ...     path.exists()
        False
        >>> [file.name for file in path.iterdir()], draft.exists()
        (['volume.csv'], False)
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Error(f"the directory `{path}` is not empty", remedy="choose another directory, or empty it")
    real_path = Path(os.path.realpath(path))
    make_directory(real_path.parent)
    _remove_stale_drafts(real_path.parent)
    draft = _draft_path(real_path)
    with write_errors(path, draft):
        draft.mkdir()
    try:
        yield draft
        with write_errors(path, draft):
            if real_path.is_dir():
                real_path.rmdir()
            draft.rename(real_path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def retry_interrupted(operation: Callable[[], T]) -> T:
    """Return the result of an operation of polars; repeat it if Ctrl-C arrives and the process notes that.

    polars drops the result of an operation during which SIGINT arrives and raises `KeyboardInterrupt`, in
    addition to the handler of the process. A handler that only notes the signal (`sledlab.stop_signals`)
    needs the result, to save what was done.

    Raises:
        KeyboardInterrupt: The handler raises it, or Ctrl-C arrived twice.
    """
    try:
        return operation()
    except KeyboardInterrupt:
        if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, stop):
            raise
        return operation()
