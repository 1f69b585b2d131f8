"""Entries of the catalog: name, meaning and parameters of each model, node, network and experiment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class ParameterSpec:
    """One declared parameter.

    Attributes:
        name: Key in configurations.
        meaning: Its meaning, in one line.
        unit: Unit of its value, empty for values without one.
        kind: `number`, `count`, `switch`, `text`, or the list of words to choose from.
        range: Smallest and largest number; `None` where neither is limited.
        default: Value unless another is set.
    """

    name: str
    meaning: str
    unit: str
    kind: str | tuple[str, ...]
    range: tuple[float, float] | None
    default: Any


@dataclass(frozen=True)
class Entry:
    """An entry of the catalog, such as a device or a scheduler.

    Attributes:
        name: Its name.
        meaning: Its meaning, in one line.
        parameters: The parameters that can be set.
        aliases: Other names of the same entry.
        starvation_free: Of a scheduler, whether no request can wait forever; `None` for other entries.
    """

    name: str
    meaning: str
    parameters: tuple[ParameterSpec, ...] = ()
    aliases: tuple[str, ...] = ()
    starvation_free: bool | None = None


@dataclass(frozen=True)
class Operation:
    """A kind of operation that a node has a cost for.

    Attributes:
        kind: Name of the kind in work records.
        cycles: Processor cycles that one operation takes.
        network: Whether its time counts as network instead of compute, as that of packing does.
    """

    kind: str
    cycles: float
    network: bool


@dataclass(frozen=True)
class NodeEntry(Entry):
    """A node that comes with sledlab.

    Attributes:
        operations: The kinds of operation that the node has a cost for.
    """

    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class NetworkEntry(Entry):
    """A network that comes with sledlab.

    Attributes:
        kind: The kind of network model.
    """

    kind: str = ""


@dataclass(frozen=True)
class ExperimentEntry(Entry):
    """An experiment that comes with sledlab.

    Attributes:
        study: The study that runs it, or the command for an experiment that sweeps nothing.
    """

    study: str = ""


@dataclass(frozen=True)
class DeviceKind(Entry):
    """A kind of device.

    Attributes:
        active_text: Sentences about the device in each of its power states except the inactive one.
        inactive_parameter: The parameter whose value names the inactive state, such as `idle_state` of a
            disk; `None` where that state is called `inactive`.
        inactive_texts: A description of the inactive state, by the name of that state.
        combined: How the parts of a positioning time combine, in words; empty where it has no parts.
        parts: Parts of a positioning time: the names of their columns in a timing, by their names in text.
    """

    active_text: str = ""
    inactive_parameter: str | None = None
    inactive_texts: Mapping[str, str] = field(default_factory=dict)
    combined: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


DEVICE_KIND_KEYS = ("active_text", "inactive_parameter", "inactive_texts", "combined", "parts")
"""Keys of a kind of device in the catalog that other entries do not have."""


def to_entry(item: Mapping[str, Any]) -> Entry:
    """An item of the catalog as an entry."""
    shared_fields: dict[str, Any] = {
        "name": item["name"],
        "meaning": item["meaning"],
        "parameters": tuple(_spec(spec) for spec in item.get("parameters", ())),
        "aliases": tuple(item.get("aliases", ())),
        "starvation_free": item.get("starvation_free"),
    }
    if "operations" in item:
        return NodeEntry(
            **shared_fields, operations=tuple(Operation(**operation) for operation in item["operations"])
        )
    if "active_text" in item:
        return DeviceKind(**shared_fields, **{key: item[key] for key in DEVICE_KIND_KEYS})
    return NetworkEntry(**shared_fields, kind=item["kind"]) if "kind" in item else Entry(**shared_fields)


def _spec(declaration: Mapping[str, Any]) -> ParameterSpec:
    kind = declaration["kind"]
    limits = declaration["range"]
    return ParameterSpec(
        name=declaration["name"],
        meaning=declaration["meaning"],
        unit=declaration["unit"],
        kind=tuple(kind["choice"]) if isinstance(kind, dict) else kind,
        range=(limits[0], limits[1]) if limits else None,
        default=declaration["default"],
    )
