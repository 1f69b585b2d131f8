"""What is to be known of something that can be named: its meaning, and what it takes."""

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
        meaning: One line.
        unit: Unit, empty when there is none.
        kind: `number`, `count`, `switch`, `text`, or the list of words to choose from.
        range: Smallest and largest number, where limited.
        default: Value when nothing is said.
    """

    name: str
    meaning: str
    unit: str
    kind: str | tuple[str, ...]
    range: tuple[float, float] | None
    default: Any


@dataclass(frozen=True)
class Entry:
    """Something with a name.

    Attributes:
        name: Its name.
        meaning: What it is, in a line.
        parameters: What can be set.
        aliases: Other names for it.
        starvation_free: Of a scheduler, whether no request can wait forever; `None` of anything else.
    """

    name: str
    meaning: str
    parameters: tuple[ParameterSpec, ...] = ()
    aliases: tuple[str, ...] = ()
    starvation_free: bool | None = None


@dataclass(frozen=True)
class Operation:
    """A kind of operation that a node knows.

    Attributes:
        kind: Its name in work records.
        cycles: What each takes.
        network: Whether it counts as time of the network, as packing does.
    """

    kind: str
    cycles: float
    network: bool


@dataclass(frozen=True)
class NodeEntry(Entry):
    """A node that comes with sledlab.

    Attributes:
        operations: The kinds of operation that it knows.
    """

    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class NetworkEntry(Entry):
    """A network that comes with sledlab.

    Attributes:
        kind: The kind of model.
    """

    kind: str = ""


@dataclass(frozen=True)
class ExperimentEntry(Entry):
    """An experiment that comes with sledlab.

    Attributes:
        study: The study that runs it; the command for one that sweeps nothing.
    """

    study: str = ""


@dataclass(frozen=True)
class DeviceKind(Entry):
    """A kind of device.

    Attributes:
        awake: What it does in its states of power but the inactive one, in sentences.
        rest: The parameter whose word people call the inactive state by; `None` where it is called just that.
        asleep: What it does then, after each such word or after `inactive`: the rest of a sentence.
        combined: How the parts of its positioning come together, in words; empty where there are none.
        parts: The parts of its positioning: their names in a timing, by what people call them.
        spins: Whether something spins, which takes long to start.
    """

    awake: str = ""
    rest: str | None = None
    asleep: Mapping[str, str] = field(default_factory=dict)
    combined: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    spins: bool = False


OF_DEVICE_KINDS = ("awake", "rest", "asleep", "combined", "parts", "spins")
"""What the catalogue tells of kinds of device besides."""


def to_entry(item: Mapping[str, Any]) -> Entry:
    """An item of the catalogue as an entry."""
    said: dict[str, Any] = {
        "name": item["name"],
        "meaning": item["meaning"],
        "parameters": tuple(_spec(spec) for spec in item.get("parameters", ())),
        "aliases": tuple(item.get("aliases", ())),
        "starvation_free": item.get("starvation_free"),
    }
    if "operations" in item:
        return NodeEntry(**said, operations=tuple(Operation(**each) for each in item["operations"]))
    if "awake" in item:
        return DeviceKind(**said, **{fact: item[fact] for fact in OF_DEVICE_KINDS})
    return NetworkEntry(**said, kind=item["kind"]) if "kind" in item else Entry(**said)


def _spec(spec: Mapping[str, Any]) -> ParameterSpec:
    kind = spec["kind"]
    limits = spec["range"]
    return ParameterSpec(
        name=spec["name"],
        meaning=spec["meaning"],
        unit=spec["unit"],
        kind=tuple(kind["choice"]) if isinstance(kind, dict) else kind,
        range=(limits[0], limits[1]) if limits else None,
        default=spec["default"],
    )
