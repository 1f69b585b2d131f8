"""Names of files in experiments and studies, which are relative to the directory of the naming file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import ClusterExperiment, Experiment, resolve_file_name
from sledlab.errors import Error
from sledlab.model.model_choice import split_parts
from sledlab.model.settings import document, to_toml
from sledlab.results import parse_saved_toml
from sledlab.traces.remote import is_remote
from sledlab.traces.samples import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

FILES = {"trace.file": Experiment, "work.file": ClusterExperiment}
"""Keys of a complete experiment that name a file, and the class of experiments that has the key."""

ANY_NAME = ("",)
"""Endings for keys whose every value is a file name."""

SETTINGS = {
    **dict.fromkeys(FILES, ANY_NAME),
    **{f"{table}.preset": (".toml",) for table in ("device", "front", "node", "host", "network")},
}
"""Keys of an experiment whose values may name files, and endings of names that do."""

AXES = {
    **dict.fromkeys(("device", "network", "price"), (".toml",)),
    **dict.fromkeys(("trace", "work", "tables", "place"), ANY_NAME),
    "job": (".py",),
    "query": (".sql",),
}
"""Keys of the table `[study]` whose values may name files, and endings of names that do."""


DISPLAY_KEYS = ("name", "description")
"""Keys of models whose values are shown and never opened."""


def check_local(tables: Mapping[str, Any], overridden: Collection[str] = ()) -> None:
    """Refuse addresses, such as `https://...` or `file:///...`, that only an experiment or a study names.

    Only the user may make sledlab use the network: by naming the address in an option or an argument.

    Args:
        tables: The tables of the experiment or the study.
        overridden: Tables, and keys `table.key`, that options override.

    Raises:
        Error: A value is an address.

    Examples:
        >>> check_local({"study": {"place": "https://host/fleet"}}, overridden=["study.place"])
        >>> check_local({"trace": {"file": "traces/mail.csv"}})
    """
    for key, value in _text_values(tables):
        if is_remote(value) and not {key, key.partition(".")[0]} & set(overridden):
            raise Error(
                f"{key}: `{value}` is an address, and a file alone does not make sledlab use the network",
                remedy="if you trust it, name the address on the command line (in Python: as an argument)",
            )


def _text_values(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value that may be opened, each with its key, `table.key`."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in DISPLAY_KEYS:
                yield from _text_values(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for item in value:
            yield from _text_values(item, key)


def relative_name(name: str, directory: Path) -> str:
    """The name of a file relative to a directory, for a file in that directory to name it.

    Absolute names, and names of files that do not exist, stay as they are.

    Examples:
        >>> relative_name(".", Path("runs/first"))
        '../..'
    """
    if not name or os.path.isabs(name) or not Path(name).exists():
        return name
    relative = os.path.relpath(name, directory)
    try:
        is_same_file = (directory / relative).samefile(name)
    except OSError:
        is_same_file = not directory.exists()
    # `..` behind a symbolic link leads elsewhere than it reads.
    return relative if is_same_file else os.path.relpath(os.path.realpath(name), os.path.realpath(directory))


def relativize_experiment(directory: Path, toml: str) -> str:
    """A complete experiment without presets, with names of files relative to the directory it goes to."""
    for key, experiment_class in FILES.items():
        table = f"[{key.partition('.')[0]}]"
        name = experiment_class(toml).setting(key) if table in toml.splitlines() else None
        if name is not None and (relative := relative_name(name, directory)) != name:
            toml = experiment_class(toml).with_setting(key, to_toml(relative)).explicit_toml()
    return toml


def read_experiment(path: Path) -> str:
    """Read a complete experiment, with names of files relative to the working directory."""
    toml = path.read_text(encoding="utf-8")
    tables = parse_saved_toml(toml)
    for key, experiment_class in FILES.items():
        table, name = key.split(".")
        file = tables.get(table, {}).get(name)
        if file is not None and (resolved := resolve_file_name(file, str(path))) != file:
            toml = experiment_class(toml).with_setting(key, to_toml(resolved)).explicit_toml()
    return toml


def relativize_study(directory: Path, toml: str) -> str:
    """A study, or an experiment with presets, with names of files relative to the directory it goes to."""
    tables = tomllib.loads(toml)
    relative_tables = map_file_names(tables, lambda name: relative_name(name, directory))
    return toml if relative_tables == tables else document(relative_tables)


def resolve_study(tables: Mapping[str, Any], study_file: str | Path) -> dict[str, Any]:
    """The tables of a study file, with names of files relative to the working directory.

    A relative name is looked for relative to the directory of the file, then to the working directory.
    """
    return map_file_names(tables, lambda name: resolve_file_name(name, str(study_file)))


def map_file_names(tables: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The tables of an experiment or a study with `change` applied to names of files."""
    return {
        table: {key: _map_axis(value, AXES.get(key, ()), change) for key, value in values.items()}
        if table == "study" and isinstance(values, dict)
        else _map_table(table, values, change)
        for table, values in tables.items()
    }


def _map_table(table: str, values: Any, change: Callable[[str], str]) -> Any:
    if isinstance(values, list) and table == "group":
        return [map_file_names(group, change) if isinstance(group, dict) else group for group in values]
    if not isinstance(values, dict):
        return _map_setting(f"{table}.preset", values, change)
    return {key: _map_setting(f"{table}.{key}", value, change) for key, value in values.items()}


def _map_setting(key: str, value: Any, change: Callable[[str], str]) -> Any:
    """The value of a key of an experiment, changed if it names a file."""
    return _map_name(value, SETTINGS.get(key, ()), change)


def _map_name(value: Any, endings: tuple[str, ...], change: Callable[[str], str]) -> Any:
    """Names of files changed, parameters kept, as in `disk.toml+mine.toml:sleds=4`; other values stay."""
    if not isinstance(value, str) or value.startswith(PREFIX):
        return value
    if endings == ANY_NAME:
        return change(value)
    parts = [part.partition(":") for part in split_parts(value)]
    return "+".join(
        (change(name) if name.endswith(endings) else name) + colon + parameters
        for name, colon, parameters in parts
    )


def _map_axis(value: Any, endings: tuple[str, ...], change: Callable[[str], str]) -> Any:
    """The values of an axis with names of files changed; an axis `vary` has values, or settings, by key."""
    if isinstance(value, dict):
        return {key: _map_vary(key, item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_name(item, endings, change) for item in value]
    return _map_name(value, endings, change)


def _map_vary(key: str, value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            name: {key: _map_setting(key, item, change) for key, item in settings.items()}
            if isinstance(settings, dict)
            else settings
            for name, settings in value.items()
        }
    return [_map_setting(key, item, change) for item in value] if isinstance(value, list) else value
