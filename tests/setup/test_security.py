"""SECURITY.md lists the keys that name files and plug-ins; both follow from schemas and declarations."""

import re

import pytest
import sledlab as sl
from sledlab._native import ClusterExperiment, Experiment
from sledlab.cli.schema import FILE_KINDS, file_schema
from sledlab.model.plugins import find_plugins
from sledlab.model.settings import document
from sledlab.runs.file_names import map_file_names

from tests.conftest import PROJECT

PAGE = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")

SUFFIXES = (".toml", ".csv", ".py", ".sql")
"""Endings of file names; some keys name files with one of them only."""


def listed_keys(title):
    """The keys in backquotes in the paragraph of SECURITY.md that begins with a title."""
    sentence = PAGE[PAGE.index(title) + len(title) :].partition("`.")[0]
    return set(re.findall(r"`([\w.]+)`", sentence + "`"))


def keys_of(schema, definitions):
    if "$ref" in schema:
        yield from keys_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for alternative in schema.get("anyOf", ()):
        yield from keys_of(alternative, definitions)
    yield from schema.get("properties", ())


def all_keys():
    """All keys of experiments and studies by table; a table itself may be a text, too."""
    schema = file_schema("experiment")
    tables = {name: schema["$defs"][name] for name in schema["$defs"] if name != "group"}
    tables["study"] = schema["properties"]["study"]
    for table, definition in tables.items():
        yield table, None
        for key in sorted(set(keys_of(definition, schema["$defs"]))):
            yield table, key


def names_plugin(table, key, text):
    tables = {table: text if key is None else {key: text}}
    for kind in (Experiment, ClusterExperiment):
        try:
            if kind(document(tables)).plugins():
                return True
        except (sl.Error, AttributeError):  # no such table, or an experiment without plug-ins
            pass
    return False


def names_file(table, key, text):
    file_names = []
    map_file_names(
        {table: text if key is None else {key: text}}, lambda name: file_names.append(name) or name
    )
    return file_names != []


def spell(table, key):
    return table if key is None else f"{table}.{key}"


def test_every_key_that_names_a_plugin_is_listed():
    assert find_plugins(["jobs/mine.py"])
    plugin_keys = {spell(*each) for each in all_keys() if names_plugin(*each, "module:Class")}
    models = {name for key in plugin_keys for name in key.split(".")} - {"kind", "preset"}
    axes = {key for table, key in all_keys() if table == "study"}
    # An axis of models takes what the table of the model takes; `vary` sets any key.
    plugin_keys |= {f"study.{axis}" for axis in axes & {*models, "job", "vary"}}
    assert listed_keys("Keys that name plug-ins or jobs:") == plugin_keys


def test_every_key_that_names_a_file_is_listed():
    file_keys = {
        spell(*each) for each in all_keys() if any(names_file(*each, f"name{suffix}") for suffix in SUFFIXES)
    }
    assert listed_keys("Keys that name files:") == file_keys


@pytest.mark.parametrize(
    "kind", [*FILE_KINDS, "study", "trace", "work record", "prices", "query", "results", "client"]
)
def test_every_kind_of_input_has_a_row(kind):
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| ")]
    assert any(kind in row for row in rows)
