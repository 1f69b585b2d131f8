"""Systems that a study compares: devices, systems in one word, and experiments, in a shared experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.model.catalog import ModelChoice, with_settings
from sledlab.model.experiment import is_experiment
from sledlab.model.settings import document
from sledlab.runs.systems import CACHING_DISK, as_table, parse_system, with_experiment
from sledlab.study.plan import explicit_tables, with_model

if TYPE_CHECKING:
    from sledlab.runs.compose import Device


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
        return with_experiment(base, name)
    choice = parse_system(system)
    tables = explicit_tables(base)
    hybrid = str(
        as_table(tables.get("hybrid", {})).get("kind", "none" if choice.front is None else CACHING_DISK)
    )
    if hybrid == "none":
        tables = {key: value for key, value in tables.items() if key not in ("front", "hybrid")}
        base = type(base)(document(tables)).with_plugins(base.allowed_plugins())
    experiment = with_model(base, choice.device)
    return with_settings(
        with_settings(experiment, choice.part_settings(hybrid)),
        {
            f"{table}.{key}": value
            for table in ("front", "hybrid", "cache")
            for key, value in as_table(tables.get(table, {})).items()
            if key not in ("preset", "kind")
        },
    )
