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
    schema: Schema = {}
    if isinstance(spec.kind, tuple):
        schema["enum"] = list(spec.kind)
    elif spec.name in LIST_PARAMETERS and spec.kind == "text":
        schema["type"] = ["string", "number", "array"]
        schema["items"] = {"type": "number"}
    else:
        schema["type"] = JSON_TYPES[spec.kind]
        if spec.kind == "count":
            schema["minimum"] = 0
    if spec.range is not None:
        low, high = (int(bound) if bound == int(bound) else bound for bound in spec.range)
        schema |= {"minimum": low, "maximum": high}
    unit = f" In {spec.unit}." if spec.unit else ""
    return {**schema, "description": f"{spec.meaning}{unit}", "default": spec.default}


def table(
    specs: Iterable[ParameterSpec],
    extra: Mapping[str, Schema] | None = None,
    required_keys: Sequence[str] = (),
) -> Schema:
    """The schema of a table of parameters, and of `extra` keys that are no parameters."""
    properties = {**(extra or {}), **{spec.name: parameter_schema(spec) for spec in specs}}
    required_part = {"required": list(required_keys)} if required_keys else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **required_part}


def word_schema(names: Iterable[str], *, allows_plugins: bool = False) -> Schema:
    """The schema of a name, alone or with parameters behind it in one word: `zsptf:grid=40x4`."""
    known_names = list(names)
    pattern = rf"^({'|'.join(map(re.escape, known_names))})(:[^=]+=.*)?$"
    alternatives = [{"enum": known_names}, {**TEXT, "pattern": pattern}]
    return {"anyOf": [*alternatives, {**TEXT, "pattern": f"^{PLUGIN}$"}] if allows_plugins else alternatives}


def kinds_schema(
    section: str, *, has_none: bool = False, allows_plugins: bool = False, is_kind_required: bool = False
) -> Schema:
    """The schema of a table with `kind = ...` and the parameters of that kind, or of the kind's name alone.

    Args:
        section: The section of the catalog that lists the kinds.
        has_none: Whether there is a kind `none`, without parameters.
        allows_plugins: Whether the kind may be a plug-in, with any parameters.
        is_kind_required: Whether the table must have the key `kind`.
    """
    kind_entries = entries(section)
    tables = [_kind_schema(entry, is_kind_required=is_kind_required) for entry in kind_entries]
    if has_none:
        tables.append(table((), {"kind": {"const": "none"}}))
    if allows_plugins:
        plugin_property = {**TEXT, "pattern": f"^{PLUGIN}$", "description": "A plug-in, module:Class."}
        tables.append({"type": "object", "properties": {"kind": plugin_property}, "required": ["kind"]})
    names = [name for entry in kind_entries for name in (entry.name, *entry.aliases)]
    return {
        "anyOf": [
            word_schema([*names, "none"] if has_none else names, allows_plugins=allows_plugins),
            *tables,
        ]
    }


def _kind_schema(entry: Entry, *, is_kind_required: bool) -> Schema:
    kind = {**word_schema([entry.name, *entry.aliases]), "description": entry.meaning}
    return table(entry.parameters, {"kind": kind}, ["kind"] if is_kind_required else ())


def section_schema(section: str, kinds_in: str | None = None) -> Schema:
    """The schema of a table whose kinds, if any, share its parameters; with kinds, also of a name alone."""
    item = to_entry(load_catalog()[section])
    if kinds_in is None:
        return table(item.parameters)
    names = [entry.name for entry in entries(kinds_in)]
    specs = [spec for spec in item.parameters if spec.name != "kind"]
    return {"anyOf": [word_schema(names), table(specs, {"kind": word_schema(names)})]}


@cache
def device_presets() -> Mapping[str, tuple[str, ...]]:
    """Names of devices by their kinds."""
    names_by_kind: dict[str, list[str]] = {name: [] for name in kinds()}
    for entry in entries("devices"):
        names_by_kind[tomllib.loads(_native.device_text(entry.name))["kind"]].append(entry.name)
    return {kind: tuple(names) for kind, names in names_by_kind.items()}


