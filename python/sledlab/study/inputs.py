"""Inputs of a run besides the text of its experiment: traces, work records, and modules of plug-ins."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.model.plugins import find_plugins
from sledlab.model.settings import document
from sledlab.study.plan import plain
from sledlab.traces.contents import content
from sledlab.traces.fitted_requests import FittedRequests
from sledlab.traces.openers import Parts, TextTrace
from sledlab.traces.read import File, ParquetFile, Table
from sledlab.traces.remote import is_remote
from sledlab.traces.volumes import MergedTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sledlab.traces.read import Opener, Trace

INPUTS = ("trace", "work")
"""Tables of an experiment whose `file` is read: a run depends on its contents, not on its path."""

PLUGGABLE = ("kind", "replacement")
"""Keys of tables of an experiment whose value may be a plug-in."""


LIMITS = ("limit", "operations")
"""Keys of `[replay]` that end a replay after a number of operations."""


@dataclass(frozen=True)
class ExperimentInputs:
    """What the text of a complete experiment says of its inputs.

    Attributes:
        text: The experiment without the names of its input files, as JSON.
        files: Names of input files.
        plugins: Plug-ins, `module:Class`.
        max_operations: Operations after which a replay ends; 0 without such a limit.
    """

    text: str
    files: tuple[str, ...]
    plugins: tuple[str, ...]
    max_operations: int


@cache
def experiment_inputs(text: str) -> ExperimentInputs:
    """Return the inputs of a complete experiment, given as text."""
    tables = plain(text)
    plugins = find_plugins(list(_plugin_values(tables)))
    files = tuple(tables[table].pop("file") for table in INPUTS if table in tables)
    limits = [tables.get("replay", {}).get(key, 0) for key in LIMITS]
    return ExperimentInputs(
        json.dumps(tables, sort_keys=True), files, plugins, min(filter(None, limits), default=0)
    )


def plugin_names(text: str) -> tuple[str, ...]:
    """Return the plug-ins, `module:Class`, that a complete experiment names in place of models."""
    return experiment_inputs(text).plugins


def _plugin_values(tables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of keys that may name a plug-in, in all tables and groups of nodes."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _plugin_values(value)
        elif isinstance(value, list):
            yield from (word for each in value if isinstance(each, dict) for word in _plugin_values(each))
        elif key in PLUGGABLE:
            yield value


def module(word: str) -> str:
    """Return the name of the module of a plug-in, `module:Class`."""
    return word.partition(":")[0]


def module_contents(word: str) -> str:
    """Return a hash of the module of a plug-in, `module:Class`, without import; empty if missing."""
    search_paths, spec = [*sys.path, os.getcwd()], None
    for part in module(word).split("."):
        spec = PathFinder.find_spec(part, search_paths)
        if spec is None:
            return ""
        search_paths = list(spec.submodule_search_locations or ())
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return ""
    return content(Path(spec.origin))


def origin(trace: Trace) -> Opener:
    """Return the opener of a trace before it was fitted to a device."""
    opener = trace.with_seed(0).opener
    return opener.opener if isinstance(opener, FittedRequests) else opener


def is_in_memory(trace: Trace | None) -> bool:
    """Return whether a trace holds its requests in memory."""
    return trace is not None and isinstance(origin(trace), Table)


def input_files(text: str, trace: Trace | None) -> tuple[str, ...]:
    """Return the files that a run reads, named as in the run."""
    if trace is None:
        return experiment_inputs(text).files
    return opener_files(trace.opener)


def opener_files(opener: Opener) -> tuple[str, ...]:
    """Return the files that an opener reads; data at an address are no file."""
    if isinstance(opener, MergedTraces):
        return tuple(path for each in opener.openers for path in opener_files(each))
    if isinstance(opener, FittedRequests):
        return opener_files(opener.opener)
    if isinstance(opener, Parts):
        return tuple(path for path in opener.paths if not is_remote(path))
    if isinstance(opener, (File, ParquetFile, TextTrace)) and not is_remote(opener.path):
        return (opener.path,)
    return ()


def rename_files(text: str, trace: Trace | None, change: Callable[[str], str]) -> tuple[str, Trace | None]:
    """Return a run whose files are renamed by `change`."""
    if trace is not None:
        return text, _rename_trace_files(trace, change)
    if all(change(name) == name for name in experiment_inputs(text).files):
        return text, trace
    tables = plain(text)
    for table in INPUTS:
        if table in tables:
            tables[table]["file"] = change(tables[table]["file"])
    return document(tables), trace


def _rename_trace_files(trace: Trace, change: Callable[[str], str]) -> Trace:
    return replace(trace, opener=_rename_paths(trace.opener, change))


def _rename_paths(opener: Opener, change: Callable[[str], str]) -> Opener:
    if isinstance(opener, MergedTraces):
        return replace(opener, openers=tuple(_rename_paths(each, change) for each in opener.openers))
    if isinstance(opener, FittedRequests):
        return replace(opener, opener=_rename_paths(opener.opener, change))
    names = {name: change(name) for name in opener_files(opener)}
    if isinstance(opener, Parts):
        return replace(opener, paths=tuple(names.get(path, path) for path in opener.paths))
    if isinstance(opener, (File, ParquetFile, TextTrace)):
        return replace(opener, path=names.get(opener.path, opener.path))
    return opener
