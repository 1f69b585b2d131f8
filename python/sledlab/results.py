"""Directories of results: each holds results of one kind, and a manifest that lists their files."""

from __future__ import annotations

import errno
import stat
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from dataclasses import replace as with_changes
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.files import atomic_write, make_directory, write_errors
from sledlab.lazy import hashlib, json
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FORMAT = 1
"""Version of the files in a directory: one more when an earlier `sledlab.open` cannot read them."""

MANIFEST = "sledlab.json"
"""The manifest: the kind of the results in a directory, and their files and result caches."""

STUDY = "study.toml"
"""The file of a study among its results, to run the study again."""

REPORT = "report.html"
"""The page about the results."""

OUTCOME = "outcome.json"
"""Results that no other file holds in full, for `sledlab.open`."""

UNFINISHED_RUNS = "unfinished.json"
"""The runs of a study, until it is finished."""

MAX_DIGESTED_BYTES = 1 << 26
"""Larger files, such as requests of long runs, have no hash in the manifest."""


def prepare_directory(out: str | Path | None, kind: str, *, replace: bool = False) -> Path | None:
    """Return the directory `out` for results of a kind, made if necessary; `None` where `out` is `None`.

    Args:
        out: The directory.
        kind: Kind of the results: the name of the study or of the command.
        replace: Whether to remove former results of any kind first; other files are left alone.

    Raises:
        Error: The directory cannot be made or written, or holds results of another kind.
    """
    if out is None:
        if replace:
            raise Error("--replace requires a directory for results", remedy="specify it with --out")
        return None
    if not str(out):
        raise Error("the directory for results has no name", remedy="specify a directory with --out")
    directory = make_directory(Path(out))
    manifest = _read_manifest(directory)
    if replace:
        _remove(directory, manifest)
    elif manifest.kind not in ("", kind):
        raise Error(
            f"`{out}` holds results of another kind: of `{manifest.kind}`, not of `{kind}`",
            remedy="choose another --out, or use --replace, which deletes the files that sledlab wrote there",
        )
    return directory


def list_in_manifest(directory: Path, kind: str, names: Iterable[str]) -> None:
    """Add `names` to the files of results in the manifest of a directory; call this before they are written.

    Raises:
        Error: One of them is a symbolic link.
    """
    names = list(names)
    refuse_links(directory, [MANIFEST, *names])
    manifest = _read_manifest(directory)
    _write_manifest(directory, ResultManifest(kind, sorted({*manifest.files, *names}), manifest.digests))


def record_digests(directory: Path) -> None:
    """Add hashes of the files of results to the manifest of a directory; call this when all are written."""
    manifest = _read_manifest(directory)
    digests_by_name = {
        name: _digest(directory / name) for name in manifest.files if _needs_digest(directory / name)
    }
    _write_manifest(directory, with_changes(manifest, digests=digests_by_name))


def _needs_digest(path: Path) -> bool:
    """Whether results are read from a file, and hashing it takes no noticeable time."""
    is_read = path.suffix in (".json", ".parquet") and path.is_file()
    return is_read and path.stat().st_size <= MAX_DIGESTED_BYTES


def _digest(path: Path) -> str:
    """A hash of a file; ends of lines do not count, as version control may change those of text."""
    content = path.read_bytes()
    content = content.replace(b"\r\n", b"\n") if path.suffix == ".json" else content
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _write_manifest(directory: Path, manifest: ResultManifest) -> None:
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=2) + "\n"
    path = directory / MANIFEST
    if not path.is_file() or path.read_bytes() != text.encode():
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")


def refuse_links(directory: Path, names: Iterable[str]) -> None:
    """Refuse results that are symbolic links: who prepared the directory chose the files that they lead to.

    Raises:
        Error: One of the names is a symbolic link in the directory.
    """
    for name in names:
        if (directory / name).is_symlink():
            raise Error(
                f"`{directory / name}` is a symbolic link, and results are not written through links",
                remedy="choose another --out, or remove the link",
            )


def table_files(page: Path) -> list[str]:
    """Return the names of the tables next to the page of results; empty for a page elsewhere."""
    if page.name != REPORT:
        return []
    return [name for name in _read_manifest(page.parent).files if name.endswith((".csv", ".parquet", ".tex"))]


DIRECTORY_REMEDY = "use the --out directory of a run or study"