def zone_schemas() -> Schema:
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


def host_schema() -> Schema:
    """The schema of a disk's host, which is no parameter: it changes parameters."""
    return {"enum": [*_native.host_names(), "none"], "description": "Host that the disk is attached to."}


def device_schema(*, is_file: bool = False) -> Schema:
    """A device: a preset or a file with changes, or a kind with all parameters; `is_file`: a device file."""
    tables = []
    for name, kind in kinds().items():
        properties: dict[str, Schema] = {
            "kind": {"const": name, "description": kind.meaning},
            **NAME_PROPERTIES,
        }
        if not is_file:
            properties["preset"] = {"anyOf": [{"enum": list(device_presets()[name])}, FILE]}
        disk_properties = {**zone_schemas(), "host": host_schema()} if name == "disk" else {}
        tables.append(table(kind.parameters, {**properties, **disk_properties}, ["kind"] if is_file else ()))
    if is_file:
        return {"anyOf": tables}
    names = [entry.name for entry in entries("devices")]
    return {"anyOf": [{"enum": names}, FILE, *tables]}


def node_schema(*, is_file: bool = False) -> Schema:
    """A node: a preset or a file with changes; `is_file` for a node file."""
    node_entries = entries("nodes")
    communication: Schema = {
        "type": "array",
        "items": TEXT,
        "description": "Kinds of operation that count as network instead of compute.",
    }
    extra_properties: dict[str, Schema] = {
        **NAME_PROPERTIES,
        "cycles": CYCLES,
        "communication": communication,
    }
    names: Schema = {"anyOf": [{"enum": [entry.name for entry in node_entries]}, FILE]}
    if is_file:
        return table(node_entries[0].parameters, extra_properties)
    return {"anyOf": [names, table(node_entries[0].parameters, {"preset": names, **extra_properties})]}


def network_schema(*, is_file: bool = False) -> Schema:
    """A network: a preset or a file with changes, or a kind; `is_file` for a network file."""
    presets = [entry for entry in entries("networks") if isinstance(entry, NetworkEntry)]
    tables = []
    for kind in entries("network_kinds"):
        properties: dict[str, Schema] = {
            "kind": {"const": kind.name, "description": kind.meaning},
            **NAME_PROPERTIES,
        }
        if not is_file:
            names = [entry.name for entry in presets if entry.kind == kind.name]
            properties["preset"] = {"anyOf": [{"enum": names}, FILE]}
        tables.append(table(kind.parameters, properties, ["kind"] if is_file else ()))
    if is_file:
        return {"anyOf": tables}
    return {"anyOf": [{"enum": [entry.name for entry in presets]}, FILE, *tables]}


def store_schemas() -> dict[str, Schema]:
    """The tables of the store: devices, hybrid, system, cache, scheduler, power policy and merging."""
    return {
        "device": device_schema(),
        "front": device_schema(),
        "hybrid": kinds_schema("hybrids", has_none=True),
        "system": section_schema("system", "systems"),
        "cache": section_schema("cache", "caches"),
        "scheduler": kinds_schema("schedulers", allows_plugins=True),
        "power": kinds_schema("power_policies", allows_plugins=True),
        "merge": section_schema("merge", "merges"),
    }


def cluster_schemas() -> dict[str, Schema]:
    """The tables that only the replay of a work record has."""
    members: Schema = {
        "anyOf": [TEXT, {"type": "array", "items": {"type": "integer", "minimum": 0}}],
        "description": "Numbers of nodes, or a group of the record.",
    }
    # A group lists what its nodes have instead of the models of all nodes.
    references = {name: {"$ref": f"#/$defs/{name}"} for name in (*store_schemas(), "node")}
    group = {
        "type": "object",
        "properties": {"nodes": members, **references},
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
        "workload": kinds_schema("workloads", is_kind_required=True),
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
