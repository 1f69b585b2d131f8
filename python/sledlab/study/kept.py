"""Points that are done, kept as they come, so that a study can go on where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.study.measure import FoundOf
from sledlab.study.plan import plain
from sledlab.traces.fitted import Fitted
from sledlab.traces.read import File, Generated, ParquetFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from sledlab.study.plan import Plan, Point
    from sledlab.traces.read import Trace

POINTS = "points.jsonl"


class Kept:
    """The points in a directory, one line of JSON each; without a directory they are only in memory.

    Their results are rows of one kind.
    """

    def __init__(self, directory: Path | None, kind: Callable[..., Any]) -> None:
        self.kind = kind
        self.path = directory / POINTS if directory else None
        self.known: dict[str, FoundOf[Any]] = {}
        self._file: Any = None

    def __enter__(self) -> Kept:
        """Reads the points of former runs, and opens the file to go on."""
        if self.path is not None:
            # The last line may end in the middle of a letter.
            text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
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
            self.known[said["key"]] = FoundOf.from_dict(said, self.kind)
        except (json.JSONDecodeError, KeyError, TypeError):
            return  # another version wrote it, or was killed in the middle of a line: that point runs again

    def add(self, key: str, point: Point, found: FoundOf[Any]) -> None:
        """Keeps a point, at once."""
        self.known[key] = found
        if self._file is not None:
            line = {"key": key, "point": point.keys(), **found.to_dict()}
            self._file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            self._file.flush()


def keys(plan: Plan) -> Mapping[Point, str]:
    """What each point depends on, in short: experiment, requests and program."""
    common = (_program(), str(plan.watch))
    digests, traces = {}, {}
    for point, text in plan.texts.items():
        said, trace = _of(text), plan.trace_of(point)
        if id(trace) not in traces:
            traces[id(trace)] = _requests(trace) if trace else ""
        requests = traces[id(trace)] if trace else _file(said.file)
        digests[point] = _digest(text, requests, *common, *(_module(word) for word in said.plug_ins))
    return digests


@dataclass(frozen=True)
class _Said:
    """What a point depends on besides its text: its trace or record, and classes, `module:Class`."""

    file: str
    plug_ins: tuple[str, ...]


@cache
def _of(text: str) -> _Said:
    tables = plain(text)
    kinds = (tables[table]["kind"] for table in ("scheduler", "power"))
    file = next((tables[table]["file"] for table in ("trace", "work") if table in tables), "")
    return _Said(file, tuple(kind for kind in kinds if _native.is_plugin(kind)))


def plug_ins(text: str) -> tuple[str, ...]:
    """The classes, `module:Class`, that take the place of models in a complete experiment."""
    return _of(text).plug_ins


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@cache
def _program() -> str:
    """The simulator itself: its version alone would not notice a change under development."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


def _file(name: str) -> str:
    """A trace or record by its size and time of change."""
    if not name:
        return ""
    found = Path(name).stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def _requests(trace: Trace) -> str:
    """A trace that is handed over: where it comes from, or its columns where it is in memory."""
    opener = trace.of_seed(0).opener
    origin = opener.of if isinstance(opener, Fitted) else opener
    if isinstance(origin, Generated):
        return repr(opener)
    if isinstance(origin, (File, ParquetFile)):
        return repr(opener) + _file(origin.path)
    digest = hashlib.sha256()
    source = trace.open()
    while (chunk := source.next_chunk()) is not None:
        for column in chunk:
            digest.update(column)
    return digest.hexdigest()


def _module(word: str) -> str:
    """The text of the module of a class, `module:Class`; nothing is imported for that."""
    place, spec = [*sys.path, os.getcwd()], None
    for part in word.partition(":")[0].split("."):
        spec = PathFinder.find_spec(part, place)
        if spec is None:
            return ""
        place = list(spec.submodule_search_locations or ())
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ""
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
