"""Experiments and studies with a text as the value of any key that takes text, by the schemas of files."""

import sledlab as sl
from sledlab.cli.schema import file_schema
from sledlab.studies import LIST

SCHEMA = file_schema("experiment")
TABLES = SCHEMA["$defs"]
STUDIES = {each["properties"]["kind"]["const"]: each for each in SCHEMA["properties"]["study"]["anyOf"]}
RUN_STUDY = {each.name: getattr(sl, each.names[0]) for each in LIST}

REQUESTS = {"workload": {"kind": "uniform", "requests": 9}}
SINGLE_SYSTEM = {"device": {"preset": "mems-g2"}, **REQUESTS}
CLUSTER = {"device": {"preset": "mems-g2"}, "work": {"file": "sample:exchange"}}
STUDY_KEYS = {
    "compare": {"scheduler": ["fcfs"], "speedup": [1.0]},
    "side-by-side": {"device": ["mems-g2"]},
    "power": {"power": ["never"]},
    "hybrid": {"configuration": ["mcd-all"], "mems_mb": [8.0], "segment_kb": [64]},
    "tune": {"budget": 8.0},
    "fleet": {"place": "cloud:volumes=1,requests=9", "device": ["mems-g2"]},
    "smart": {"work": ["sample:exchange"], "device": ["mems-g2"], "node_count": [2]},
}
"""Keys of `[study]` for a short study of each kind. Default: none."""


def alternatives(schema):
    """The alternatives of a schema, with references resolved."""
    if "$ref" in schema:
        schema = TABLES[schema["$ref"].rpartition("/")[2]]
    if "anyOf" not in schema:
        return [schema]
    return [alternative for each in schema["anyOf"] for alternative in alternatives(each)]


def takes_text(schema):
    """Whether a value may be text, a list or table of text, or anything."""
    return any(
        takes_text(alternative["items"])
        if alternative.get("type") == "array" and "items" in alternative
        else alternative.get("type") not in ("number", "integer", "boolean")
        for alternative in alternatives(schema)
    )


def text_keys(table):
    """The keys of a table of experiments that take text, and the table itself if a text may replace it."""
    keys = (
        [table]
        if any(alternative.get("type") != "object" for alternative in alternatives(TABLES[table]))
        else []
    )
    for alternative in alternatives(TABLES[table]):
        keys += [
            f"{table}.{key}"
            for key, schema in alternative.get("properties", {}).items()
            if takes_text(schema)
        ]
    return list(dict.fromkeys(keys))


def text_axes(kind):
    """The axes of a study that take text."""
    axes = STUDIES[kind]["properties"].items()
    return [axis for axis, schema in axes if axis != "kind" and takes_text(schema)]


def make_experiment(key, text, base):
    """An experiment with a text as the value of a key, and with the tables that the key requires."""
    table, _, name = key.partition(".")
    tables = {each: dict(keys) for each, keys in base.items()}
    if table in ("hybrid", "front"):
        tables["hybrid"] = {"kind": "caching-disk"}
    if table == "trace":
        tables.pop("workload", None)
    if key == "device.kind":
        del tables["device"]["preset"]
    tables[table] = {**tables.get(table, {}), name: text} if name else text
    return tables


def make_study(kind, axis, text):
    """A study with a text on an axis, and with the tables that the axis requires."""
    tables = (
        {} if kind in ("fleet", "smart") else {each: dict(options) for each, options in SINGLE_SYSTEM.items()}
    )
    options = {"kind": kind, **STUDY_KEYS.get(kind, {})}
    if axis in ("trace", "workload"):
        del tables["workload"]
    if axis == "device" or kind == "side-by-side":
        tables.pop("device", None)
    if axis == "job":
        del options["work"]
    types = [alternative.get("type") for alternative in alternatives(STUDIES[kind]["properties"][axis])]
    value = {"power.kind": [text]} if axis == "vary" else [text] if "array" in types else text
    return {**tables, "study": {**options, axis: value}}


def study_file(kind):
    """A small study of a kind, as the tables of its file."""
    tables = {} if kind in ("fleet", "smart") else {each: dict(keys) for each, keys in SINGLE_SYSTEM.items()}
    if kind in ("side-by-side", "hybrid", "tune"):
        del tables["device"]
    return {**tables, "study": {"kind": kind, **STUDY_KEYS.get(kind, {})}}
