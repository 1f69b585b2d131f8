"""Experiments out of what is said in Python, on the command line or in a file: one way for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment, is_plugin
from sledlab.errors import Error
from sledlab.model.catalogue import Chosen, E, apply, require
from sledlab.model.experiment import text_of
from sledlab.model.lines import placed
from sledlab.model.settings import to_toml, word
from sledlab.runs.options import Simulated, declared
from sledlab.traces.read import File, ParquetFile, Trace, as_trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    Source = Trace | Chosen | str | Path | Any
    Device = Chosen | str | Path

MODELS = ("scheduler", "power", "merge", "cache", "system", "hybrid")
"""Keywords whose values may be chosen models."""

FILES = ("records", "traces", "reuse", "cluster")
"""Keywords whose values are files or addresses: `sample:sort` or `node1:8786` there is not a class."""


@dataclass(frozen=True)
class ComposedExperiment:
    """An experiment, and what no file of it says.

    Attributes:
        experiment: It, of one system or of a cluster.
        trace: The trace that it replays, where that is in memory.
        plugins: Plug-ins that may run: those named in person, or `*` for all.
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
    """The experiment that a source, a device and what is said besides make; they win over `base`.

    Args:
        source: A trace, a workload, or what can be made a trace; that of `base` unless given.
        device: A device, its name or file; that of `base` unless given.
        said: Values by keyword, as declared in `sledlab.runs.options`; keywords without a key are left out.
        base: What is said already, such as an experiment file.

    Raises:
        Error: Something in it makes no sense.
    """
    said = said or {}
    experiment = base or Experiment()
    experiment = with_store(experiment, device, said)
    trace: Trace | None = None
    if isinstance(source, Chosen):
        experiment = apply(experiment, require("workload", source))
    elif source is not None:
        experiment, trace = _with_trace(experiment, source)
    plugins = named([device, source if isinstance(source, Chosen) else None], said)
    experiment = set_all(experiment, said, Simulated)
    return ComposedExperiment(experiment.with_plugins(plugins) if plugins else experiment, trace, plugins)


def with_store(experiment: E, device: Device | None, said: Mapping[str, Any]) -> E:
    """The experiment with a device, and with the models around it that are said."""
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
    """Gives errors about values of a file their line, where nothing that is said besides wins over it.

    Args:
        file: The file of an experiment or study; what is none has no lines.
        device: As of `compose`.
        said: As of `compose`.
        kind: The class of all that can be said.
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
    return placed(file, tables, keys, set(_texts([device, given])))


def allowed(said: Mapping[str, Any]) -> tuple[str, ...]:
    """Plug-ins that may run: those that somebody named in person, or `*` for all.

    Examples:
        >>> allowed({"scheduler": "mine:Lcfs", "speedup": 2}), allowed({"allow_plugins": True})
        (('mine:Lcfs',), ('*',))
    """
    if said.get("allow_plugins"):
        return ("*",)
    texts = _texts({name: value for name, value in said.items() if name not in FILES})
    return tuple(dict.fromkeys(filter(is_plugin, texts)))


def named(models: Any, said: Mapping[str, Any]) -> tuple[str, ...]:
    """The same of models too that are said by their place."""
    return allowed({**said, "": models})


def _texts(said: Any) -> Iterator[str]:
    """All texts and names of models in what was said."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Chosen):
        yield said.name
        yield from _texts(said.parameters)
    elif isinstance(said, (Mapping, list, tuple)):
        for each in said.values() if isinstance(said, Mapping) else said:
            yield from _texts(each)


def set_all(experiment: E, said: Mapping[str, Any], kind: type) -> E:
    """The experiment with what is said by those keywords of a kind that stand for one key; `settings` win."""
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
    """The experiment with a preset in a table that has another name, as the device in front has."""
    experiment = experiment.with_setting(f"{table}.preset", to_toml(chosen.name))
    for key, value in chosen.parameters.items():
        experiment = experiment.with_setting(f"{table}.{key}", to_toml(value))
    return experiment


def _with_trace(experiment: Experiment, source: Any) -> tuple[Experiment, Trace | None]:
    """The experiment with a trace: named by its file, or to be handed over where it is in memory."""
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
        Error: It cannot be read, or is not an experiment.
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
