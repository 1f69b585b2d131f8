"""Points that are done, kept as they come, so that a study can go on where it was stopped.

A point is kept under what it depends on: the contents of its trace or record wherever that lies, everything
else that its experiment says, and the program.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Notice
from sledlab.files import drafted, writing
from sledlab.study.measure import FoundOf
from sledlab.study.plan import plain
from sledlab.traces.contents import content, identity
from sledlab.traces.fitted import Fitted
from sledlab.traces.read import File, Generated, ParquetFile
from sledlab.traces.samples import located
from sledlab.traces.volumes import Merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from sledlab.study.plan import Plan, Point
    from sledlab.traces.read import Opener, Trace

POINTS = "points.jsonl"

INPUTS = ("trace", "work")
"""Tables of an experiment whose `file` is read: its contents count, not its path."""

_HEAD, _CHECK, _TAIL = b'{"check": "', 16, b'", '
"""How a line begins: with a check of all that follows, in so many characters."""


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
        """Reads the points of former runs, but for lines that are damaged, and opens the file to go on."""
        if self.path is not None:
            with writing(self.path):
                self._recall(self.path)
                self._file = self.path.open("ab", buffering=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _recall(self, path: Path) -> None:
        *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
        whole = [line for line in lines if self._read(line)]
        if len(whole) == len(lines) and not last:
            return
        # The last line may be cut off, where a study was killed: nothing to be told of.
        if damaged := sum(map(bool, lines)) - len(whole):
            what = "1 line is" if damaged == 1 else f"{damaged} lines are"
            message = f"{path}: {what} damaged or of an older sledlab; what they held is run again"
            warnings.warn(Notice(message), stacklevel=2)
        whole += [last] if self._read(last) else []
        with drafted(path) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in whole))

    def _read(self, line: bytes) -> bool:
        """Takes a point from a line; whether that is as it was written."""
        start = len(_HEAD) + _CHECK
        rest = line[start + len(_TAIL) :]
        if line != _HEAD + _check(rest) + _TAIL + rest:
            return False
        try:
            said = json.loads(b"{" + rest)
            self.known[said["key"]] = FoundOf.from_dict(said, self.kind)
        except (KeyError, TypeError):
            pass  # of another version, which may go on with it
        except (ValueError, RecursionError):
            return False
        return True

    def add(self, key: str, point: Point, found: FoundOf[Any]) -> None:
        """Keeps a point, at once.

        Raises:
            Error: It cannot be written.
        """
        self.known[key] = found
        if self.path is not None:
            line = memoryview(line_of({"key": key, "point": point.keys(), **found.to_dict()}))
            with writing(self.path):
                while line:
                    line = line[self._file.write(line) :]


def line_of(said: Mapping[str, Any]) -> bytes:
    """A line of the file: plain data behind a check of it, by which damage is noticed."""
    rest = json.dumps(said, allow_nan=False).encode()[1:]
    return _HEAD + _check(rest) + _TAIL + rest + b"\n"


def _check(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=_CHECK // 2).hexdigest().encode()


def keys(plan: Plan, *, lasting: bool) -> Mapping[Point, str]:
    """What each point depends on, in short: experiment, requests and program.

    Those that last know files by their contents. Others hold within this process, and read no file.
    """
    known = content if lasting else identity
    # The simulator itself: its version alone would not notice a change under development.
    common = (known(Path(_native.__file__)), str(plan.watch))
    digests, traces = {}, {}
    for point, text in plan.texts.items():
        said, trace = _of(text), plan.trace_of(point)
        if id(trace) not in traces:
            traces[id(trace)] = _requests(trace, known) if trace else ""
        requests = traces[id(trace)] if trace else " ".join(map(known, said.files))
        modules = (_module(word) for word in said.plug_ins)
        digests[point] = _digest(said.text, requests, *common, *modules)
    return digests


@dataclass(frozen=True)
class _Said:
    """What an experiment says: all but the paths of its inputs, these, and classes, `module:Class`."""

    text: str
    files: tuple[Path, ...]
    plug_ins: tuple[str, ...]


@cache
def _of(text: str) -> _Said:
    tables = plain(text)
    said = ("scheduler", "power", "workload", "device", "front")
    kinds = [tables[table]["kind"] for table in said if table in tables]
    kinds.append(tables.get("hybrid", {}).get("replacement", ""))
    plug_ins = tuple(kind for kind in kinds if _native.is_plugin(kind))
    files = tuple(located(tables[table].pop("file")) for table in INPUTS if table in tables)
    return _Said(json.dumps(tables, sort_keys=True), files, plug_ins)


def plug_ins(text: str) -> tuple[str, ...]:
    """The classes, `module:Class`, that take the place of models in a complete experiment."""
    return _of(text).plug_ins


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _requests(trace: Trace, known: Callable[[Path], str]) -> str:
    """A trace that is handed over: what it is made from, or its columns where it is in memory."""
    if isinstance(trace.opener, Merged):
        parts = [_made_of(each, known) for each in trace.opener.of]
        return _digest(repr(trace.opener.offsets_blocks), *parts)
    return _made_of(trace.of_seed(0).opener, known)


def _made_of(opener: Opener, known: Callable[[Path], str]) -> str:
    origin = opener.of if isinstance(opener, Fitted) else opener
    if isinstance(origin, Generated):
        return repr(opener)
    if isinstance(origin, (File, ParquetFile)):
        anywhere = replace(origin, path="")
        found = replace(opener, of=anywhere) if isinstance(opener, Fitted) else anywhere
        return repr(found) + known(located(str(origin.path)))
    digest = hashlib.sha256()
    source = opener.open()
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
    return content(Path(spec.origin))
