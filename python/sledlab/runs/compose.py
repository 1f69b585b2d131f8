"""Experiments composed from options, of Python or the command line, and from files: one way for all."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment
from sledlab.errors import Error
from sledlab.model.catalogue import Chosen, E, apply, require
from sledlab.model.experiment import text_of
from sledlab.model.lines import placed
from sledlab.model.plugins import allowed_plugins, words_in
from sledlab.model.settings import to_toml, word
from sledlab.runs.options import Simulated, declared
from sledlab.runs.places import check_local
from sledlab.traces.read import File, ParquetFile, Trace, as_trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    Source = Trace | Chosen | str | Path | Any
    Device = Chosen | str | Path

MODELS = ("scheduler", "power", "merge", "cache", "system", "hybrid")
"""Options whose values may be chosen models, each a table of the experiment."""


@dataclass(frozen=True)
class ComposedExperiment:
    """An experiment, with what cannot stand in its file: a trace in memory, and permission for plug-ins.

    Attributes:
        experiment: The experiment, of one system or of a cluster.
        trace: The trace that it replays, where that is in memory.
        plugins: Plug-ins that may run: those that the user's options name, or `*` for all.
    """

    experiment: Any
    trace: Trace | None = None
    plugins: tuple[str, ...] = ()


def compose(
    source: Source | None = None,
    device: Device | None = None,
    said: Mapping[str, Any] | None = None,
    *,
    base: Experiment | None = None,
) -> ComposedExperiment:
    """The experiment `base`, with a source, a device and options in the place of its own.

    Args:
        source: A trace, a workload, or data that can be made a trace; by default the source of `base`.
        device: A device, its name or file; by default the device of `base`.
        said: Options by keyword, as declared in `sledlab.runs.options`; those without a key are left out.
        base: An experiment, such as one read from a file; empty by default.

    Raises:
        Error: An option, or their combination, is wrong.
    """
    said = said or {}
    if base is not None:
        given = () if source is None else ("trace", "workload")
        check_local(tomllib.loads(base.said()), {*given, *(said.get("settings") or {})})
    experiment = base or Experiment()
    experiment = with_store(experiment, device, said)
    trace: Trace | None = None
    if isinstance(source, Chosen):
        experiment = apply(experiment, require("workload", source))
    elif source is not None:
        experiment, trace = _with_trace(experiment, source)
    plugins = allowed_plugins(said, device, source if isinstance(source, Chosen) else None)
    experiment = set_all(experiment, said, Simulated)
    return ComposedExperiment(experiment.with_plugins(plugins) if plugins else experiment, trace, plugins)


def with_store(experiment: E, device: Device | None, said: Mapping[str, Any]) -> E:
    """The experiment with a device, and with the models around it that options name."""
    if device is not None:
        experiment = apply(experiment, require("device", device))
    for kind in MODELS:
        if said.get(kind) is not None:
            experiment = apply(experiment, require(kind, said[kind]))
    if said.get("front") is not None:
        experiment = with_model(experiment, "front", require("device", said["front"]))
    return experiment


def in_its_file(
    file: Any, device: Device | None, said: Mapping[str, Any], kind: type = Simulated
) -> AbstractContextManager[None]:
    """Adds file and line to errors about values of a file, unless an option overrides the value.

    Args:
        file: The file of an experiment or study; any other value adds no place.
        device: As of `compose`.
        said: As of `compose`.
        kind: The class that declares the options.
    """
    options = declared(kind)
    given = {name: value for name, value in said.items() if value is not None}
    keys = {options[name].key or f"study.{name}" for name in given if name in options}
    keys |= {*(said.get("settings") or {}), *(f"{name}.kind" for name in MODELS if name in given)}
    tables = {"device": device, **{name: given.get(name) for name in ("front", "node", "host", "network")}}
    for table, chosen in (*tables.items(), *given.items()):
        if isinstance(chosen, Chosen):
            keys |= {f"{table}.{key}" for key in chosen.parameters}
    file = file if isinstance(file, (str, Path)) else None
    return placed(file, tables, keys, set(words_in([device, given])))


def set_all(experiment: E, said: Mapping[str, Any], kind: type) -> E:
    """The experiment with the options of a kind that stand for one key each set, then with `settings`."""
    options = declared(kind)
    for name, value in said.items():
        key = options[name].key if name in options else None
        if key is not None and value is not None and name not in (*MODELS, "front"):
            experiment = experiment.with_setting(key, word(value))
    for key, value in (said.get("settings") or {}).items():
        if value is not None:
            experiment = experiment.with_setting(key, word(value))
    return experiment


def with_model(experiment: E, table: str, chosen: Chosen) -> E:
    """The experiment with a preset in a table not named after its kind, such as a device in `front`."""
    experiment = experiment.with_setting(f"{table}.preset", to_toml(chosen.name))
    for key, value in chosen.parameters.items():
        experiment = experiment.with_setting(f"{table}.{key}", to_toml(value))
    return experiment


def _with_trace(experiment: Experiment, source: Any) -> tuple[Experiment, Trace | None]:
    """The experiment with a trace named by its file; a trace in memory is returned beside it instead."""
    trace = as_trace(source)
    if not isinstance(trace.opener, (File, ParquetFile)):
        return experiment, trace
    experiment = experiment.with_trace(trace.name, trace.format or None)
    if trace.opener.sort_window:
        experiment = experiment.with_setting("trace.sort_window", str(trace.opener.sort_window))
    return experiment, None


def read(path: str | Path) -> Experiment:
    """Reads an experiment file, or an experiment by its name.

    Raises:
        Error: The file cannot be read, or is not an experiment.
    """
    text = text_of(path)
    try:
        return Experiment(text, str(path))
    except Error as error:
        if Path(path).suffix.lower() != ".toml" and error.message.startswith("not valid TOML"):
            raise Error(
                f"`{path}` is no experiment", remedy=f"to replay a trace, say --trace {path}"
            ) from error
        raise
