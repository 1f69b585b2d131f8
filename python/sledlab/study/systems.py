"""Systems that a study compares: devices, systems in one word, and experiments, in a shared experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment
from sledlab.model.catalog import ModelChoice, with_settings
from sledlab.model.experiment import is_experiment, read_toml_text
from sledlab.model.settings import document
from sledlab.runs.systems import CACHING_DISK, parse_system
from sledlab.study.plan import explicit_tables, with_model
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.runs.compose import Device

REQUEST_TABLES = ("trace", "workload", "replay")
"""Tables of an experiment that select its requests, which all systems share."""


def with_system(base: Any, system: Device) -> Any:
    """Return the shared experiment with a system in the place of its device.

    Settings of the shared experiment take precedence. Those of hybrids apply to hybrids only.

    Args:
        base: The experiment that all systems share.
        system: A device, a system in one word, or an experiment by file or name, of which the requests are
            ignored.

    Raises:
        Error: The system does not exist, or a setting is invalid.
    """
    name = system.name if isinstance(system, ModelChoice) else str(system)
    if not (isinstance(system, ModelChoice) and system.parameters) and is_experiment(name):
        return _with_experiment(base, name)
    choice = parse_system(system)
    tables = explicit_tables(base)
    hybrid = str(_table(tables, "hybrid").get("kind", "none" if choice.front is None else CACHING_DISK))
    if hybrid == "none":
        tables = {key: value for key, value in tables.items() if key not in ("front", "hybrid")}
        base = type(base)(document(tables)).with_plugins(base.allowed_plugins())
    experiment = with_model(base, choice.device)
    return with_settings(
        with_settings(experiment, choice.part_settings(hybrid)),
        {
            f"{table}.{key}": value
            for table in ("front", "hybrid", "cache")
            for key, value in _table(tables, table).items()
            if key not in ("preset", "kind")
        },
    )


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of an experiment; a text in its place names the kind."""
    table = tables.get(name, {})
    return table if isinstance(table, dict) else {"kind": table}


def _with_experiment(base: Experiment, name: str) -> Experiment:
    """The system of an experiment with the requests of another, whose settings take precedence."""
    base_tables = explicit_tables(base)
    tables = {
        "seed": int(base_tables.pop("seed", 1)),
        **{table: base_tables.pop(table) for table in REQUEST_TABLES if table in base_tables},
        **{
            table: values
            for table, values in explicit_tables(_read_system(name)).items()
            if table not in ("seed", *REQUEST_TABLES)
        },
    }
    experiment = Experiment(document(tables), name).with_plugins(base.allowed_plugins())
    for table, values in base_tables.items():
        if isinstance(values, dict):
            experiment = with_settings(experiment, {f"{table}.{key}": value for key, value in values.items()})
    return experiment


def _read_system(name: str) -> Experiment:
    """Read an experiment without the study in its file."""
    tables = parse_toml(read_toml_text(name), name)
    return Experiment(document({key: value for key, value in tables.items() if key != "study"}), name)
