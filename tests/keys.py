"""Files with a word as the value of any key that takes text: the keys come from the schemas of files."""

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


def forms(schema):
    """The alternatives of a schema, with references resolved."""
    if "$ref" in schema:
        schema = TABLES[schema["$ref"].rpartition("/")[2]]
    if "anyOf" not in schema:
        return [schema]
    return [form for each in schema["anyOf"] for form in forms(each)]


def takes_text(schema):
    """Whether a value may be text, a list or table of text, or anything."""
    return any(
        takes_text(form["items"])
        if form.get("type") == "array" and "items" in form
        else form.get("type") not in ("number", "integer", "boolean")
        for form in forms(schema)
    )


def text_keys(table):
    """The keys of a table of experiments that take text, and the table where a word may replace it."""
    result = [table] if any(form.get("type") != "object" for form in forms(TABLES[table])) else []
    for form in forms(TABLES[table]):
        result += [
            f"{table}.{key}" for key, schema in form.get("properties", {}).items() if takes_text(schema)
        ]
    return list(dict.fromkeys(result))


def text_axes(kind):
    """The axes of a study that take text."""
    axes = STUDIES[kind]["properties"].items()
    return [axis for axis, schema in axes if axis != "kind" and takes_text(schema)]


def make_experiment(key, word, base):
    """An experiment with a word as the value of a key, and with what makes the key count."""
    table, _, name = key.partition(".")
    tables = {each: dict(keys) for each, keys in base.items()}
    if table in ("hybrid", "front"):
        tables["hybrid"] = {"kind": "caching-disk"}
    if table == "trace":
        tables.pop("workload", None)
    if key == "device.kind":
        del tables["device"]["preset"]
    tables[table] = {**tables.get(table, {}), name: word} if name else word
    return tables


def make_study(kind, axis, word):
    """A file of a study with a word on an axis, and with what makes the axis count."""
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
    types = [form.get("type") for form in forms(STUDIES[kind]["properties"][axis])]
    value = {"power.kind": [word]} if axis == "vary" else [word] if "array" in types else word
    return {**tables, "study": {**options, axis: value}}


def study_file(kind):
    """A small study of a kind, as the tables of its file."""
    tables = {} if kind in ("fleet", "smart") else {each: dict(keys) for each, keys in SINGLE_SYSTEM.items()}
    if kind in ("side-by-side", "hybrid", "tune"):
        del tables["device"]
    return {**tables, "study": {"kind": kind, **STUDY_KEYS.get(kind, {})}}