def result_kind(directory: Path) -> str:
    """Return the kind of the results in a directory.

    Raises:
        Error: The directory does not exist or holds no results, or they are damaged or of a newer version.
    """
    if not directory.is_dir():
        problem = "is not a directory" if directory.exists() else "does not exist"
        raise Error(f"`{directory}` {problem}", remedy=DIRECTORY_REMEDY)
    if not (directory / MANIFEST).exists():
        subdirectories = sorted(path.parent.name for path in directory.glob(f"*/{MANIFEST}"))
        remedy = (
            f"give one of the directories in it: {', '.join(subdirectories)}"
            if subdirectories
            else DIRECTORY_REMEDY
        )
        raise Error(f"`{directory}` holds no results of sledlab: there is no {MANIFEST}", remedy=remedy)
    manifest = read_json(directory / MANIFEST)
    version = manifest.get("format", FORMAT)
    if version != FORMAT:
        raise Error(
            f"a newer version of sledlab wrote `{directory}`: format {version}, this version reads {FORMAT}",
            remedy="install the newer version",
        )
    return str(manifest.get("kind"))


def read_json(path: Path) -> dict[str, Any]:
    """Read an object from a JSON file in a directory of results.

    Raises:
        Error: The file is missing or damaged.
    """
    with read_errors(path):
        tables: dict[str, Any] = {**json.loads(path.read_bytes())}
        return tables


@contextmanager
def read_errors(path: Path) -> Iterator[Path]:
    """Turn exceptions while a file of results is read into an error that names the file.

    Raises:
        Error: The file is missing or damaged.
    """
    remedy = "run the command that wrote it again with the same --out; a study reuses its saved runs"
    try:
        _check_undamaged(path)
        yield path
    except Error:
        raise
    except FileNotFoundError as error:
        raise Error(f"`{path}` is missing", remedy=remedy) from error
    except OSError as error:
        raise Error(f"cannot read `{path}`: {error.strerror}", remedy=remedy) from error
    except Exception as error:  # JSON, TOML, polars and the types of rows each raise their own
        raise Error(f"`{path}` is damaged", remedy=remedy) from error


def _check_undamaged(path: Path) -> None:
    """Check that a file is the one that was written.

    Raises:
        OSError: There is no such file, or a device or a pipe in its place.
        ValueError: The file has changed.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    if path.name != MANIFEST and path.suffix in (".json", ".parquet"):
        digest = _read_manifest(path.parent).digests.get(path.name)
        if digest is not None and digest != _digest(path):
            raise ValueError("the file has changed")


def parse_saved_toml(text: str) -> dict[str, Any]:
    """Return the tables of a saved TOML file; to be called within `read_errors`.

    Raises:
        ValueError: It is not valid TOML.
    """
    try:
        return parse_toml(text, "")
    except Error as error:
        raise ValueError(error) from error


@dataclass(frozen=True)
class ResultManifest:
    """The manifest of a directory.

    Attributes:
        kind: Kind of the results; empty if the directory holds none.
        files: Names of their files and result caches.
        digests: Hashes of files from which results are read, by name: a file with another one is damaged.
    """

    kind: str = ""
    files: Sequence[str] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


def _read_manifest(directory: Path) -> ResultManifest:
    """The manifest of a directory; an empty one if it holds no results."""
    with suppress(Error, ValueError, KeyError, TypeError):  # there is no manifest, or it is damaged
        tables = read_json(directory / MANIFEST)
        files = [name for name in tables["files"] if isinstance(name, str) and Path(name).name == name]
        return ResultManifest(str(tables["kind"]), files, {**tables.get("digests", {})})
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        study_tables = parse_toml((directory / STUDY).read_text(encoding="utf-8"), STUDY)
        return ResultManifest(str(study_tables["study"]["kind"]))
    return ResultManifest()


def _remove(directory: Path, manifest: ResultManifest) -> None:
    """Remove the files in the manifest of a directory, and the manifest.

    Raises:
        Error: The manifest that lists the files is missing, or a file cannot be removed.
    """
    if manifest.kind and not manifest.files:
        raise Error(
            f"`{directory}` holds results of `{manifest.kind}`, but no {MANIFEST} with the list of its files",
            remedy="delete them yourself, or choose another --out",
        )
    for name in (*manifest.files, MANIFEST):
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            _delete_cache(path)
        elif path.is_file() or path.is_symlink():
            with write_errors(path):
                path.unlink()


def _delete_cache(directory: Path) -> None:
    """Delete the files of a result cache, and their directory if it is empty then."""
    cache_files = list(directory.glob("*.jsonl"))
    for path in cache_files:
        with write_errors(path):
            path.unlink()
    if cache_files:
        with suppress(OSError):  # other files keep the directory
            directory.rmdir()
