"""`sledlab setup schema`: JSON Schema of files, for editors and other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from sledlab.job import LIST as JOBS
from sledlab.lazy import later, load_object
from sledlab.model.catalog import ModelChoice
from sledlab.runs.request_columns import REQUEST_COLUMNS
from sledlab.show import terminal
from sledlab.studies import LIST

if TYPE_CHECKING:
    from sledlab.model import schema as schemas
else:
    schemas = later("sledlab.model.schema")
find_job = later("sledlab.job:find")
columns = later("sledlab.study.columns:columns")

FILE_KINDS = ("experiment", "device", "node", "network", "job")
"""Kinds of files that sledlab reads."""

KINDS = (*FILE_KINDS, "tables")

TYPES: Mapping[Any, Any] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    str: {"type": "string"},
}
"""Schemas of plain types."""


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="experiment")
def schema(kind: str) -> None:
    """Print the JSON Schema (draft 2020-12) of a kind of file, of settings of jobs, or of result tables.

    KIND is experiment, device, node, network, job or tables; that of experiments holds for studies and
    clusters too, that of tables has the columns of all results with their units.
    Editors check and complete TOML with it. It is made from the declarations that sledlab reads files by.

    \b
    Examples:
      sledlab setup schema > experiment.schema.json
      sledlab setup schema device
    """
    terminal.say_file(json.dumps(file_schema(kind), indent=2, ensure_ascii=False) + "\n")


def file_schema(kind: str) -> dict[str, Any]:
    """The schema of a kind of file."""
    if kind == "experiment":
        return schemas.experiment_schema(studies_schema())
    if kind == "job":
        return schemas.document(
            "A job of sledlab with its settings", {"anyOf": [job_schema(each.name) for each in JOBS]}
        )
    if kind == "tables":
        return schemas.document("The tables of results of sledlab", {"properties": table_schemas()})
    make_schema = {
        "device": schemas.device_schema,
        "node": schemas.node_schema,
        "network": schemas.network_schema,
    }[kind]
    return schemas.document(f"A {kind} of sledlab", make_schema(is_file=True))


def table_schemas() -> dict[str, Any]:
    """The schemas of the table of requests and of the tables of each study, with units of all columns."""
    properties = {"requests": _rows_schema(REQUEST_COLUMNS)}
    for each in LIST:
        outcome = load_object(f"sledlab.studies.{each.folder}.tables:{each.names[1]}")
        tables = {
            name: _rows_schema({key: (column.unit, column.meaning) for key, column in columns(kind).items()})
            for name, kind in {**outcome.kinds, **outcome.cost_kinds}.items()
        }
        properties[each.name] = {"type": "object", "properties": tables}
    return properties


def _rows_schema(columns_by_name: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """The schema of the rows of a table: unit and meaning of each column."""
    cells = {
        name: {"description": meaning, **({"unit": unit} if unit else {})}
        for name, (unit, meaning) in columns_by_name.items()
    }
    return {"type": "array", "items": {"type": "object", "properties": cells}}


def job_schema(name: str) -> dict[str, Any]:
    """The schema of a job's settings and those of its data."""
    job_settings, data_settings = find_job(name).settings
    return schemas.table((*job_settings, *data_settings), {"job": {"const": name}}, ["job"])


def studies_schema() -> dict[str, Any]:
    """The schema of the table `[study]`: that of any one study."""
    return {"anyOf": [study_schema(each.folder) for each in LIST]}


def study_schema(folder: str) -> dict[str, Any]:
    """The schema of the table `[study]` of one study: its axes."""
    study = load_object(f"sledlab.studies.{folder}:STUDY")
    hints = get_type_hints(study.options, include_extras=True)
    properties: dict[str, Any] = {"kind": {"const": study.name, "description": study.meaning}}
    for name in study.axes:
        if name in hints:
            option_type, option = get_args(hints[name])[:2]
            properties[name] = {**type_schema(option_type), "description": option.meaning}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def type_schema(hint: Any) -> dict[str, Any]:
    """The schema of a type of an option.

    Examples:
        >>> type_schema(float | Sequence[float])
        {'anyOf': [{'type': 'number'}, {'type': 'array', 'items': {'type': 'number'}}]}
        >>> type_schema(Literal["a", "b"])
        {'enum': ['a', 'b']}
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        alternatives = [type_schema(each) for each in arguments]
        return {
            "anyOf": [form for index, form in enumerate(alternatives) if form not in alternatives[:index]]
        }
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": type_schema(arguments[0])} if arguments else {"type": "array"}
    if origin is Mapping or hint is Mapping:
        return {"type": "object"}
    # A chosen model and a path are text in files.
    return dict(TYPES.get(str if hint is ModelChoice else hint, TYPES[str]) if hint is not Any else {})
