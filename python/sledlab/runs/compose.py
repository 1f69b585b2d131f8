"""Build an `Experiment` from Python keywords, command-line options or a TOML file."""

from __future__ import annotations

import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment
from sledlab.errors import Error
from sledlab.model.catalog import TABLES, E, ModelChoice, with_settings
from sledlab.model.error_location import add_location
from sledlab.model.experiment import is_experiment, read_toml_text
from sledlab.model.plugins import allowed_plugins, find_words
from sledlab.runs.file_names import check_local
from sledlab.runs.options import SimulateOptions, declared_options, several_values
from sledlab.runs.systems import CACHING_DISK, parse_system, with_experiment
from sledlab.traces.read import File, ParquetFile, Trace, as_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    Source = Trace | ModelChoice | str | Path | Any
    Device = ModelChoice | str | Path

MODELS = ("scheduler", "power", "merge", "cache", "system", "hybrid")
"""Options whose values may be chosen models with a key `kind` in their table of the experiment."""


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
    options: Mapping[str, Any] | None = None,
    *,
    base: Experiment | None = None,
    options_class: type = SimulateOptions,
) -> ComposedExperiment:
    """Return the experiment `base` with a source, a device and options that replace its own.

    Args:
        source: A trace, a workload, or data that can be made a trace; by default the source of `base`.
        device: A device, its name or file; by default the device of `base`.
        options: Options by name (see `sledlab.runs.options`); those without a key are ignored.
        base: An experiment, such as one read from a file; empty by default.
        options_class: The class that declares the options.

    Raises:
        Error: An option, or their combination, is wrong.
    """
    options = options or {}
    source, device = single_value("source", source), single_value("device", device)
    if base is not None:
        replaced_tables = () if source is None else ("trace", "workload")
        check_local(tomllib.loads(base.explicit_toml()), {*replaced_tables, *(options.get("settings") or {})})
    experiment, trace = base or Experiment(), None
    workload = source if isinstance(source, ModelChoice) else None
    if source is not None and workload is None:
        experiment, trace = _with_trace(experiment, source)
    experiment = with_options(experiment, device, options, options_class, workload)
    plugins = allowed_plugins(options, device, workload)
    return ComposedExperiment(experiment.with_plugins(plugins) if plugins else experiment, trace, plugins)


def with_options(
    experiment: E,
    device: Device | None,
    options: Mapping[str, Any],
    options_class: type,
    workload: ModelChoice | None = None,
) -> E:
    """Return an experiment, of one system or of a cluster, with a device and options.

    Args:
        experiment: The experiment.
        device: A device, a system in one word, or an experiment whose system replaces the device.
        options: Options by name, `settings` included; options that are no part of an experiment are ignored.
        options_class: The class that declares the options.
        workload: A workload, for an experiment of one system.
    """
    if isinstance(device, (str, Path)) and is_experiment(str(device)):
        experiment, device = with_experiment(experiment, str(device)), None
    # One call: it sets models before their parameters.
    settings = _to_settings(device, options, options_class)
    return with_settings(experiment, {**settings, "workload": workload})


def _to_settings(device: Device | None, options: Mapping[str, Any], options_class: type) -> dict[str, Any]:
    """Return a device and options as settings, as `with_settings` takes them.

    Args:
        device: A device, its name or file, or a system in one word.
        options: Options by name, `settings` included; options that are no part of an experiment are ignored.
        options_class: The class that declares the options.
    """
    keys_by_option = {
        name: option.key for name, option in declared_options(options_class).items() if option.key is not None
    }
    values_by_key = {
        name if name in TABLES else keys_by_option[name]: single_value(name, value)
        for name, value in options.items()
        if name in keys_by_option
    }
    models_by_table = {table: values_by_key.pop(table, None) for table in TABLES if table != "device"}
    settings = options.get("settings") or {}
    hybrid = models_by_table["hybrid"] or settings.get("hybrid.kind") or CACHING_DISK
    hybrid_name = hybrid.name if isinstance(hybrid, ModelChoice) else str(hybrid)
    device_settings = _device_settings(device, hybrid_name.partition(":")[0])
    # The order counts: a model comes before its parameters, so tables without one keep their places.
    return {
        **device_settings,
        **{
            table: model
            for table, model in models_by_table.items()
            if model is not None or table not in device_settings
        },
        **values_by_key,
        **settings,
    }


def _device_settings(device: Device | None, hybrid: str) -> dict[str, Any]:
    """A device, or a system in one word, as settings; its parameters are parsed as settings are."""
    if not isinstance(device, str):
        return {"device": device}
    return parse_system(device).settings(hybrid)


def single_value(name: str, value: Any) -> Any:
    """Return the only value of an option that may be a list.

    Raises:
        Error: There are several values, or none.
    """
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != 1:
        raise several_values(name, len(value))
    return value[0]


@contextmanager
def error_location(
    file: Any, device: Device | None, options: Mapping[str, Any], options_class: type = SimulateOptions
) -> Iterator[None]:
    """Add file and line to errors about values of a file, unless an option overrides the value.

    Args:
        file: The file of an experiment or study; any other value adds no location.
        device: As of `compose`.
        options: As of `compose`.
        options_class: The class that declares the options.
    """
    try:
        yield
    except Error:
        with _file_location(file, device, options, options_class):
            raise


def _file_location(
    file: Any, device: Device | None, options: Mapping[str, Any], options_class: type
) -> AbstractContextManager[None]:
    declarations = declared_options(options_class)
    option_values = {name: value for name, value in options.items() if value is not None}
    keys = {declarations[name].key or f"study.{name}" for name in option_values if name in declarations}
    keys |= {*(options.get("settings") or {}), *(f"{name}.kind" for name in MODELS if name in option_values)}
    models_by_table = {
        "device": device,
        **{name: option_values.get(name) for name in ("front", "node", "host", "network")},
    }
    single_models_by_table = {
        table: None if isinstance(model, (list, tuple)) else model for table, model in models_by_table.items()
    }
    for table, choice in (*single_models_by_table.items(), *option_values.items()):
        if isinstance(choice, ModelChoice):
            keys |= {f"{table}.{key}" for key in choice.parameters}
    file = file if isinstance(file, (str, Path)) else None
    return add_location(file, single_models_by_table, keys, set(find_words([device, option_values])))


def _with_trace(experiment: Experiment, source: Any) -> tuple[Experiment, Trace | None]:
    """The experiment with a trace named by its file; a trace in memory is returned separately."""
    trace = as_trace(source)
    if not isinstance(trace.opener, (File, ParquetFile)):
        return experiment, trace
    experiment = experiment.with_trace(trace.name, trace.format or None)
    for key, value in trace.opener.reading.settings().items():
        experiment = experiment.with_setting(key, value)
    return experiment, None


def read(path: str | Path) -> Experiment:
    """Read an experiment file, or an experiment by its name.

    Raises:
        Error: The file cannot be read, or is not an experiment.
    """
    text = read_toml_text(path)
    try:
        return Experiment(text, str(path))
    except Error as error:
        if Path(path).suffix.lower() != ".toml" and error.message.startswith("not valid TOML"):
            raise Error(
                f"`{path}` is not an experiment", remedy=f"to replay a trace, use --trace {path}"
            ) from error
        raise
