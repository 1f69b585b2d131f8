"""Directories of results: of one kind each, with a manifest of the files that are results."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.files import drafted, make_directory, writing
from sledlab.lazy import json, tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable

MANIFEST = "sledlab.json"
"""In a directory of results: of which kind they are, and which files, or directories of points, are such."""

STUDY = "study.toml"
"""A study, to run it again."""

REPORT = "report.html"
"""The page about them."""


def results(out: str | Path | None, kind: str, *, replace: bool = False) -> Path | None:
    """A directory for results of a kind, made if there is none; none where nobody wants one.

    Args:
        out: The directory.
        kind: Of results: the study, or the command.
        replace: Whether to remove former results of any kind first; other files are left alone.

    Raises:
        Error: It cannot be made or written, or holds results of another kind.
    """
    if out is None:
        if replace:
            raise Error("there is no directory whose results to replace", remedy="name it with --out")
        return None
    if not str(out):
        raise Error("the directory for results has no name", remedy="give a directory to --out")
    directory = make_directory(Path(out))
    held, files = _manifest(directory)
    if replace:
        _remove(directory, held, files)
    elif held not in ("", kind):
        raise Error(
            f"`{out}` holds results of another kind: of `{held}`, not of `{kind}`",
            remedy="choose another --out, or say --replace: it removes the files that sledlab left there",
        )
    return directory


def leaves(directory: Path, kind: str, names: Iterable[str]) -> None:
    """Notes that files of results are written into a directory: to be called before they are."""
    path = directory / MANIFEST
    files = {*_manifest(directory)[1], *names}
    text = json.dumps({"kind": kind, "files": sorted(files)}, indent=2) + "\n"
    if not path.is_file() or path.read_bytes() != text.encode():
        with drafted(path) as draft:
            draft.write_text(text, encoding="utf-8")


def _manifest(directory: Path) -> tuple[str, list[str]]:
    """Of which kind the results in a directory are, none if there are none, and their files."""
    try:
        said = json.loads((directory / MANIFEST).read_bytes())
        names = [name for name in said["files"] if isinstance(name, str) and Path(name).name == name]
        return str(said["kind"]), names
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # nobody wrote it, or it is damaged
    try:
        study = tomllib.loads((directory / STUDY).read_text(encoding="utf-8"))
        return str(study["study"]["kind"]), []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "", []


def _remove(directory: Path, kind: str, files: Iterable[str]) -> None:
    """Removes results.

    Raises:
        Error: Nothing says which files are results, or one cannot be removed.
    """
    if kind and not files:
        raise Error(
            f"`{directory}` holds results of `{kind}`, but no {MANIFEST} that says which files they are",
            remedy="remove them yourself, or choose another --out",
        )
    for name in (*files, MANIFEST):
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            _empty(path)
        elif path.is_file() or path.is_symlink():
            with writing(path):
                path.unlink()


def _empty(place: Path) -> None:
    """Removes a directory of points, but for files of others in it; one without points is none."""
    points = list(place.glob("*.jsonl"))
    for path in points:
        with writing(path):
            path.unlink()
    if points:
        with suppress(OSError):  # others have files there
            place.rmdir()
