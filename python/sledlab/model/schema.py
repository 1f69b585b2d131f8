"""JSON Schema of experiment, device, node and network files, made from the declarations of parameters.

The table of a model is one of several objects, one for each kind, so that an editor completes the parameters
of the kind in the file and finds slips before a run. Errors that depend on several values at once, such as a
device without blocks, only a run finds.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.model.catalog import entries, load_catalog
from sledlab.model.device import kinds
from sledlab.model.entries import NetworkEntry, to_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.model.entries import Entry, ParameterSpec

    Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}
FILE: Schema = {"type": "string", "pattern": r"\.[Tt][Oo][Mm][Ll]$", "description": "A file."}
PLUGIN = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(:.*)?"
"""A plug-in, `module:Class`, with its parameters."""

LIST_PARAMETERS = ("failed", "failed_at_s")
"""Parameters declared as text whose value may be a word, a number or a list of numbers."""

JSON_TYPES = {"number": "number", "count": "integer", "switch": "boolean", "text": "string"}
"""Types of JSON, by the kinds of parameters."""

CYCLES: Schema = {
    "type": "object",
    "description": "Cycles of each kind of operation.",
    "additionalProperties": {"type": "number", "minimum": 0},
}
NAME_PROPERTIES: dict[str, Schema] = {
    "name": {**TEXT, "description": "Name in tables and reports."},
    "description": {**TEXT, "description": "One-line description."},
}


def parameter_schema(spec: ParameterSpec) -> Schema:
    """The schema of one parameter.

    Examples:
        >>> from sledlab.model.entries import ParameterSpec
        >>> parameter_schema(ParameterSpec("sleds", "Sleds.", "", "count", (1, 9), 1))
        {'type': 'integer', 'minimum': 1, 'maximum': 9, 'description': 'Sleds.', 'default': 1}
    """
    result: Schema = {}
    if isinstance(spec.kind, tuple):
        result["enum"] = list(spec.kind)
    elif spec.name in LIST_PARAMETERS and spec.kind == "text":
        result["type"] = ["string", "number", "array"]
        result["items"] = {"type": "number"}
    else:
        result["type"] = JSON_TYPES[spec.kind]
        if spec.kind == "count":
            result["minimum"] = 0
    if spec.range is not None:
        low, high = (int(each) if each == int(each) else each for each in spec.range)
        result |= {"minimum": low, "maximum": high}
    unit = f" In {spec.unit}." if spec.unit else ""
    return {**result, "description": f"{spec.meaning}{unit}", "default": spec.default}


def table(
    specs: Iterable[ParameterSpec], more: Mapping[str, Schema] | None = None, required: Sequence[str] = ()
) -> Schema:
    """The schema of a table of parameters, and of `more` keys that are no parameters."""
    properties = {**(more or {}), **{spec.name: parameter_schema(spec) for spec in specs}}
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


def word(names: Iterable[str], *, plugins: bool = False) -> Schema:
    """The schema of a name, alone or with parameters behind it in one word: `zsptf:grid=40x4`."""
    known = list(names)
    pattern = rf"^({'|'.join(map(re.escape, known))})(:[^=]+=.*)?$"
    forms = [{"enum": known}, {**TEXT, "pattern": pattern}]
    return {"anyOf": [*forms, {**TEXT, "pattern": f"^{PLUGIN}$"}] if plugins else forms}


def kinds_schema(
    section: str, *, none: bool = False, plugins: bool = False, required: bool = False
) -> Schema:
    """The schema of a table with `kind = ...` and the parameters of that kind, or of the kind's name alone.

    Args:
        section: The section of the catalog that lists the kinds.
        none: Whether there is a kind `none`, without parameters.
        plugins: Whether the kind may be a plug-in, with any parameters.
        required: Whether the table must have the key `kind`.
    """
    result = entries(section)
    tables = [_kind_schema(entry, required=required) for entry in result]
    if none:
        tables.append(table((), {"kind": {"const": "none"}}))
    if plugins:
        own = {**TEXT, "pattern": f"^{PLUGIN}$", "description": "A plug-in, module:Class."}
        tables.append({"type": "object", "properties": {"kind": own}, "required": ["kind"]})
    names = [name for entry in result for name in (entry.name, *entry.aliases)]
    return {"anyOf": [word([*names, "none"] if none else names, plugins=plugins), *tables]}


def _kind_schema(entry: Entry, *, required: bool) -> Schema:
    kind = {**word([entry.name, *entry.aliases]), "description": entry.meaning}
    return table(entry.parameters, {"kind": kind}, ["kind"] if required else ())


def section_schema(section: str, kinds_in: str | None = None) -> Schema:
    """The schema of a table whose kinds, if any, share its parameters; with kinds, also of a name alone."""
    item = to_entry(load_catalog()[section])
    if kinds_in is None:
        return table(item.parameters)
    names = [entry.name for entry in entries(kinds_in)]
    specs = [spec for spec in item.parameters if spec.name != "kind"]
    return {"anyOf": [word(names), table(specs, {"kind": word(names)})]}


@cache
def device_presets() -> Mapping[str, tuple[str, ...]]:
    """Names of devices by their kinds."""
    result: dict[str, list[str]] = {name: [] for name in kinds()}
    for entry in entries("devices"):
        result[tomllib.loads(_native.device_text(entry.name))["kind"]].append(entry.name)
    return {kind: tuple(names) for kind, names in result.items()}


def zones() -> Schema:
    """The schemas of a disk's lists, `zones` and `seek_table`, which are no parameters."""
    number = {"type": "integer", "minimum": 0}
    values: Schema = {"anyOf": [number, {"type": "array"}]}
    return {
        "zones": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "additionalProperties": values},
        },
        "seek_table": {
            "type": "array",
            "description": "Pairs of cylinders and ms, rising.",
            "items": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": "number", "minimum": 0},
            },
        },
    }


