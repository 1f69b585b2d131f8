"""Points that are done, kept as they come, so that a comparison can go on where it was stopped."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sledlab import _native
from sledlab.comparison.measuring import is_python
from sledlab.comparison.plan import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from sledlab.traces import Trace

POINTS = "points.jsonl"


class Runs(Protocol):
    """One run of a plan; as a text it names itself in messages."""

    def keys(self) -> dict[str, Any]:
        """What tells it from others."""


P = TypeVar("P", bound=Runs)


class Planned(Protocol[P]):
    """Runs that belong together."""

    @property
    def base(self) -> _native.Experiment:
        """What names the trace, if a file holds it."""

    @property
    def trace(self) -> Trace | None:
        """Replayed instead of what `base` names."""

    @property
    def points(self) -> Sequence[P]:
        """All runs, those that take longest first."""

    def text(self, point: P) -> str:
        """The complete experiment of a run."""


class Kept:
    """The points in a directory, one line of JSON each; without a directory they are only in memory."""

    def __init__(self, directory: Path | None) -> None:
        self.path = directory / POINTS if directory else None
        self.known: dict[str, dict[str, Any]] = {}
        self._file: Any = None

    def __enter__(self) -> Kept:
        """Reads what there is, and opens the file to go on."""
        if self.path is not None:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
            for line in text.splitlines():
                self._read(line)
            self._file = self.path.open("a", encoding="utf-8")
            if text and not text.endswith("\n"):
                self._file.write("\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _read(self, line: str) -> None:
        try:
            said = json.loads(line)
            self.known[said["key"]] = {"row": said["row"], "timing": said["timing"]}
        except (json.JSONDecodeError, KeyError, TypeError):
            return  # the writer was killed in the middle of a line: that point runs again

    def add(self, key: str, point: Runs, found: dict[str, Any]) -> None:
        """Keeps a point, at once."""
        self.known[key] = found
        if self._file is not None:
            line = {"key": key, "point": point.keys(), **found}
            self._file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            self._file.flush()


def keys(plan: Planned[P], texts: Mapping[P, str], what: str) -> dict[P, str]:
    """What each point depends on, in short: experiment, requests, program and what is measured."""
    common = (_program(), _requests(plan.base, plan.trace), what)
    modules: dict[str, str] = {}
    digests = {}
    for point, text in texts.items():
        written = written_in_python(text)
        modules |= {word: _python(word) for word in written if word not in modules}
        digests[point] = _digest(text, *common, *(modules[word] for word in written))
    return digests


def written_in_python(text: str) -> list[str]:
    """The classes, `module:Class`, that take the place of models in a complete experiment."""
    tables = plain(text)
    return [kind for table in ("scheduler", "power") if is_python(kind := tables[table]["kind"])]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@cache
def _program() -> str:
    """The simulator itself: its version alone would not notice a change under development."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


def _requests(base: _native.Experiment, trace: Trace | None) -> str:
    """The trace: a file by its size and time of change, one in memory by its columns."""
    if trace is not None:
        return _in_memory(trace)
    file = base.setting("trace.file")
    if file is None:
        return ""
    found = Path(file).stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def _in_memory(trace: Trace) -> str:
    digest = hashlib.sha256()
    source = trace.open()
    while (chunk := source.next_chunk()) is not None:
        for column in chunk:
            digest.update(column)
    return digest.hexdigest()


def _python(word: str) -> str:
    """The text of the module of a class, `module:Class`; what that imports is not looked at."""
    try:
        found = importlib.util.find_spec(word.partition(":")[0])
    except (ImportError, ValueError):
        return ""
    if found is None or found.origin is None or not Path(found.origin).is_file():
        return ""
    return hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()
