"""Files that experiments and studies name: from the directory of the file that names them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab._native import ClusterExperiment, Experiment, seen
from sledlab.model.settings import document, to_toml
from sledlab.traces.samples import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILES = {"trace.file": Experiment, "work.file": ClusterExperiment}
"""Keys of a complete experiment that name a file, and what reads it."""

ANY = ("",)
"""Endings of the names of files where every name is one."""

SETTINGS = {
    **dict.fromkeys(FILES, ANY),
    **{f"{table}.preset": (".toml",) for table in ("device", "front", "node", "host", "network")},
}
"""Keys of an experiment whose values may name files, and endings of names that do."""

AXES = {
    **dict.fromkeys(("devices", "networks"), (".toml",)),
    **dict.fromkeys(("traces", "records", "tables", "prices", "place"), ANY),
    "job": (".py",),
    "query": (".sql",),
}
"""The same of what studies sweep."""


def beside(name: str, directory: Path) -> str:
    """The name of a file for a file in a directory that names it.

    Absolute names, and those of what is not there, stay as they are.

    Examples:
        >>> beside(".", Path("runs/first"))
        '../..'
    """
    if not name or os.path.isabs(name) or not Path(name).exists():
        return name
    found = os.path.relpath(name, directory)
    try:
        same = (directory / found).samefile(name)
    except OSError:
        same = not directory.exists()
    # `..` behind a symbolic link leads elsewhere than it reads.
    return found if same else os.path.relpath(os.path.realpath(name), os.path.realpath(directory))


def left_in(directory: Path, toml: str) -> str:
    """A complete experiment, every preset in it opened, for the directory that it is left in."""
    for key, kind in FILES.items():
        table = f"[{key.partition('.')[0]}]"
        name = kind(toml).setting(key) if table in toml.splitlines() else None
        if name is not None and (near := beside(name, directory)) != name:
            toml = kind(toml).with_setting(key, to_toml(near)).said()
    return toml


def study_left_in(directory: Path, toml: str) -> str:
    """A study, or an experiment with presets, for the directory that it is left in."""
    tables = tomllib.loads(toml)
    changed = named(tables, lambda name: beside(name, directory))
    return toml if changed == tables else document(changed)


def study_seen(tables: Mapping[str, Any], by: str | Path) -> dict[str, Any]:
    """The tables of a study file with the names of files as the working directory sees them.

    A relative name is looked for relative to the directory of the file, then to the working directory.
    """
    return named(tables, lambda name: seen(name, str(by)))


def named(tables: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The tables of an experiment or a study with the names of files changed."""
    return {
        table: {key: _of_axis(value, AXES.get(key, ()), change) for key, value in said.items()}
        if table == "study" and isinstance(said, dict)
        else _of_table(table, said, change)
        for table, said in tables.items()
    }


def _of_table(table: str, said: Any, change: Callable[[str], str]) -> Any:
    if isinstance(said, list) and table == "group":
        return [named(group, change) if isinstance(group, dict) else group for group in said]
    if not isinstance(said, dict):
        return _setting(f"{table}.preset", said, change)
    return {key: _setting(f"{table}.{key}", value, change) for key, value in said.items()}


def _setting(key: str, value: Any, change: Callable[[str], str]) -> Any:
    """The value of a key of an experiment."""
    return _name(value, SETTINGS.get(key, ()), change)


def _name(value: Any, endings: tuple[str, ...], change: Callable[[str], str]) -> Any:
    """A name; with parameters behind it where it has an ending, `mine.toml:sleds=4`. Samples stay."""
    if not isinstance(value, str) or value.startswith(PREFIX):
        return value
    name, colon, parameters = (value, "", "") if endings == ANY else value.partition(":")
    return change(name) + colon + parameters if name.endswith(endings) else value


def _of_axis(value: Any, endings: tuple[str, ...], change: Callable[[str], str]) -> Any:
    """What is said of an axis; one that varies a key has values, or settings, by key."""
    if isinstance(value, dict):
        return {key: _varied(key, each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [_name(each, endings, change) for each in value]
    return _name(value, endings, change)


def _varied(key: str, value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            name: {key: _setting(key, each, change) for key, each in settings.items()}
            if isinstance(settings, dict)
            else settings
            for name, settings in value.items()
        }
    return [_setting(key, each, change) for each in value] if isinstance(value, list) else value