def device_schema(*, file: bool = False) -> Schema:
    """A device: a preset or a file with changes, or a kind with every parameter; `file` for a device file."""
    tables = []
    for name, kind in kinds().items():
        properties: dict[str, Schema] = {
            "kind": {"const": name, "description": kind.meaning},
            **NAME_PROPERTIES,
        }
        if not file:
            properties["preset"] = {"anyOf": [{"enum": list(device_presets()[name])}, FILE]}
        lists = zones() if name == "disk" else {}
        tables.append(table(kind.parameters, {**properties, **lists}, ["kind"] if file else ()))
    if file:
        return {"anyOf": tables}
    names = [entry.name for entry in entries("devices")]
    return {"anyOf": [{"enum": names}, FILE, *tables]}


def node_schema(*, file: bool = False) -> Schema:
    """A node: a preset or a file with changes; `file` for a node file."""
    result = entries("nodes")
    communication: Schema = {
        "type": "array",
        "items": TEXT,
        "description": "Kinds of operation that count as network instead of compute.",
    }
    more: dict[str, Schema] = {**NAME_PROPERTIES, "cycles": CYCLES, "communication": communication}
    names: Schema = {"anyOf": [{"enum": [entry.name for entry in result]}, FILE]}
    if file:
        return table(result[0].parameters, more)
    return {"anyOf": [names, table(result[0].parameters, {"preset": names, **more})]}


def network_schema(*, file: bool = False) -> Schema:
    """A network: a preset or a file with changes, or a kind; `file` for a network file."""
    presets = [entry for entry in entries("networks") if isinstance(entry, NetworkEntry)]
    tables = []
    for kind in entries("network_kinds"):
        properties: dict[str, Schema] = {
            "kind": {"const": kind.name, "description": kind.meaning},
            **NAME_PROPERTIES,
        }
        if not file:
            names = [entry.name for entry in presets if entry.kind == kind.name]
            properties["preset"] = {"anyOf": [{"enum": names}, FILE]}
        tables.append(table(kind.parameters, properties, ["kind"] if file else ()))
    if file:
        return {"anyOf": tables}
    return {"anyOf": [{"enum": [entry.name for entry in presets]}, FILE, *tables]}


def store_schemas() -> dict[str, Schema]:
    """The tables of the store: devices, hybrid, system, cache, scheduler, power policy and merging."""
    return {
        "device": device_schema(),
        "front": device_schema(),
        "hybrid": kinds_schema("hybrids", none=True),
        "system": section_schema("system", "systems"),
        "cache": section_schema("cache", "caches"),
        "scheduler": kinds_schema("schedulers", plugins=True),
        "power": kinds_schema("power_policies", plugins=True),
        "merge": section_schema("merge", "merges"),
    }


def cluster_schemas() -> dict[str, Schema]:
    """The tables that only the replay of a work record has."""
    members: Schema = {
        "anyOf": [TEXT, {"type": "array", "items": {"type": "integer", "minimum": 0}}],
        "description": "Numbers of nodes, or a group of the record.",
    }
    # A group says what its nodes have instead of what all have.
    full = {name: {"$ref": f"#/$defs/{name}"} for name in (*store_schemas(), "node")}
    group = {
        "type": "object",
        "properties": {"nodes": members, **full},
        "required": ["nodes"],
        "additionalProperties": False,
    }
    return {
        "work": table((), {"file": {**TEXT, "description": "The work record; a file, or sample:NAME."}}),
        "node": node_schema(),
        "host": {"$ref": "#/$defs/node"},
        "network": network_schema(),
        "cluster": section_schema("cluster"),
        "group": {"type": "array", "items": group},
    }


def request_schemas() -> dict[str, Schema]:
    """The tables of requests and of their replay."""
    return {
        "trace": section_schema("trace"),
        "workload": kinds_schema("workloads", required=True),
        "replay": section_schema("replay"),
    }


def experiment_schema(study: Schema) -> Schema:
    """The file of an experiment or a study, with the schema of its table `[study]`."""
    tables = {**request_schemas(), **store_schemas(), **cluster_schemas()}
    seed: Schema = {
        "type": "integer",
        "minimum": 0,
        "default": 1,
        "description": "Seed of all random numbers.",
    }
    return document(
        "An experiment of sledlab",
        {
            "type": "object",
            "properties": {
                "seed": seed,
                **{name: {"$ref": f"#/$defs/{name}"} for name in tables},
                "study": study,
            },
            "additionalProperties": False,
            "$defs": tables,
        },
    )


def document(title: str, schema: Schema) -> Schema:
    """A complete schema document, with its dialect and title."""
    return {"$schema": DIALECT, "title": title, **schema}
