"""The result cache of a study: results of runs, saved as they complete, so that a study can resume.

The key of a run is a hash of all its inputs: the contents of its trace or work record (not its path), the
rest of its experiment, and the program. Each process writes a file of its own and reads the files of all
other processes, so processes and machines share a directory without locks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from sledlab.errors import Error, Notice
from sledlab.files import atomic_write, is_gone, make_directory, write_errors
from sledlab.sources import build_name
from sledlab.study.inputs import experiment_inputs, module_contents
from sledlab.study.measure import MeasuredRun, measure
from sledlab.study.value_types import is_of_type
from sledlab.traces.contents import content, identity
from sledlab.traces.fitted_requests import FittedRequests
from sledlab.traces.read import File, GeneratedRequests, IdentifiedOpener, ParquetFile
from sledlab.traces.samples import locate
from sledlab.traces.volumes import MergedTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from sledlab.study.plan import Plan, RunSpec
    from sledlab.traces.read import Opener, Trace

RUNS = "runs"
"""The folder of cached runs in a directory of results: one file for each process that measured some."""

_HEAD, _CHECKSUM_LENGTH, _TAIL = b'{"check": "', 16, b'", '
"""Beginning of a line: a check of all that follows, and its number of characters."""

MAX_VALUE = 1e100
"""Largest number in the result of a cached run; statistics compute sums of squares."""

_open_files: set[Path] = set()
"""Files that this process is writing to."""


class ResultCache:
    """The cached runs of a directory, one line of JSON each; without a directory they are in memory only.

    Their results are rows of one class.
    """

    def __init__(
        self, directory: Path | None, kind: Callable[..., Any], reuse: Iterable[str | Path] = ()
    ) -> None:
        """The runs of `directory`, if any, and those of other directories of results, which are only read.

        Raises:
            Error: One of the directories in `reuse` holds no runs.
        """
        self.kind = kind
        self.runs_directory = directory / RUNS if directory else None
        self.known: dict[str, MeasuredRun[Any]] = {}
        self._directory = directory
        self._other_directories = [_check_has_runs(Path(each)) for each in reuse]
        self._other_runs: dict[str, MeasuredRun[Any]] = {}
        self._path: Path | None = None
        self._file: Any = None

    def __enter__(self) -> ResultCache:
        """Read the runs that earlier processes cached; damaged lines are skipped."""
        self.reload()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file that this process writes to."""
        if self._file is not None:
            self._file.close()
        if self._path is not None:
            _open_files.discard(self._path)

    def reload(self) -> None:
        """Read runs that others have written since; damaged lines are dropped if their writer is gone."""
        for directory in self._other_directories:
            for path in files(directory):
                _read_runs(path, partial(self._read, self._other_runs), repairs=False)
        if self._directory is not None:
            for path in files(self._directory):
                if path != self._path:
                    with write_errors(path):
                        _read_runs(
                            path,
                            partial(self._read, self.known),
                            repairs=_is_abandoned(path) and not path.is_symlink(),
                        )

    def _read(self, runs: dict[str, MeasuredRun[Any]], line: bytes) -> bool:
        """Read a run from a line into `runs`; return whether the line is undamaged."""
        start = len(_HEAD) + _CHECKSUM_LENGTH
        payload = line[start + len(_TAIL) :]
        if line != _HEAD + _checksum(payload) + _TAIL + payload:
            return False
        try:
            record = json.loads(b"{" + payload)
            measured_run = MeasuredRun.from_dict(record, self.kind)
            if not _is_plausible(measured_run.to_dict()) or not _has_declared_types(measured_run):
                return False
            runs[record["key"]] = measured_run
        except (KeyError, TypeError):
            pass  # a run of another version, which may still use it, or a run that failed
        except (ValueError, RecursionError):
            return False
        return True

    def has_result(self, key: str, spec: RunSpec) -> bool:
        """Whether the result of a run is known; one from another directory is written to this one too."""
        if key not in self.known and key in self._other_runs:
            self.add(key, spec, self._other_runs[key])
        return key in self.known

    def add(self, key: str, spec: RunSpec, result: MeasuredRun[Any]) -> None:
        """Write the result of a run to the file at once.

        Raises:
            Error: The file cannot be written to.
        """
        self.known[key] = result
        self._write({"key": key, "run": spec.keys(), **result.to_dict()})

    def add_failure(self, key: str, spec: RunSpec, error: Exception) -> None:
        """Write to the file that a run failed, and why; a later run measures it again.

        Raises:
            Error: The file cannot be written to.
        """
        self._write({"key": key, "run": spec.keys(), "error": str(error)})

    def _write(self, record: Mapping[str, Any]) -> None:
        if self.runs_directory is None:
            return
        if self._file is None:
            self._path, self._file = _create_file(make_directory(self.runs_directory))
        line = memoryview(format_line(record))
        assert self._path is not None
        with write_errors(self._path):
            while line:
                line = line[self._file.write(line) :]


def _is_plausible(value: Any) -> bool:
    """Whether all numbers in plain data are finite and small enough to compute with."""
    if isinstance(value, dict):
        return all(map(_is_plausible, value.values()))
    if isinstance(value, list):
        return all(map(_is_plausible, value))
    return not isinstance(value, (int, float)) or abs(value) <= MAX_VALUE  # false for NaN


def _has_declared_types(result: MeasuredRun[Any]) -> bool:
    """Whether the values of a row and of its timing have their declared types."""
    kind = type(result.row)
    values_by_field = vars(result.row) if is_dataclass(kind) else {}
    types = get_type_hints(kind) if values_by_field else {}
    return is_of_type(Mapping[str, float], result.timing) and all(
        is_of_type(types[name], value) for name, value in values_by_field.items()
    )


def files(directory: Path) -> list[Path]:
    """The files of cached runs in a directory of results."""
    return sorted(path for path in (directory / RUNS).glob("*.jsonl") if path.is_file())


def _check_has_runs(directory: Path) -> Path:
    """A directory of results, which must hold cached runs.

    Raises:
        Error: It holds none.
    """
    if not files(directory):
        raise Error(f"no cached runs in `{directory}`", remedy="give the --out of a study to --reuse")
    return directory


def _create_file(directory: Path) -> tuple[Path, Any]:
    """A new file for this process, opened, and its path: named after machine and process.

    Raises:
        Error: The file cannot be created.
    """
    for number in count(1):
        path = directory / f"{_host()}-{os.getpid()}-{number}.jsonl"
        with write_errors(path), suppress(FileExistsError):
            file = path.open("xb", buffering=0)
            _open_files.add(path)
            return path, file
    raise AssertionError("numbers do not end")


def _host() -> str:
    """The name of this machine in names of files."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return re.sub(r"[^\w.-]", "_", name) or "here"


def _is_abandoned(path: Path) -> bool:
    """Whether no process writes to a file; False for files of other machines, where this is unknown."""
    host, _, pid = path.stem.rpartition("-")[0].rpartition("-")
    if host != _host() or not pid.isdecimal():
        return False
    return path not in _open_files if int(pid) == os.getpid() else is_gone(int(pid))


def _read_runs(path: Path, read: Callable[[bytes], bool], *, repairs: bool) -> None:
    """Read a file of runs; with `repairs`, its damaged lines are removed from it."""
    *lines, last_line = path.read_bytes().split(b"\n") if path.exists() else [b""]
    valid_lines = [line for line in lines if read(line)]
    if len(valid_lines) == len(lines) and not last_line:
        return
    # The last line may be incomplete, where a study was killed or is writing it: that is no damage.
    if damaged := sum(map(bool, lines)) - len(valid_lines):
        lines_text = "1 line is" if damaged == 1 else f"{damaged} lines are"
        message = f"{path}: {lines_text} damaged or of an older sledlab; their runs are repeated"
        warnings.warn(Notice(message), stacklevel=2)
    valid_lines += [last_line] if read(last_line) else []
    if repairs:
        with atomic_write(path) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in valid_lines))


def format_line(record: Mapping[str, Any]) -> bytes:
    """A line of the file: plain data, preceded by a check that reveals damage."""
    payload = json.dumps(record, allow_nan=False).encode()[1:]
    return _HEAD + _checksum(payload) + _TAIL + payload + b"\n"


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_CHECKSUM_LENGTH // 2).hexdigest().encode()


def keys(plan: Plan, *, are_lasting: bool) -> Mapping[RunSpec, str]:
    """The key of each run: a hash of all it depends on, experiment, requests and program.

    Lasting keys contain hashes of files. Others are valid within this process only, and no file is read for
    them.
    """
    identify = content if are_lasting else identity
    run = plan.measure or measure
    common = (build_name(run.__module__), run.__name__) if are_lasting else ()
    keys_by_spec, requests_by_trace = {}, {}
    for spec, text in plan.texts.items():
        inputs, trace = experiment_inputs(text), plan.trace_of(spec)
        if id(trace) not in requests_by_trace:
            requests_by_trace[id(trace)] = _requests(trace, identify) if trace else ""
        requests_identity = (
            requests_by_trace[id(trace)]
            if trace
            else " ".join(identify(locate(file)) for file in inputs.files)
        )
        modules = map(module_contents, inputs.plugins)
        keys_by_spec[spec] = _digest(
            inputs.text, requests_identity, str(plan.counts_idle_periods), *common, *modules
        )
    return keys_by_spec


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _requests(trace: Trace, identify: Callable[[Path], str]) -> str:
    """A key of a trace given by the user: what it is made from, or its columns where it is in memory."""
    if isinstance(trace.opener, MergedTraces):
        parts = [_opener_identity(each, identify) for each in trace.opener.openers]
        return _digest(repr(trace.opener.offsets_blocks), *parts)
    return _opener_identity(trace.with_seed(0).opener, identify)


def _opener_identity(opener: Opener, identify: Callable[[Path], str]) -> str:
    origin = opener.opener if isinstance(opener, FittedRequests) else opener
    if isinstance(origin, GeneratedRequests):
        return repr(opener)
    if isinstance(origin, IdentifiedOpener):
        return origin.identity()
    if isinstance(origin, (File, ParquetFile)):
        without_path = replace(origin, path="")
        named_opener = (
            replace(opener, opener=without_path) if isinstance(opener, FittedRequests) else without_path
        )
        return repr(named_opener) + identify(locate(str(origin.path)))
    digest = hashlib.sha256()
    source = opener.open()
    while (chunk := source.next_chunk()) is not None:
        for column in chunk:
            digest.update(column)
    return digest.hexdigest()
